// Cells as the values and types of Parquet.
import type { SchemaElement } from 'hyparquet'
import type { ExportColumn } from '../export-order.ts'
import { bytesOf, datetimeMicrosOf, daysOf, doubleOf, int64Of, isInfinite, timeMicrosOf } from '../export-values.ts'

export type ParquetExportColumn = {
  readonly name: string
  readonly schema: readonly SchemaElement[]
  /** Undefined where Parquet has no such value. */
  encode(cell: string): unknown
}

type Kind = { readonly schema: Omit<SchemaElement, 'name'>; encode(cell: string): unknown }

const asText = (cell: string): string => cell
const text: Kind = {
  schema: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  encode: asText,
}
const json: Kind = {
  schema: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'JSON' } },
  encode: asText,
}

const finite =
  (read: (cell: string) => unknown) =>
  (cell: string): unknown =>
    isInfinite(cell) ? undefined : read(cell)

const kinds: Readonly<Record<Exclude<ExportColumn['type'], 'geometry'>, Kind>> = {
  string: text,
  json,
  array: json,
  integer: { schema: { type: 'INT64' }, encode: int64Of },
  number: { schema: { type: 'DOUBLE' }, encode: doubleOf },
  boolean: { schema: { type: 'BOOLEAN' }, encode: (cell) => cell === 'true' },
  date: { schema: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } }, encode: finite(daysOf) },
  datetime: { schema: timestamp(true), encode: finite(datetimeMicrosOf) },
  time: {
    schema: { type: 'INT64', logical_type: { type: 'TIME', isAdjustedToUTC: false, unit: 'MICROS' } },
    encode: timeMicrosOf,
  },
  uuid: { schema: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } }, encode: asText },
  binary: { schema: { type: 'BYTE_ARRAY' }, encode: (cell) => new Uint8Array(bytesOf(cell)) },
}

function timestamp(isAdjustedToUTC: boolean): Kind['schema'] {
  return { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' } }
}

export function parquetColumn(column: ExportColumn): ParquetExportColumn {
  const { schema, encode } = kindOf(column)
  return { name: column.name, schema: [{ ...schema, name: column.name, repetition_type: 'OPTIONAL' }], encode }
}

/** The most digits of a decimal in 16 bytes. */
const maxPrecision = 38

const int32: Kind = { schema: { type: 'INT32' }, encode: doubleOf }

function kindOf({ type, stored, decimal, withoutZone, withZone }: ExportColumn): Kind {
  if (stored === 'integer') return int32
  if (type === 'datetime' && withoutZone) return { ...kinds.datetime, schema: timestamp(false) }
  if (type === 'time' && withZone) return text
  if (type === 'number' && decimal) return decimal.precision > maxPrecision ? text : decimalKind(decimal)
  return type === 'geometry' ? json : kinds[type]
}

function decimalKind({ precision, scale }: { precision: number; scale: number }): Kind {
  return {
    schema: {
      type: 'FIXED_LEN_BYTE_ARRAY',
      type_length: 16,
      converted_type: 'DECIMAL',
      precision,
      scale,
      logical_type: { type: 'DECIMAL', precision, scale },
    },
    encode: (cell) => unscaled(cell, scale),
  }
}

/** `12.5` of scale 2 → 1250. NaN, which numeric has, is no decimal. */
function unscaled(cell: string, scale: number): bigint | undefined {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(cell) ?? []
  return whole === undefined ? undefined : BigInt(`${sign}${whole}${fraction.slice(0, scale).padEnd(scale, '0')}`)
}
