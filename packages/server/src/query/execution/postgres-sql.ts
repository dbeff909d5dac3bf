// The PostgreSQL/PostGIS dialect: everything in a plan is pushed down.
import { ident, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { placedSql, wrappedCornersSql } from '../filter/antimeridian-sql.ts'
import { filterSql } from '../filter/filter-sql.ts'
import { locatedSql, movedSql } from '../filter/shape-sql.ts'
import { distanceSql, roughDistanceSql } from '../filter/spatial-sql.ts'
import type { PlanColumn, RowSample } from '../plan/plan.ts'
import type { Attribute } from '../values/attribute.ts'
import { baseTypeSql, sqlType } from '../values/sql-type.ts'
import { isScalarType } from '../values/value.ts'
import type { SortedValue, SqlDialect } from './dialect.ts'

export const postgresSql: SqlDialect = {
  column,
  where: (filter) => ({ condition: filterSql(filter, column), rest: undefined }),
  castOf,
  sortKey,
  canGroup: () => true,
  aggregate,
  distance: (attribute, { distanceTo, roughTo }) =>
    distanceTo &&
    (roughTo
      ? roughDistanceSql(attribute, column(attribute), distanceTo, roughTo)
      : distanceSql(attribute, column(attribute), distanceTo)),
  sample: (sample, isTable) =>
    isTable ? { from: tableSample(sample), where: raw('') } : { from: raw(''), where: sql` AND ${rowSample(sample)}` },
}

/** An attribute's value in a relation with the alias `q`. */
export function column(attribute: Attribute): Sql {
  const value = sql`q.${ident(attribute.name)}`
  return attribute.isPrinted ? sql`(${value})::text` : value
}

/** COLLATE "C", so that text sorts the same on every server. Types that only the database knows have its order. */
function sortKey(value: Sql, { type, attribute }: SortedValue): Sql {
  if (attribute?.isNative || attribute?.isOrdered) return type === attribute.type ? baseTypeSql(value) : value
  if (type !== 'string') return value
  return attribute?.sqlType ? sql`${value} COLLATE "C"` : sql`${value}::text COLLATE "C"`
}

/** The column's own type: any other would round the value, and the row itself could fall on the wrong side of it. */
function castOf({ attribute, distanceTo, type }: PlanColumn): string | undefined {
  if (distanceTo || !attribute) return 'float8'
  if (attribute.isNative || attribute.isOrdered) return undefined
  return attribute.sqlType ?? (isScalarType(type) ? sqlType({ ...attribute, type }) : 'text')
}

function aggregate({ attribute, aggregate: name, isDistinct, type }: PlanColumn & { attribute: Attribute }): Sql {
  if (name === 'extent') return extent(attribute)
  if (name === 'area') return sql`sum(ST_Area(${partsOnEarth(attribute, 'polygons')}))`
  if (name === 'length') return sql`sum(ST_Length(${partsOnEarth(attribute, 'lines')}))`
  if (name === 'min' || name === 'max') return extreme(name, attribute, type)
  return sql`${raw(name ?? 'count')}(${raw(isDistinct ? 'DISTINCT ' : '')}${column(attribute)})`
}

/** Not every type with an order has a min and max, but a percentile. */
function extreme(name: 'min' | 'max', attribute: Attribute, type: PlanColumn['type']): Sql {
  const value = sortKey(column(attribute), { type, attribute })
  if (!attribute.isNative) return sql`${raw(name)}(${value})`
  return sql`percentile_disc(${raw(name === 'min' ? '0' : '1')}) WITHIN GROUP (ORDER BY ${value})`
}

/** `[west, south, east, north]` in 4326; west is greater than east where it crosses the antimeridian. */
function extent(attribute: Attribute): Sql {
  const box = sql`ST_Extent(${movedSql(attribute, column(attribute), 4326)})`
  if (attribute.period !== undefined) return sql`CASE WHEN ${box} IS NOT NULL THEN ${wrappedCornersSql(box)} END`
  const corners = sql`to_json(ARRAY[ST_XMin(${box}), ST_YMin(${box}), ST_XMax(${box}), ST_YMax(${box})])`
  return sql`CASE WHEN ${box} IS NOT NULL THEN ${corners} END`
}

/**
 * The parts of a geometry that have an area, or a length, without Z: heights and the outlines of areas would count as
 * lengths, too.
 */
function partsOnEarth(attribute: Attribute, parts: 'lines' | 'polygons'): Sql {
  const flat = sql`ST_Force2D(${placedSql(attribute, column(attribute), 4326)})`
  return sql`ST_CollectionExtract(${flat}, ${raw(parts === 'lines' ? '2' : '3')})::geography`
}

/** A geometry with its SRID set, also where the column has none. */
export const located = (attribute: Attribute): Sql => locatedSql(attribute, column(attribute))

function tableSample({ percentage, method, seed }: RowSample): Sql {
  const repeatable = seed === undefined ? raw('') : sql` REPEATABLE (${seed}::float8)`
  return sql` TABLESAMPLE ${raw(method)} (${percentage}::float8)${repeatable}`
}

function rowSample({ percentage, seed }: RowSample): Sql {
  if (seed === undefined) return sql`random() < ${percentage / 100}::float8`
  return sql`abs(hashtextextended(q::text, ${Math.trunc(seed)}::int8) % 1000000) < ${percentage * 10_000}::float8`
}
