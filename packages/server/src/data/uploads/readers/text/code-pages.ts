import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** The code pages of DOS, which TextDecoder does not know. */
const dosPages = new Set(['437', '737', '775', '850', '852', '857', '860', '861', '863', '865'])

/** The language drivers of a .dbf header that stand for each code page. */
const languageDrivers: Readonly<Record<string, readonly number[]>> = {
  437: [1, 9, 11, 13, 15, 17, 21, 24, 25, 27],
  737: [106, 134],
  850: [2, 10, 14, 16, 18, 20, 22, 26, 29, 37, 55],
  852: [31, 34, 35, 64, 100, 135],
  857: [107, 136],
  860: [36],
  861: [103],
  863: [28, 108],
  865: [8, 23, 102],
  866: [38, 101],
  874: [80, 124],
  932: [19, 123],
  936: [77, 122],
  949: [78, 121],
  950: [79, 120],
  1250: [200],
  1251: [201],
  1252: [3, 87, 88, 89],
  1253: [203],
  1254: [202],
  1257: [204],
}

const labels: Readonly<Record<string, string>> = {
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  20866: 'koi8-r',
  51932: 'euc-jp',
  54936: 'gb18030',
  65001: 'utf-8',
}

export type DecodeText = (bytes: Uint8Array) => string

/** The name of the encoding that a .cpg file or a .dbf header declares; undefined when neither declares one we know. */
export function encodingOf(cpg: string | undefined, languageDriver: number): string | undefined {
  const named = cpg === undefined ? undefined : encodingNamed(cpg)
  if (named !== undefined) return named
  const page = Object.keys(languageDrivers).find((name) => languageDrivers[name]?.includes(languageDriver))
  return page === undefined ? undefined : encodingNamed(page)
}

/** `1252`, `ANSI 1252`, `CP1252`, `OEM 437`, `ISO 8859-1`, `88591` and `UTF-8` are all seen in .cpg files. */
export function encodingNamed(label: string): string | undefined {
  const name = label.trim().toLowerCase()
  const iso = /^(?:iso)?[ _-]?8859[ _-]?(\d{1,2})$/.exec(name)?.[1]
  if (iso) return known(`iso-8859-${iso}`)
  const page = /^(?:ansi|oem|cp|ibm|windows|dos)?[ _-]?(\d{3,5})$/.exec(name)?.[1]
  if (page === undefined) return known(name)
  if (dosPages.has(page)) return page
  return known(labels[page] ?? (/^125[0-8]$/.test(page) ? `windows-${page}` : page))
}

function known(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

/** What people call an encoding that `encodingNamed` gave. */
export const publicEncoding = (encoding: string): string => (dosPages.has(encoding) ? `cp${encoding}` : encoding)

/** Reads text of an encoding that `encodingNamed` gave. */
export function decoderOf(encoding: string): DecodeText {
  if (dosPages.has(encoding)) {
    // Loaded here, because the server names encodings and only readers of files decode them.
    const { decode }: typeof import('iconv-lite') = require('iconv-lite')
    return (bytes) => decode(bytes, publicEncoding(encoding))
  }
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  return (bytes) => decoder.decode(bytes)
}
