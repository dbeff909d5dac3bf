import { isUtf8 } from 'node:buffer'
import {
  ensure,
  type RowWriter,
  writeBoolean,
  writeBytes,
  writeFloat8,
  writeInt4,
  writeInt8,
  writeNull,
  writeText,
} from './copy-binary.ts'
import type { Dbf, DbfField, DbfFindings } from './dbf.ts'
import { type DbfText, noteText, type TextFindings, withoutHalfCharacter } from './dbf-text.ts'
import type { FieldType } from './reader.ts'
import { daysIn } from './temporal.ts'

const space = 0x20
/** As a double. */
const eightSpaces = Buffer.from(' '.repeat(8)).readDoubleBE()
const dayMicros = 86_400_000_000
const julianDayOf2000 = 2_451_545

/** Notes what the value says about its column, and about the text of all columns. */
export function noteValue(
  dbf: Dbf,
  field: DbfField,
  recordAt: number,
  findings: DbfFindings,
  text: TextFindings,
): void {
  const { bytes } = dbf.window
  const start = recordAt + field.offset
  if (field.letter === 'N') {
    noteNumber(bytes, start, start + field.width, findings)
    return
  }
  if (field.isBinary) return
  const end = trimmedEnd(bytes, dbf.window.view, start, start + field.width)
  if (end === start) findings.isNull = true
  if (!isPlain(bytes, start, end)) noteText(text, bytes, start, end)
}

/** Whatever is not plainly a number is none: asterisks for instance, which stand for one that was too wide. */
function noteNumber(bytes: Buffer, start: number, end: number, findings: DbfFindings): void {
  let digits = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte >= 0x30 && byte <= 0x39) digits++
    else if (byte !== space || digits > 0) noteSign(byte, digits, findings)
  }
  if (digits === 0) findings.isNull = true
  else if (digits > 9 && !findings.isHuge && !findings.isDecimal) noteWideInteger(bytes, start, end, findings)
}

/** Points and exponents make decimals; a sign is right only before the digits. */
function noteSign(byte: number, digits: number, findings: DbfFindings): void {
  const isExponent = byte === 0x45 || byte === 0x65
  if (byte === 0x2e || isExponent) findings.isDecimal = true
  if (byte !== 0x2e && (digits > 0 || (byte !== 0x2d && byte !== 0x2b))) findings.isNull = true
}

function noteWideInteger(bytes: Buffer, start: number, end: number, findings: DbfFindings): void {
  const text = bytes.toString('latin1', start, end).trim()
  if (!/^[+-]?\d+$/.test(text)) return
  const value = BigInt(text.replace('+', ''))
  if (value !== BigInt.asIntN(32, value)) findings.isWide = true
  if (value !== BigInt.asIntN(64, value)) findings.isHuge = true
}

/** Where the value ends, without the blanks behind it. */
export function trimmedEnd(bytes: Buffer, view: DataView, start: number, end: number): number {
  let last = end
  while (last - 8 >= start && view.getFloat64(last - 8, true) === eightSpaces) last -= 8
  while (last > start && (bytes[last - 1] === space || bytes[last - 1] === 0)) last--
  return last
}

/** ASCII without NUL. Values are short: a loop is faster than a slice for each. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte > 127 || byte === 0) return false
  }
  return true
}

/** Writes the value as a field of its column's type. */
export function writeDbfValue(
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
  if (end === start) writeNull(writer)
  else if (isPlain(bytes, start, end)) writeCopy(writer, bytes, start, end)
  else {
    const value = bytes.subarray(start, end)
    const whole = text.isUtf8 ? withoutHalfCharacter(value) : value
    if (text.isUtf8 && isUtf8(whole) && !whole.includes(0)) writeBytes(writer, whole)
    else writeText(writer, text.decode(whole))
  }
}

function writeCopy(writer: RowWriter, bytes: Buffer, start: number, end: number): void {
  ensure(writer, 4 + end - start)
  writer.view.setInt32(writer.length, end - start)
  let to = writer.length + 4
  const target = writer.bytes
  for (let at = start; at < end; at++) target[to++] = bytes[at] as number
  writer.length = to
}

function writeNumber(
  writer: RowWriter,
  type: 'integer' | 'bigint' | 'number',
  bytes: Buffer,
  start: number,
  end: number,
): void {
  const value = Number(numberText(bytes, start, end) || Number.NaN)
  if (!Number.isFinite(value)) writeNull(writer)
  else if (type === 'number') writeFloat8(writer, value)
  else if (type === 'integer') writeInt4(writer, value)
  else writeInt8(writer, Number.isSafeInteger(value) ? value : BigInt(numberText(bytes, start, end).replace('+', '')))
}

function numberText(bytes: Buffer, start: number, end: number): string {
  let first = start
  while (first < end && bytes[first] === space) first++
  const text = bytes.toString('latin1', first, end).trimEnd()
  return text.includes('\0') ? text.trim().replaceAll('\0', '') : text
}

const dateBytes = Buffer.from('0000-00-00')

/** `20240229`; blanks and zeros are no date. */
export function daysOfDate(bytes: Buffer, start: number): number | undefined {
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
