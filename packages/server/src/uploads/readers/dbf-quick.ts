import { ensure, type RowWriter, writeFloat8, writeInt4, writeInt8, writeNull } from './copy-binary.ts'
import { type Dbf, type DbfField, type DbfFindings, dbfFieldType } from './dbf.ts'
import type { DbfText, TextFindings } from './dbf-text.ts'
import { daysOfDate, noteValue, trimmedEnd, writeDbfValue } from './dbf-values.ts'
import { maxDecimals, nearestDecimal, wholeLimit } from './plain-number.ts'
import type { FieldType } from './reader.ts'

/** A column whose values are written and looked at in one go. */
export type TakenColumn = {
  readonly field: DbfField
  readonly type: FieldType
  readonly findings: DbfFindings
  /** What the findings say so far. */
  readonly foundType: FieldType
  readonly take: Take
}

/** Writes a value as nearly all are written, else nothing: then it says false. */
type Take = (writer: RowWriter, window: Dbf['window'], column: TakenColumn, start: number, end: number) => boolean

export function takenColumn(field: DbfField, type: FieldType, findings: DbfFindings): TakenColumn {
  return { field, type, findings, foundType: dbfFieldType(field, findings), take: takeFor(field, type) }
}

function takeFor({ letter, width, isBinary }: DbfField, type: FieldType): Take {
  if (isBinary) return takeNone
  if (type === 'text') return takeText
  if (letter === 'N' && (type === 'integer' || type === 'bigint')) return takeInteger
  if ('NF'.includes(letter) && type === 'number') return takeNumber
  return type === 'date' && width === 8 ? takeDate : takeNone
}

/** Writes the value, and notes what it says about its column; false where it is not plain, and nothing done. */
export function takeValue(writer: RowWriter, { window }: Dbf, column: TakenColumn, recordAt: number): boolean {
  const { offset, width } = column.field
  return column.take(writer, window, column, recordAt + offset, recordAt + offset + width)
}

/** Does the same with any other value. */
export function takeOddValue(
  writer: RowWriter,
  dbf: Dbf,
  { field, type, findings, foundType }: TakenColumn,
  recordAt: number,
  text: DbfText,
  found: TextFindings,
): void {
  noteValue(dbf, field, recordAt, findings, found)
  // Then the column is something else, and the row of no use.
  if (dbfFieldType(field, findings) !== foundType) writeNull(writer)
  else writeDbfValue(writer, dbf, field, type, recordAt, text)
}

const takeNone: Take = () => false

const notAscii = 0x80808080 | 0
const ones = 0x01010101

/** ASCII without NUL, four at a time. */
const takeText: Take = (writer, { bytes, view }, { findings }, start, end) => {
  const last = trimmedEnd(bytes, view, start, end)
  if (last === start) return takeNull(writer, findings)
  ensure(writer, 4 + last - start)
  const { bytes: target, view: targetView, length } = writer
  targetView.setInt32(length, last - start)
  let at = start
  let to = length + 4
  for (; at + 4 <= last; at += 4, to += 4) {
    const four = view.getInt32(at, true)
    // Of a NUL one less is not ASCII either.
    if (((four | (four - ones)) & notAscii) !== 0) return false
    targetView.setInt32(to, four, true)
  }
  for (; at < last; at++, to++) {
    const byte = bytes[at] as number
    if (byte > 127 || byte === 0) return false
    target[to] = byte
  }
  writer.length = to
  return true
}

function takeNull(writer: RowWriter, findings: DbfFindings): true {
  findings.isNull = true
  writeNull(writer)
  return true
}

const space = 0x20
const minus = 0x2d
const point = 0x2e
const maxDigits = 15

const takeInteger: Take = (writer, { bytes }, { type, findings }, start, end) => {
  let at = start
  while (at < end && bytes[at] === space) at++
  if (at === end) return takeNull(writer, findings)
  const isNegative = bytes[at] === minus
  if (isNegative) at++
  if (at === end || end - at > maxDigits) return false
  let value = 0
  for (; at < end; at++) {
    const digit = (bytes[at] as number) - 48
    if (digit < 0 || digit > 9) return false
    value = value * 10 + digit
  }
  if (isNegative) value = -value
  if (type === 'bigint') writeInt8(writer, value)
  else if (value >= -2147483648 && value <= 2147483647) writeInt4(writer, value)
  else return false
  return true
}

const takeNumber: Take = (writer, { bytes }, { findings }, start, end) => {
  let at = start
  while (at < end && bytes[at] === space) at++
  if (at === end) return takeNull(writer, findings)
  const isNegative = bytes[at] === minus
  const value = decimalIn(bytes, isNegative ? at + 1 : at, end)
  if (value < 0) return false
  writeFloat8(writer, isNegative ? -value : value)
  return true
}

/** Digits with a point among or behind them, or without; -1 for all else. */
function decimalIn(bytes: Buffer, start: number, end: number): number {
  let at = start
  let whole = 0
  for (let digit = digitAt(bytes, at, end); digit >= 0; digit = digitAt(bytes, ++at, end)) whole = whole * 10 + digit
  if (at === start || at - start > maxDigits || whole >= wholeLimit) return -1
  if (at === end) return whole
  if (bytes[at] !== point) return -1
  const fractionStart = ++at
  let fraction = 0
  for (let digit = digitAt(bytes, at, end); digit >= 0; digit = digitAt(bytes, ++at, end))
    fraction = fraction * 10 + digit
  const scale = at - fractionStart
  if (at < end || scale > maxDecimals) return -1
  return fraction === 0 ? whole : nearestDecimal(whole, fraction, scale)
}

function digitAt(bytes: Buffer, at: number, end: number): number {
  if (at >= end) return -1
  const digit = (bytes[at] as number) - 48
  return digit <= 9 ? digit : -1
}

const takeDate: Take = (writer, { bytes }, _column, start) => {
  const days = daysOfDate(bytes, start)
  if (days === undefined) return false
  writeInt4(writer, days)
  return true
}
