import { jsonWriter } from '../../../query/formats/json.ts'
import type { WkbCursor } from '../../../query/geometry/encoding/wkb-reader.ts'
import type { TileColumn } from './columns.ts'
import { booleanValue, doubleValue, floatValue, integerValue, textValue, type ValueTable } from './value-table.ts'

const writeNumber = jsonWriter('number')
const small = 15
const zero = 48

/** A value as PostgreSQL sends it, between `start` and `end` → its index in the table, or -1 when it cannot be read. */
export function rowValue(
  table: ValueTable,
  kind: TileColumn['kind'],
  bytes: Buffer,
  cursor: WkbCursor,
  start: number,
  end: number,
): number {
  switch (kind) {
    case 'text':
      return textValue(table, bytes, start, end)
    case 'integer':
      return integerCell(table, cursor, bytes.byteOffset + start, end - start)
    case 'number':
      return numberCell(table, cursor, bytes.byteOffset + start, end - start)
    case 'boolean':
      return booleanValue(table, bytes[start] === 1)
    default:
      return decimalCell(table, bytes, start, end)
  }
}

function integerCell(table: ValueTable, { view }: WkbCursor, at: number, size: number): number {
  if (size === 4) return integerValue(table, view.getInt32(at))
  if (size === 2) return integerValue(table, view.getInt16(at))
  if (size !== 8) return -1
  const value = view.getInt32(at) * 0x100000000 + view.getUint32(at + 4)
  return Number.isSafeInteger(value) ? integerValue(table, value) : asText(table, String(view.getBigInt64(at)))
}

function numberCell(table: ValueTable, { view }: WkbCursor, at: number, size: number): number {
  if (size === 8) return numberValue(table, view.getFloat64(at))
  if (size !== 4) return -1
  const value = view.getFloat32(at)
  return Number.isFinite(value) ? floatValue(table, value) : asText(table, String(value))
}

/** NaN and the infinities go as text, as they do in the JSON of a query: many readers of tiles know no such numbers. */
export function numberValue(table: ValueTable, value: number): number {
  return Number.isFinite(value) ? doubleValue(table, value) : asText(table, String(value))
}

function decimalCell(table: ValueTable, bytes: Buffer, start: number, end: number): number {
  const integer = shortInteger(bytes, start, end)
  if (!Number.isNaN(integer)) return integerValue(table, integer)
  return decimalValue(table, bytes.toString('latin1', start, end))
}

/** The text of a number → a number when a double holds it exactly, otherwise the text. */
export function decimalValue(table: ValueTable, text: string): number {
  if (text.trim() === '' || writeNumber(text) !== text) return asText(table, text)
  const number = Number(text)
  return Number.isSafeInteger(number) ? integerValue(table, number) : doubleValue(table, number)
}

/** The most usual decimals, read without making a string; NaN for any other. */
function shortInteger(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === 45
  const first = isNegative ? start + 1 : start
  if (end === first || end - first > small) return Number.NaN
  let value = 0
  for (let at = first; at < end; at++) {
    const digit = bytes[at] - zero
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return isNegative ? -value : value
}

let textBytes = Buffer.allocUnsafeSlow(1024)
const largestKept = 1 << 20

export function asText(table: ValueTable, text: string): number {
  if (text.length * 3 > textBytes.length || textBytes.length > largestKept) {
    textBytes = Buffer.allocUnsafeSlow(Math.max(1024, text.length * 3))
  }
  return textValue(table, textBytes, 0, textBytes.write(text))
}

/** The key of a row as the id of a feature, or -1. */
export function rowId(
  kind: TileColumn['kind'],
  bytes: Buffer,
  { view }: WkbCursor,
  start: number,
  end: number,
): number {
  const at = bytes.byteOffset + start
  if (kind === 'decimal')
    return idOf(end - start > small ? bytes.toString('latin1', start, end) : shortInteger(bytes, start, end))
  if (end - start === 4) return view.getInt32(at)
  if (end - start === 2) return view.getInt16(at)
  return end - start === 8 ? idOf(view.getInt32(at) * 0x100000000 + view.getUint32(at + 4)) : -1
}

/** Any value as the id of a feature, or -1. */
export function idOf(value: unknown): number {
  const isDigits = typeof value === 'bigint' || (typeof value === 'string' && /^\d{1,16}$/.test(value))
  const number = isDigits ? Number(value) : value
  return Number.isSafeInteger(number) ? (number as number) : -1
}
