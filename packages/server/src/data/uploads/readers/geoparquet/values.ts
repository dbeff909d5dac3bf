import {
  type RowWriter,
  writeInt4,
  writeInt8,
  writeJson,
  writeNull,
  writeText,
  writeValue,
} from '../engine/copy-binary.ts'
import { kindsOfNoted, writeNoted } from '../engine/noted-values.ts'
import { isJson, kind } from '../engine/type-inference.ts'
import type { FieldType } from '../reader.ts'
import { decimalText, isTooLong } from './decimals.ts'
import type { ParquetColumn } from './schema.ts'

const unixDaysTo2000 = 10_957
const unixMicrosTo2000 = 946_684_800_000_000n
const largestInt8 = 2n ** 63n - 1n

/** Whether the value cannot be of the column's type: an unsigned integer too large, a decimal too long, JSON that is none. */
export function isMisfit(value: unknown, { type, digits, noted }: ParquetColumn): boolean {
  if (noted) return kindsOfNoted(value, noted) !== kind.none
  if (digits) return isTooLong(decimalText(value, digits.scale), digits)
  if (type === 'bigint') return typeof value === 'bigint' && value > largestInt8
  return type === 'json' && typeof value === 'string' && !isJson(value)
}

/** Writes a value of the column as a field of this type. */
export function writeParquetValue(writer: RowWriter, column: ParquetColumn, type: FieldType, value: unknown): void {
  if (value === null || value === undefined) writeNull(writer)
  else if (column.noted) writeNoted(writer, type, value, column.noted)
  else if (column.digits) writeValue(writer, type, decimalText(value, column.digits.scale))
  else if (type === 'date') writeInt4(writer, Number(value) - unixDaysTo2000)
  else if (type === 'time') writeInt8(writer, Math.trunc(Number(value) * column.microsPerUnit))
  else if (type === 'timestamp' || type === 'timestamptz') writeInt8(writer, BigInt(value as bigint) - unixMicrosTo2000)
  else if (type === 'text' && value instanceof Uint8Array) writeText(writer, Buffer.from(value).toString('utf8'))
  else if (type === 'json' && typeof value === 'string' && column.type === 'json') writeJson(writer, value)
  else writeValue(writer, type, value)
}
