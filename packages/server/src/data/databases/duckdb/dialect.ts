// DuckDB's dialect, without its spatial extension: boxes are compared, everything exact about shapes is left to memory.
import { ident, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Dialect } from '../../../query/execution/dialect.ts'
import { type PushedTest, pushDown, type Test } from '../../../query/execution/push-down.ts'
import { geometryWriter } from '../../../query/execution/wkb-cells.ts'
import type { Comparison } from '../../../query/filter/expression.ts'
import type { PlanColumn, RowSample } from '../../../query/plan/plan.ts'
import type { Attribute, ScalarAttribute, ScalarType } from '../../../query/values/attribute.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import { isScalarType } from '../../../query/values/value.ts'
import type { DuckdbColumn, DuckdbTable } from './package.ts'
import { scansSql } from './scans.ts'
import { boxConditions, type GeometryFacts, pushSpatial, type SpatialTest } from './spatial.ts'
import { thinningOf } from './thinning.ts'

/** A number is a double: NUMERIC alone would be DECIMAL(18,3) here, and round. */
export const castTypes: Readonly<Record<ScalarType, string>> = {
  string: 'VARCHAR',
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  date: 'DATE',
  datetime: 'TIMESTAMPTZ',
  time: 'TIME',
  uuid: 'UUID',
}

export function duckdbDialect(definitions: Definitions, table: DuckdbTable | undefined): Dialect {
  const facts: GeometryFacts = new Map((table?.columns ?? []).flatMap(geometryFact))
  return {
    definitions,
    column,
    where: (filter) => pushDown(filter, (test) => push(test, definitions, facts)),
    scan: (from, filter) => scansSql(from, filter, (test) => skippingBoxes(test, definitions, facts)),
    castOf: ({ attribute, type }) =>
      attribute && isScalarType(type) ? castOf({ ...attribute, type }) : castTypes.number,
    sortKey: (value, { type }) => (type === 'string' ? sql`${value}::VARCHAR` : value),
    // JSON is compared as text here, and a geometry has no equality at all.
    canGroup: ({ type }) => type !== 'json' && type !== 'geometry',
    aggregate,
    distance: () => undefined,
    sample: sampleSql,
    thinning: thinningOf(table, facts),
    transferSql: (_, value) => value,
    reading: ({ type, attribute, aggregate: name }, shape) =>
      type === 'geometry' && attribute && !name ? geometryWriter(attribute, shape, definitions) : undefined,
  }
}

const geometryFact = ({ name, geometry }: DuckdbColumn) => (geometry ? [[name, geometry] as const] : [])

const column = ({ name }: Attribute): Sql => sql`q.${ident(name)}`

function castOf({ type, withoutZone }: ScalarAttribute): string {
  return type === 'datetime' && withoutZone ? 'TIMESTAMP' : castTypes[type]
}

function aggregate({
  attribute,
  aggregate: name,
  isDistinct,
  type,
}: PlanColumn & { attribute: Attribute }): Sql | undefined {
  const value = column(attribute)
  if (name === 'count' && isDistinct && attribute.type === 'json') return undefined
  if (name === 'count' && isDistinct && attribute.type === 'geometry') return undefined
  if (name === 'extent' || name === 'area' || name === 'length') return undefined
  if (name === 'min' || name === 'max') return sql`${raw(name)}(${type === 'string' ? sql`${value}::VARCHAR` : value})`
  return sql`${raw(name ?? 'count')}(${raw(isDistinct ? 'DISTINCT ' : '')}${value})`
}

const comparisons: { readonly [comparison in Comparison]: Sql } = {
  eq: raw('='),
  lt: raw('<'),
  lte: raw('<='),
  gt: raw('>'),
  gte: raw('>='),
}

const itemRelations = { eq: raw('='), contains: raw('@>'), overlap: raw('&&') }

const exactly = (condition: Sql): PushedTest => ({ condition, isExact: true })

function push(test: Test, definitions: Definitions, facts: GeometryFacts): PushedTest | undefined {
  switch (test.kind) {
    case 'is':
      return exactly(sql`(${column(test.attribute)}) IS ${raw(test.value === null ? 'NULL' : String(test.value))}`)
    case 'compare':
      return exactly(compareSql(test.attribute, comparisons[test.comparison], test.value))
    case 'in':
      return exactly(inSql(test))
    case 'like': {
      const operator = raw(test.ignoreCase ? 'ILIKE' : 'LIKE')
      return exactly(sql`(${column(test.attribute)})::VARCHAR ${operator} ${test.pattern}::VARCHAR ESCAPE '\\'`)
    }
    case 'items': {
      const type = raw(castOf({ ...test.attribute, type: test.itemType }))
      const { values, relation } = test
      // A null item is in no list, but DuckDB ignores it there.
      if (relation === 'contained') return undefined
      return exactly(sql`(${column(test.attribute)})::${type}[] ${itemRelations[relation]} ${values}::${type}[]`)
    }
    // Equality of JSON is equality of its text here, and containment looks at any depth.
    case 'json':
    case 'expression':
    case 'isUnknown':
      return undefined
    default:
      return pushSpatial(test, column(test.attribute), definitions, facts.get(test.attribute.name))
  }
}

/** None where they would skip no row group: then a second scan would only be a second reading of all rows. */
function skippingBoxes(test: Test, definitions: Definitions, facts: GeometryFacts): readonly Sql[] {
  if (!isSpatial(test)) return []
  const fact = facts.get(test.attribute.name)
  if (!(fact?.covering || fact?.hasGroupBoxes)) return []
  return boxConditions(test, column(test.attribute), definitions, fact)
}

const isSpatial = (test: Test): test is SpatialTest => 'geometry' in test

function compareSql(attribute: ScalarAttribute, operator: Sql, value: string): Sql {
  const { side, cast } = comparedAs(attribute, [value])
  return sql`${side} ${operator} ${value}::${raw(cast)}`
}

/** An empty list holds nothing, not even the unknown. */
function inSql({ attribute, values }: Test & { kind: 'in' }): Sql {
  if (values.length === 0) return raw('FALSE')
  const { side, cast } = comparedAs(attribute, values)
  return sql`${side} = ANY (${values}::${raw(cast)}[])`
}

/** Decimals are exact among themselves, as far as 38 digits go; beyond that they are compared as doubles. */
function comparedAs(attribute: ScalarAttribute, values: readonly string[]): { side: Sql; cast: string } {
  const value = sql`(${column(attribute)})`
  if (attribute.type === 'string') return { side: sql`${value}::VARCHAR`, cast: castTypes.string }
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(attribute.decimal ?? '') ?? []
  if (precision === undefined) return { side: value, cast: castOf(attribute) }
  const wanted = Math.max(Number(scale), ...values.map((text) => text.split('.')[1]?.length ?? 0))
  const whole = Math.max(
    Number(precision) - Number(scale),
    ...values.map((text) => text.replace(/^[+-]|\..*$/g, '').length),
  )
  const isExact = values.every((text) => /^[+-]?\d+(\.\d*)?$/.test(text)) && wanted + whole <= 38
  return isExact ? { side: value, cast: `DECIMAL(38,${wanted})` } : { side: sql`${value}::DOUBLE`, cast: 'DOUBLE' }
}

/** Its clause takes constants only, which percentage and seed are: checked numbers. */
function sampleSql({ percentage, method, seed }: RowSample, isTable: boolean): { from: Sql; where: Sql } {
  if (isTable) {
    const repeatable = seed === undefined ? '' : ` REPEATABLE (${Math.abs(Math.trunc(seed)) % 2 ** 31})`
    return { from: raw(` TABLESAMPLE ${method} (${plain(percentage)} PERCENT)${repeatable}`), where: raw('') }
  }
  if (seed === undefined) return { from: raw(''), where: raw(` AND random() < ${plain(percentage / 100)}`) }
  const drawn = `hash(q, ${Math.trunc(seed)}) % 1000000 < ${plain(percentage * 10_000)}`
  return { from: raw(''), where: raw(` AND ${drawn}`) }
}

const plain = (value: number): string => value.toFixed(9)
