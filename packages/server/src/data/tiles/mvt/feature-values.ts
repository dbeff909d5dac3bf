import type { TileColumn } from './columns.ts'
import { asText, decimalValue, numberValue } from './row-values.ts'
import { booleanValue, integerValue, type ValueTable } from './value-table.ts'

/** A JavaScript value → its index in the table, or -1 when there is none. */
export function featureValue(table: ValueTable, kind: TileColumn['kind'], value: unknown): number {
  if (value === null || value === undefined) return -1
  if (kind === 'text') return asText(table, textOf(value))
  switch (typeof value) {
    case 'boolean':
      return booleanValue(table, value)
    case 'number':
      return kind !== 'number' && Number.isSafeInteger(value) ? integerValue(table, value) : numberValue(table, value)
    case 'bigint':
      return decimalValue(table, String(value))
    case 'string':
      return numericText(table, kind, value)
    default:
      return asText(table, textOf(value))
  }
}

function numericText(table: ValueTable, kind: TileColumn['kind'], value: string): number {
  if (kind === 'boolean') return asText(table, value)
  return kind === 'number' ? numberValue(table, Number(value)) : decimalValue(table, value)
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
