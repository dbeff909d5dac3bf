import { isUtf8 } from 'node:buffer'
import type { Warning } from '../reader.ts'
import { type DecodeText, decoderOf, encodingNamed, encodingOf, publicEncoding } from '../text/code-pages.ts'
import { detectEncoding } from '../text/detect-encoding.ts'
import { createWordSample, noteWords, sampledBytes, type WordSample } from '../text/word-sample.ts'
import type { DbfField } from './dbf.ts'

/** How the text of a table is read. */
export type DbfText = {
  readonly encoding: string
  readonly isUtf8: boolean
  readonly decode: DecodeText
  readonly warnings: readonly Warning[]
}

/** What was seen of the text of all columns. */
export type TextFindings = { isAllUtf8: boolean; readonly words: WordSample }

export const createTextFindings = (): TextFindings => ({ isAllUtf8: true, words: createWordSample() })

/** Takes text that is not plain ASCII into account. */
export function noteText(findings: TextFindings, bytes: Buffer, start: number, end: number): void {
  noteWords(findings.words, bytes, start, end)
  if (findings.isAllUtf8 && !isUtf8(withoutHalfCharacter(bytes.subarray(start, end)))) findings.isAllUtf8 = false
}

/** Values are cut at so many bytes, be it in the middle of a character. */
export function withoutHalfCharacter(text: Buffer): Buffer {
  let start = text.length - 1
  while (start > 0 && start > text.length - 4 && ((text[start] as number) & 0xc0) === 0x80) start--
  const lead = text[start] ?? 0
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return start + size > text.length ? text.subarray(0, start) : text
}

/** Where an encoding may be declared; the first that is known counts. */
export type DeclaredEncoding = {
  readonly option: string | undefined
  readonly cpg: string | undefined
  readonly languageDriver: number
}

/** As the client says, else as the files say, else as UTF-8 where all of it is that, else by the language of its words. */
export function dbfText(sources: DeclaredEncoding, fields: readonly DbfField[], values: TextFindings): DbfText {
  const findings = withNames(fields, values)
  const chosen = sources.option === undefined ? undefined : encodingNamed(sources.option)
  if (chosen !== undefined) return textIn(chosen, chosen === 'utf-8' && !findings.isAllUtf8 ? [unreadable] : [])
  const declared = encodingOf(sources.cpg, sources.languageDriver)
  const isRefuted = declared === 'utf-8' && !findings.isAllUtf8
  if (declared !== undefined && !isRefuted) return textIn(declared)
  if (findings.words.words.size === 0) return textIn('utf-8')
  const encoding = findings.isAllUtf8 ? 'utf-8' : detectEncoding(sampledBytes(findings.words))
  return textIn(encoding, [assumed(encoding, isRefuted, findings)])
}

/** Text that is known to be in this encoding. */
export function textIn(encoding: string, warnings: readonly Warning[] = []): DbfText {
  return { encoding, isUtf8: encoding === 'utf-8', decode: decoderOf(encoding), warnings }
}

/** The names of columns are text as well. */
function withNames(fields: readonly DbfField[], { isAllUtf8, words }: TextFindings): TextFindings {
  const findings = { isAllUtf8, words: { words: new Set(words.words), bytes: words.bytes } }
  for (const { rawName } of fields) noteText(findings, rawName, 0, rawName.length)
  return findings
}

function assumed(encoding: string, isRefuted: boolean, { words }: TextFindings): Warning {
  const [first = ''] = words.words
  const example = JSON.stringify(decoderOf(encoding)(Buffer.from(first, 'latin1')).slice(0, 40))
  const reason = isRefuted
    ? 'The Shapefile says that its text is UTF-8, which it is not'
    : 'The Shapefile does not say the encoding of its text'
  return {
    code: 'encoding_assumed',
    message: `${reason}; ${publicEncoding(encoding)} was assumed (${example}). If that is wrong, send it again with the field encoding.`,
  }
}

const unreadable: Warning = {
  code: 'encoding_mismatch',
  message:
    'Not all of the text is valid UTF-8. Bytes that could not be read became U+FFFD. Send the file again with the field encoding.',
}
