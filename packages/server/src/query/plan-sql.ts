import { ident, joinSql, raw, type Sql, sql } from '../db/sql.ts'
import type { Attribute, AttributeType } from './attribute.ts'
import { filterSql } from './filter-sql.ts'
import type { Column, Order, Plan, Sample } from './plan.ts'
import { distanceSql } from './spatial-sql.ts'

/** What a plan runs on. */
export type Relation = {
  /** A table, or a query in parentheses. */
  readonly from: Sql
  /** TABLESAMPLE reads only a part of a table; of anything else the rows are drawn one by one. */
  readonly isTable: boolean
  /** Breaks ties, so that pages neither overlap nor skip. */
  readonly key: readonly Attribute[]
}

/** An attribute's value in a relation called `q`. */
export function column(attribute: Attribute): Sql {
  const value = sql`q.${ident(attribute.name)}`
  return attribute.unlocated && attribute.srid ? sql`ST_SetSRID(${value}, ${attribute.srid}::int4)` : value
}

/** The plan as one SELECT. `render` says how the value of a column is to travel. */
export function planSql(plan: Plan, relation: Relation, render: (column: Column, value: Sql) => Sql): Sql {
  const { columns, where, group, distinct, sample, limit, offset } = plan
  const order = completeOrder(plan, relation.key)
  const shown = columns.map((item) => sql`${render(item, expressionOf(item))} AS ${ident(item.name)}`)
  const clauses: Sql[] = [
    sql`SELECT ${distinct.length > 0 ? sql`DISTINCT ON (${list(distinct.map((attribute) => sortKey(column(attribute), attribute.type)))}) ` : raw('')}${list(shown)}`,
    sql`FROM ${relation.from} AS q${sample && relation.isTable ? tableSample(sample) : raw('')}`,
    sql`WHERE ${filterSql(where, column)}${sample && !relation.isTable ? sql` AND ${rowSample(sample)}` : raw('')}`,
  ]
  if (group && group.length > 0) clauses.push(sql`GROUP BY ${list(group.map(column))}`)
  if (order.length > 0) clauses.push(sql`ORDER BY ${list(order.map(orderSql))}`)
  if (limit !== undefined) clauses.push(sql`LIMIT ${limit}`)
  if (offset > 0) clauses.push(sql`OFFSET ${offset}`)
  return joinSql(clauses, '\n')
}

const list = (items: readonly Sql[]): Sql => (items.length > 0 ? joinSql(items, ', ') : raw(''))

/** Sorting costs, so a plan that asks for all rows in any order gets them in any order. */
function completeOrder({ order, group, limit, offset }: Plan, key: readonly Attribute[]): readonly Order[] {
  if (order.length === 0 && limit === undefined && offset === 0) return order
  const known = new Set(order.filter(({ by }) => !by.aggregate).map(({ by }) => by.attribute))
  const rest = (group ?? key).filter((attribute) => !known.has(attribute))
  return [
    ...order,
    ...rest.map((attribute) => ({ by: { name: '', attribute, type: attribute.type }, isDescending: false })),
  ]
}

function orderSql({ by, isDescending }: Order): Sql {
  return sql`${sortKey(expressionOf(by), by.type)} ${raw(isDescending ? 'DESC' : 'ASC')} NULLS LAST`
}

/** The same order on every server, whatever its locale. */
const sortKey = (value: Sql, type: AttributeType): Sql => (type === 'string' ? sql`${value}::text COLLATE "C"` : value)

function expressionOf({ attribute, aggregate, isDistinct, distanceTo, type }: Column): Sql {
  if (attribute && distanceTo) return distanceSql(attribute, column(attribute), distanceTo)
  if (!aggregate) return attribute ? column(attribute) : raw('NULL')
  if (!attribute) return raw('count(*)')
  if (aggregate === 'extent') return extent(attribute)
  if (aggregate === 'area') return sql`sum(ST_Area(${partsOnEarth(attribute, 'polygons')}))`
  if (aggregate === 'length') return sql`sum(ST_Length(${partsOnEarth(attribute, 'lines')}))`
  if (aggregate === 'min' || aggregate === 'max') return sql`${raw(aggregate)}(${sortKey(column(attribute), type)})`
  return sql`${raw(aggregate)}(${raw(isDistinct ? 'DISTINCT ' : '')}${column(attribute)})`
}

/** `[west, south, east, north]` in 4326. */
function extent(attribute: Attribute): Sql {
  const box = sql`ST_Extent(ST_Transform(${located(attribute)}, 4326))`
  const corners = sql`to_json(ARRAY[ST_XMin(${box}), ST_YMin(${box}), ST_XMax(${box}), ST_YMax(${box})])`
  return sql`CASE WHEN ${box} IS NOT NULL THEN ${corners} END`
}

/** What of a geometry has an area, or a length: heights and the outlines of areas would count as lengths, too. */
function partsOnEarth(attribute: Attribute, parts: 'lines' | 'polygons'): Sql {
  const flat = sql`ST_Force2D(ST_Transform(${located(attribute)}, 4326))`
  return sql`ST_CollectionExtract(${flat}, ${raw(parts === 'lines' ? '2' : '3')})::geography`
}

/** A geometry with a reference system, also where the column has none. */
export function located(attribute: Attribute): Sql {
  const value = attribute.geography ? sql`${column(attribute)}::geometry` : column(attribute)
  return attribute.srid === 0 ? sql`ST_SetSRID(${value}, 4326)` : value
}

function tableSample({ percentage, method, seed }: Sample): Sql {
  const repeatable = seed === undefined ? raw('') : sql` REPEATABLE (${seed}::float8)`
  return sql` TABLESAMPLE ${raw(method)} (${percentage}::float8)${repeatable}`
}

function rowSample({ percentage, seed }: Sample): Sql {
  if (seed === undefined) return sql`random() < ${percentage / 100}::float8`
  return sql`abs(hashtextextended(q::text, ${Math.trunc(seed)}::int8) % 1000000) < ${percentage * 10_000}::float8`
}
