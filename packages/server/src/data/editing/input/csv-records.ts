/**
 * A parser of CSV (RFC 4180) whose work for a hostile text is bounded: it stops at the first record that is too wide, and at a
 * field with too many quotes. csv-parse reads a record of eight million commas, or as many empty lines, to its end (2.7 s).
 */
import { ApiError } from '../../../kernel/errors.ts'

export type CsvRecord = {
  /** An empty field is null, a quoted empty field an empty text: as in our own CSV. */
  readonly fields: readonly (string | null)[]
  /** The number of the line on which it begins. */
  readonly line: number
}

const quote = '"'
const byteOrderMark = '\ufeff'
const lineFeed = 10
const carriageReturn = 13
const plain = /[^",\r\n]*/y
const lineEnd = /\r\n|\n|\r/y
const maxQuotes = 100_000
const maxEmptyLines = 10_000
const lineEnds = new RegExp(`[\\r\\n]{0,${maxEmptyLines}}`, 'y')

type Reader = { readonly text: string; at: number; line: number }

/** The records of the text, without empty lines; none has more fields than the first, and that at most `maxFields`. */
export function* csvRecords(text: string, maxFields: number): Generator<CsvRecord> {
  const reader: Reader = { text, at: text.startsWith(byteOrderMark) ? 1 : 0, line: 1 }
  let width: number | undefined
  for (skipEmptyLines(reader); reader.at < text.length; skipEmptyLines(reader)) {
    const { line } = reader
    const fields = readRecord(reader, width ?? maxFields)
    width ??= fields.length
    if (fields.length < width) throw unreadable(line, `has fewer fields than the header, which has ${width}`)
    yield { fields, line }
  }
}

function readRecord(reader: Reader, maxFields: number): (string | null)[] {
  const { text, line } = reader
  const fields: (string | null)[] = []
  for (;;) {
    if (fields.length === maxFields) throw unreadable(line, `has more fields than there can be, ${maxFields}`)
    fields.push(text[reader.at] === quote ? readQuoted(reader) : match(reader, plain) || null)
    const next = text[reader.at]
    if (next === ',') reader.at++
    else if (next === undefined || match(reader, lineEnd) !== '') break
    else throw unreadable(reader.line, 'has a quote inside of a field: put the field in quotes, and double those in it')
  }
  reader.line++
  return fields
}

/** Not by a regular expression: one that steps over doubled quotes overflows its stack on a long field. */
function readQuoted(reader: Reader): string {
  const { text, at: start, line } = reader
  let end = text.indexOf(quote, start + 1)
  let doubled = 0
  for (; end !== -1 && text[end + 1] === quote; end = text.indexOf(quote, end + 2)) {
    if (++doubled > maxQuotes) throw unreadable(line, `has a field with more than ${maxQuotes} quotes`)
  }
  if (end === -1) throw unreadable(line, 'has a field whose quotes are not closed')
  reader.at = end + 1
  reader.line += linesBetween(text, start, end)
  const field = text.slice(start + 1, end)
  return doubled === 0 ? field : field.replaceAll('""', quote)
}

function skipEmptyLines(reader: Reader): void {
  const { at: start, line } = reader
  const skipped = match(reader, lineEnds).length
  if (skipped === maxEmptyLines) throw unreadable(line, `is followed by ${maxEmptyLines} empty lines or more`)
  reader.line += linesBetween(reader.text, start, reader.at)
}

function linesBetween(text: string, start: number, end: number): number {
  let lines = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === lineFeed || (code === carriageReturn && text.charCodeAt(at + 1) !== lineFeed)) lines++
  }
  return lines
}

function match(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at
  const [text = ''] = pattern.exec(reader.text) ?? []
  reader.at += text.length
  return text
}

const unreadable = (line: number, why: string): ApiError =>
  new ApiError('invalid_request', `The body is not valid CSV: line ${line} ${why}.`)
