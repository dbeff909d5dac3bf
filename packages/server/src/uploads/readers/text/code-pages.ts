import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** The code pages of DOS, which TextDecoder does not know. */
const dosPages = new Set(['437', '737', '775', '850', '852', '857', '860', '861', '863', '865'])

/** The language driver of a .dbf header. */
const languageDrivers: Readonly<Record<number, string>> = {
  1: '437',
  2: '850',
  3: '1252',
  8: '865',
  9: '437',
  10: '850',
  11: '437',
  13: '437',
  14: '850',
  15: '437',
  16: '850',
  17: '437',
  18: '850',
  19: '932',
  20: '850',
  21: '437',
  22: '850',
  23: '865',
  24: '437',
  25: '437',
  26: '850',
  27: '437',
  28: '863',
  29: '850',
  31: '852',
  34: '852',
  35: '852',
  36: '860',
  37: '850',
  38: '866',
  55: '850',
  64: '852',
  77: '936',
  78: '949',
  79: '950',
  80: '874',
  87: '1252',
  88: '1252',
  89: '1252',
  100: '852',
  101: '866',
  102: '865',
  103: '861',
  106: '737',
  107: '857',
  108: '863',
  120: '950',
  121: '949',
  122: '936',
  123: '932',
  124: '874',
  134: '737',
  135: '852',
  136: '857',
  200: '1250',
  201: '1251',
  202: '1254',
  203: '1253',
  204: '1257',
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

/** The name of the encoding that a .cpg file or a .dbf header says; undefined when neither says one we know. */
export function encodingOf(cpg: string | undefined, languageDriver: number): string | undefined {
  const said = cpg === undefined ? undefined : encodingNamed(cpg)
  if (said !== undefined) return said
  const page = languageDrivers[languageDriver]
  return page === undefined ? undefined : encodingNamed(page)
}

/** `1252`, `ANSI 1252`, `CP1252`, `OEM 437`, `ISO 8859-1`, `88591` and `UTF-8` are all seen in .cpg files. */
export function encodingNamed(said: string): string | undefined {
  const name = said.trim().toLowerCase()
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
