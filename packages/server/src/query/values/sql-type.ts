// PostgreSQL types of scalar values.
import type { ScalarAttribute, ScalarType } from './attribute.ts'

/**
 * The cast of a parameter. Numbers are numeric: PostgreSQL then compares them exactly with a numeric column, and with a
 * double column after one rounding. A double parameter would round a numeric column row by row.
 */
export const sqlTypes: { readonly [type in ScalarType]: string } = {
  string: 'text',
  integer: 'int8',
  number: 'numeric',
  boolean: 'bool',
  date: 'date',
  datetime: 'timestamptz',
  time: 'time',
  uuid: 'uuid',
}

export function sqlType({ type, withoutZone }: ScalarAttribute): string {
  return type === 'datetime' && withoutZone ? 'timestamp' : sqlTypes[type]
}
