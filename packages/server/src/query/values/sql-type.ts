// PostgreSQL types of scalar values.
import { type Sql, sql } from '../../kernel/db/sql.ts'
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

/**
 * The value of a column whose type only its database knows, for comparison with a parameter without a cast, to which the database
 * gives the same type. The CASE makes the base type of a domain, because operators of enumerations, ranges and arrays do not take
 * a domain. The planner drops it, so that indexes serve.
 */
export const baseTypeSql = (value: Sql): Sql => sql`(CASE WHEN TRUE THEN ${value} ELSE NULL END)`
