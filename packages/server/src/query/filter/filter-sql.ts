// Filter interpreter for PostgreSQL; filter-predicate.ts is the in-memory interpreter of the same tree.
import { and, bound, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { ScalarAttribute } from '../values/attribute.ts'
import { baseTypeSql, sqlType } from '../values/sql-type.ts'
import { type ColumnSql, comparisons, expressionTestSql } from './expression-sql.ts'
import type { Filter } from './filter-tree.ts'
import { dwithinSql, intersectsSql, relationSql } from './spatial-sql.ts'

const itemRelations = { eq: raw('='), contains: raw('@>'), contained: raw('<@'), overlap: raw('&&') }

/**
 * The filter as a PostgreSQL boolean expression in parentheses: true, false or null. Every value is a parameter with a
 * cast, so that neither the server nor the driver guesses its type; where only the database knows the type, it is that of the
 * column.
 */
export function filterSql(filter: Filter, column: ColumnSql): Sql {
  return sql`(${expression(filter, column)})`
}

function expression(filter: Filter, column: ColumnSql): Sql {
  switch (filter.kind) {
    case 'and':
      return and(filter.filters.map((inner) => expression(inner, column)))
    case 'or':
      return or(filter.filters.map((inner) => expression(inner, column)))
    case 'not':
      return sql`NOT (${expression(filter.filter, column)})`
    case 'is':
      return sql`(${column(filter.attribute)}) IS ${raw(filter.value === null ? 'NULL' : String(filter.value))}`
    case 'compare':
      return compareSql(filter, column)
    case 'in':
      return inSql(filter, column)
    case 'like':
      return likeSql(filter, column)
    case 'items':
      return itemsSql(filter, column)
    case 'json':
      return jsonSql(filter, column)
    case 'intersects':
      return intersectsSql(filter.attribute, column(filter.attribute), filter.geometry)
    case 'dwithin':
      return dwithinSql(filter.attribute, column(filter.attribute), filter.geometry, filter.distanceMetres)
    case 'expression':
      return expressionTestSql(filter, column)
    case 'isUnknown':
      return sql`(${expression(filter.inner, column)}) IS NULL`
    default:
      return relationSql(filter.kind, filter.attribute, column(filter.attribute), filter.geometry)
  }
}

function or(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return raw('FALSE')
  const grouped = conditions.map((condition) => sql`(${condition})`)
  return joinSql(grouped, ' OR ')
}

/**
 * Order comparisons use COLLATE "C", so that text sorts the same on every server. Equality needs no collation and keeps
 * its index.
 */
function compareSql({ attribute, comparison, value }: Filter & { kind: 'compare' }, column: ColumnSql): Sql {
  if (attribute.isNative) {
    return sql`${baseTypeSql(column(attribute))} ${comparisons[comparison]} ${bound(value, attribute.name)}`
  }
  const collation = attribute.type === 'string' && comparison !== 'eq' ? raw(' COLLATE "C"') : raw('')
  const type = raw(castOf(attribute))
  return sql`${scalar(attribute, column)}${collation} ${comparisons[comparison]} ${value}::${type}`
}

function inSql({ attribute, values }: Filter & { kind: 'in' }, column: ColumnSql): Sql {
  if (attribute.isNative) return sql`${baseTypeSql(column(attribute))} = ANY (${bound(values, attribute.name)})`
  return sql`${scalar(attribute, column)} = ANY (${list(values, castOf(attribute))})`
}

const castOf = (attribute: ScalarAttribute): string =>
  attribute.sqlType === 'bpchar' ? attribute.sqlType : sqlType(attribute)

function likeSql(filter: Filter & { kind: 'like' }, column: ColumnSql): Sql {
  const operator = raw(filter.ignoreCase ? 'ILIKE' : 'LIKE')
  const { hasOwnLike } = filter.attribute
  if (hasOwnLike) return sql`${baseTypeSql(column(filter.attribute))} ${operator} ${filter.pattern}::text`
  return sql`(${column(filter.attribute)})::text ${operator} ${filter.pattern}::text`
}

/**
 * Array operators need the same type on both sides, so the column is cast. The cast is free when the type is the same.
 */
function itemsSql(filter: Filter & { kind: 'items' }, column: ColumnSql): Sql {
  const { attribute, itemType, relation, values } = filter
  if (attribute.isNative) {
    return sql`${baseTypeSql(column(attribute))} ${itemRelations[relation]} ${bound(values, attribute.name)}`
  }
  // float8, because a cast from double to numeric would drop digits.
  const type = itemType === 'number' ? 'float8' : sqlType({ ...attribute, type: itemType })
  return sql`(${column(attribute)})::${raw(type)}[] ${itemRelations[relation]} ${list(values, type)}`
}

function jsonSql(filter: Filter & { kind: 'json' }, column: ColumnSql): Sql {
  const operator = raw(filter.relation === 'eq' ? '=' : '@>')
  return sql`(${column(filter.attribute)})::jsonb ${operator} ${filter.value}::jsonb`
}

/** A cast of text to text costs nothing, and its index still serves. */
function scalar(attribute: ScalarAttribute, column: ColumnSql): Sql {
  const cast = attribute.type === 'string' && !attribute.sqlType ? raw('::text') : raw('')
  return sql`(${column(attribute)})${cast}`
}

const list = (values: readonly string[], type: string): Sql => sql`${values}::${raw(type)}[]`
