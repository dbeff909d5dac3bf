import { isUtf8 } from 'node:buffer'
import * as codes from '../../../../query/geometry/encoding/character-codes.ts'
import { maxDecimals, nearestDecimal, wholeLimit } from '../../../../query/geometry/encoding/plain-number.ts'
import {
  type RowWriter,
  writeBoolean,
  writeBytes,
  writeFloat8,
  writeInt4,
  writeInt8,
  writeNull,
  writePart,
  writeText,
} from '../engine/copy-binary.ts'
import type { Reading } from '../engine/reading.ts'
import { daysIn } from '../engine/temporal.ts'
import { kind } from '../engine/type-inference.ts'
import type { FieldType } from '../reader.ts'
import { type Dbf, type DbfField, dbfFieldType } from './dbf.ts'
import { type DbfText, noteText, type TextFindings, withoutHalfCharacter } from './dbf-text.ts'
import type { ShapefileRecords } from './records.ts'

// As constants of this module: V8 does not fold imported ones.
const { asciiEnd, minus, period, space, zero } = codes

/** More are not exact in a double. */
const maxDigits = 15
/** As a double. */
const eightSpaces = Buffer.from(' '.repeat(8)).readDoubleBE()
const dayMicros = 86_400_000_000
const julianDayOf2000 = 2_451_545

/** The row at hand, as values of a table. */
export type DbfRow = Pick<Reading, 'places' | 'kindsOf' | 'write'>

/** Stands for a number that is not there. */
const noNumber = Infinity

/** What was found in the row at hand, by column. */
type ParsedValues = {
  /** Of columns of whole numbers; NaN for what is not plainly one, and in all other columns. */
  readonly numbers: Float64Array
  /** Where text that is plain ASCII ends; 0 for other text, and in all other columns. */
  readonly ends: Int32Array
}

const isWhole = ({ letter, decimals }: DbfField): boolean => letter === 'N' && decimals === 0
const isText = (field: DbfField): boolean => !field.isBinary && dbfFieldType(field, kind.none) === 'text'

/** What is seen of the text of all columns is put into `seen`; text is read in its encoding. */
export function createDbfRow(records: ShapefileRecords, seen: TextFindings, text: DbfText): DbfRow {
  const { dbf } = records
  const fields = dbf?.fields ?? []
  const parsed: ParsedValues = {
    numbers: new Float64Array(fields.length).fill(Number.NaN),
    ends: new Int32Array(fields.length),
  }
  return {
    // The other columns say of what type they are.
    places: [...fields.keys()].filter(
      (place) => isWhole(fields[place] as DbfField) || isText(fields[place] as DbfField),
    ),
    kindsOf(place) {
      const { rowAt } = records
      const field = fields[place] as DbfField
      if (!dbf || rowAt < 0) return kind.none
      if (field.letter === 'N') return lookAtNumber(dbf.window, field, rowAt, place, parsed)
      lookAtText(dbf.window, field, rowAt, place, parsed, seen)
      return kind.none
    },
    write(rows, place, type) {
      const { rowAt } = records
      const field = fields[place] as DbfField
      if (!dbf || rowAt < 0) writeNull(rows)
      else if (parsed.ends[place] !== 0)
        writeAscii(rows, dbf.window, rowAt + field.offset, parsed.ends[place] as number)
      else if (Number.isNaN(parsed.numbers[place])) writeDbfValue(rows, dbf, field, type, rowAt, text)
      else writeWhole(rows, type, parsed.numbers[place] as number)
    },
  }
}

function lookAtNumber(
  { bytes }: Dbf['window'],
  field: DbfField,
  rowAt: number,
  place: number,
  parsed: ParsedValues,
): number {
  const start = rowAt + field.offset
  const value = integerIn(bytes, start, start + field.width)
  parsed.numbers[place] = value
  return Number.isNaN(value) ? kindsOfOddNumber(bytes, start, start + field.width) : kindsOfInteger(value)
}

function lookAtText(
  { bytes, view }: Dbf['window'],
  field: DbfField,
  rowAt: number,
  place: number,
  { ends }: ParsedValues,
  seen: TextFindings,
): void {
  const start = rowAt + field.offset
  const end = trimmedEnd(bytes, view, start, start + field.width)
  const isAscii = isPlain(bytes, start, end)
  ends[place] = isAscii ? end : 0
  if (!isAscii) noteText(seen, bytes, start, end)
}

function writeWhole(rows: RowWriter, type: FieldType, value: number): void {
  if (value === noNumber) writeNull(rows)
  else if (type === 'integer') writeInt4(rows, value)
  else if (type === 'bigint') writeInt8(rows, value)
  else writeFloat8(rows, value)
}

const kindsOfInteger = (value: number): number => (value === (value | 0) || value === noNumber ? kind.none : kind.int8)

/** A whole number of few enough digits behind blanks; `noNumber` for blanks, NaN for all else. */
function integerIn(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] === space) at++
  if (at === end) return noNumber
  const isNegative = bytes[at] === minus
  if (isNegative) at++
  if (at === end || end - at > maxDigits) return Number.NaN
  let value = 0
  for (; at < end; at++) {
    const digit = (bytes[at] as number) - zero
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return isNegative ? -value : value
}

/** Points and exponents make decimals. Whatever is not plainly a number says nothing: asterisks, which stand for one too wide. */
function kindsOfOddNumber(bytes: Buffer, start: number, end: number): number {
  const text = bytes.toString('latin1', start, end).trim()
  if (/[.eE]/.test(text)) return kind.float
  if (!/^[+-]?\d+$/.test(text)) return kind.none
  const value = BigInt(text.replace('+', ''))
  if (value !== BigInt.asIntN(64, value)) return kind.huge
  return value === BigInt.asIntN(32, value) ? kind.none : kind.int8
}

/** Where the value ends, without the blanks behind it. */
function trimmedEnd(bytes: Buffer, view: DataView, start: number, end: number): number {
  let last = end
  while (last - 8 >= start && view.getFloat64(last - 8, true) === eightSpaces) last -= 8
  while (last > start && (bytes[last - 1] === space || bytes[last - 1] === 0)) last--
  return last
}

/** ASCII without NUL. Values are short: a loop is faster than a slice for each. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte >= asciiEnd || byte === 0) return false
  }
  return true
}

/** Writes the value as a field of its column's type. */
function writeDbfValue(
  writer: RowWriter,
  dbf: Dbf,
  field: DbfField,
  type: FieldType,
  recordAt: number,
  text: DbfText,
): void {
  const { bytes, view } = dbf.window
  const start = recordAt + field.offset
  const end = start + field.width
  if (field.isBinary) writeBinary(writer, dbf, field, start)
  else if (type === 'text') writeDbfText(writer, bytes, start, trimmedEnd(bytes, view, start, end), text)
  else if (type === 'date') writeDate(writer, bytes, start, field.width)
  else if (type === 'boolean') writeLogical(writer, bytes[start] ?? space)
  else if (type === 'integer' || type === 'bigint' || type === 'number') writeNumber(writer, type, bytes, start, end)
  else writeNull(writer)
}

function writeDbfText(writer: RowWriter, bytes: Buffer, start: number, end: number, text: DbfText): void {
  const value = bytes.subarray(start, end)
  const whole = text.isUtf8 ? withoutHalfCharacter(value) : value
  if (text.isUtf8 && isUtf8(whole) && !whole.includes(0)) writeBytes(writer, whole)
  else writeText(writer, text.decode(whole))
}

function writeAscii(writer: RowWriter, window: Dbf['window'], start: number, end: number): void {
  const { bytes } = window
  if (end === start) writeNull(writer)
  else if (end + 3 <= bytes.length) writePart(writer, window, start, end)
  else writeBytes(writer, bytes.subarray(start, end))
}

function writeNumber(
  writer: RowWriter,
  type: 'integer' | 'bigint' | 'number',
  bytes: Buffer,
  start: number,
  end: number,
): void {
  const plain = type === 'number' ? decimalIn(bytes, start, end) : Number.NaN
  const value = Number.isNaN(plain) ? Number(numberText(bytes, start, end) || Number.NaN) : plain
  if (!Number.isFinite(value)) writeNull(writer)
  else if (type === 'number') writeFloat8(writer, value)
  else if (type === 'integer') writeInt4(writer, value)
  else writeInt8(writer, Number.isSafeInteger(value) ? value : BigInt(numberText(bytes, start, end).replace('+', '')))
}

/** Digits behind blanks, with a point among or behind them, or without; NaN for all else. */
function decimalIn(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] === space) at++
  const isNegative = bytes[at] === minus
  const first = isNegative ? at + 1 : at
  let whole = 0
  at = first
  for (let digit = digitAt(bytes, at, end); digit >= 0; digit = digitAt(bytes, ++at, end)) whole = whole * 10 + digit
  if (at === first || at - first > maxDigits || whole >= wholeLimit) return Number.NaN
  const value = at === end ? whole : withFraction(bytes, at, end, whole)
  return isNegative ? -value : value
}

function withFraction(bytes: Buffer, start: number, end: number, whole: number): number {
  let at = start + 1
  let fraction = 0
  for (let digit = digitAt(bytes, at, end); digit >= 0; digit = digitAt(bytes, ++at, end))
    fraction = fraction * 10 + digit
  const scale = at - start - 1
  if (bytes[start] !== period || at < end || scale > maxDecimals) return Number.NaN
  return fraction === 0 ? whole : nearestDecimal(whole, fraction, scale)
}

function digitAt(bytes: Buffer, at: number, end: number): number {
  if (at >= end) return -1
  const digit = (bytes[at] as number) - zero
  return digit <= 9 ? digit : -1
}

function numberText(bytes: Buffer, start: number, end: number): string {
  let first = start
  while (first < end && bytes[first] === space) first++
  const text = bytes.toString('latin1', first, end).trimEnd()
  return text.includes('\0') ? text.trim().replaceAll('\0', '') : text
}

const dateBytes = Buffer.from('0000-00-00')

/** `20240229`; blanks and zeros are no date. */
function daysOfDate(bytes: Buffer, start: number): number | undefined {
  for (let at = 0; at < 4; at++) dateBytes[at] = bytes[start + at] as number
  for (let at = 4; at < 6; at++) dateBytes[at + 1] = bytes[start + at] as number
  for (let at = 6; at < 8; at++) dateBytes[at + 2] = bytes[start + at] as number
  return daysIn(dateBytes, 0, 10)
}

function writeDate(writer: RowWriter, bytes: Buffer, start: number, width: number): void {
  const days = width < 8 ? undefined : daysOfDate(bytes, start)
  if (days === undefined) writeNull(writer)
  else writeInt4(writer, days)
}

function writeLogical(writer: RowWriter, byte: number): void {
  const letter = String.fromCharCode(byte).toUpperCase()
  if (letter === 'T' || letter === 'Y' || letter === '1') writeBoolean(writer, true)
  else if (letter === 'F' || letter === 'N' || letter === '0') writeBoolean(writer, false)
  else writeNull(writer)
}

/** The columns of Visual FoxPro. */
function writeBinary(writer: RowWriter, { window: { view } }: Dbf, { letter }: DbfField, start: number): void {
  if (letter === 'I') writeInt4(writer, view.getInt32(start, true))
  else if (letter === 'Y') writeFloat8(writer, Number(view.getBigInt64(start, true)) / 10_000)
  else if (letter !== 'T') writeFloat8(writer, view.getFloat64(start, true))
  else if (view.getInt32(start, true) === 0) writeNull(writer)
  else {
    const days = view.getInt32(start, true) - julianDayOf2000
    writeInt8(writer, days * dayMicros + view.getInt32(start + 4, true) * 1000)
  }
}
