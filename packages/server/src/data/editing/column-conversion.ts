// The conversion of a column's values to another type, value by value through their texts: what does not convert is null.
import { ident, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { EditColumn, EditTable } from './writing/edit-table.ts'

/** Values that others are converted from and to: those of one column have one text each. */
const convertible = /^(string|integer|number|boolean|date|datetime|time|uuid|json)$/

export function demandConvertible(
  { name, type, isGenerated }: EditColumn,
  key: EditTable['key'],
  newType: string,
): void {
  if (key.some((column) => column.name === name))
    throw new ApiError('conflict', 'The column is part of the primary key, which addresses the rows: its type stays.')
  if (isGenerated) throw new ApiError('conflict', 'The column is computed by the database: its type stays.')
  if (convertible.test(type) && convertible.test(newType)) return
  const detail = `Values of type ${type} cannot be converted to ${newType}. Add a column of that type, and write its values.`
  throw new ApiError('conflict', detail)
}

/** SQL: the value of a column, by its bare name as ALTER TABLE demands, which takes no parameters either: a value of the type; null where it is none. */
export function convertedSql({ name, type }: EditColumn, dbType: string): Sql {
  const text = sql`${ident(name)}::text`
  const [, length] = /^character varying\((\d+)\)$/.exec(dbType) ?? []
  if (length) return sql`CASE WHEN length(${text}) <= ${raw(length)} THEN ${text} END`
  const [, precision, scale = '0'] = /^numeric\((\d+)(?:,(\d+))?\)$/.exec(dbType) ?? []
  if (precision) {
    const number = sql`svc.cast_or_null(${text}, NULL::numeric)`
    const fits = sql`abs(round(${number}, ${raw(scale)})) < 10::numeric ^ (${raw(precision)} - ${raw(scale)})`
    return sql`CASE WHEN ${fits} THEN ${number}::${raw(dbType)} END`
  }
  return sql`svc.cast_or_null(${isWhole(dbType) && type === 'number' ? withoutZeros(text) : text}, NULL::${raw(dbType)})`
}

const isWhole = (dbType: string): boolean => /^(smallint|integer|bigint)$/.test(dbType)

/** 1.00 is a whole number. */
const withoutZeros = (text: Sql): Sql => sql`regexp_replace(${text}, '\.0+$', '')`

/** What a conversion does to the values of a column. */
export type Conversion = {
  /** Values that are not null. */
  readonly values: number
  /** Those that are none of the new type. An empty text is no value. */
  readonly lost: number
  /** Those that are written in another way, such as rounded numbers. */
  readonly changed: number
  readonly examples: readonly { readonly from: string; readonly to: string | null }[]
}

const maxExamples = 5

export const conversionSql = ({ from }: EditTable, column: EditColumn, dbType: string): Sql => sql`
  WITH converted AS MATERIALIZED (
    SELECT q.${ident(column.name)}::text AS before, (${convertedSql(column, dbType)})::text AS after FROM ${from} AS q
    WHERE q.${ident(column.name)} IS NOT NULL),
  counted AS (
    SELECT before, after, after IS NULL AND before <> '' AS lost FROM converted WHERE after IS DISTINCT FROM before)
  SELECT (SELECT count(*)::int8 FROM converted) AS values, count(*) FILTER (WHERE lost)::int8 AS lost,
    count(*) FILTER (WHERE after IS NOT NULL)::int8 AS changed,
    (SELECT coalesce(json_agg(json_build_object('from', left(before, 100), 'to', left(after, 100))), '[]')
     FROM (SELECT DISTINCT lost, before, after FROM counted WHERE lost OR after IS NOT NULL ORDER BY lost DESC, before LIMIT ${maxExamples}::int4) AS e) AS examples
  FROM counted`
