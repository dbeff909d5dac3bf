import fc, { type Arbitrary } from 'fast-check'
import { encode, goodJson } from '../hostile/hostile-values.ts'
import type { Schema, SchemaFields } from './api-document.ts'
import { textOf, valueFor } from './schema-values.ts'

export type Pair = readonly [string, string]
export type Pairs = Pair[]

/** A query parameter by its name where that has a meaning of its own, otherwise by its schema. */
export function parameterOf(name: string, schema: Schema, record: SchemaFields): Arbitrary<Pairs> {
  const fields = Object.keys(record)
  const plain = fields.filter((field) => record[field]?.type === 'string')
  const joins = fields.filter((field) => {
    const { anyOf = [], items } = record[field] ?? {}
    return [...anyOf, items].some((part) => part?.$ref)
  })
  if (name === 'filter') return anyFilter(record)
  if (name === 'join') return listOf(name, joins)
  if (name === 'sort') return listOf(name, [...plain, ...plain.flatMap((field) => [`-${field}`, `+${field}`])])
  if (name === 'fields' || name === 'attributes') {
    const own = fields.filter((field) => !joins.includes(field))
    return listOf(name, own)
  }
  if (schema.type === 'array') return listOf(name, ['a', 'b', 'colour'])
  return scalarOf(schema).map((value) => [[name, encode(String(value))]])
}

function scalarOf(schema: Schema): Arbitrary<unknown> {
  const { type, minimum = 0, maximum = 20_000 } = schema
  if (type !== 'integer' && type !== 'number') return valueFor(schema)
  return fc.oneof(fc.integer({ min: minimum, max: minimum + 5 }), fc.integer({ min: minimum, max: maximum }))
}

/** All the ways to write a list. */
function listOf(name: string, items: readonly string[]): Arbitrary<Pairs> {
  if (items.length === 0) return fc.constant([[name, '']])
  const list = fc.uniqueArray(fc.constantFrom(...items).map(encode), { minLength: 1, maxLength: 4 })
  return fc.tuple(list, fc.constantFrom('comma', 'repeated', '[]', '[0]')).map(([values, form]): Pairs => {
    if (form === 'comma') return [[name, values.join(',')]]
    return values.map((value, index) => [
      `${name}${form === 'repeated' ? '' : form === '[]' ? '[]' : `[${index}]`}`,
      value,
    ])
  })
}

const comparisons = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$not']
const patterns = ['$like', '$notLike', '$iLike', '$notILike', '$startsWith', '$endsWith', '$substring']
const others = [
  '$is',
  '$contains',
  '$overlap',
  '$bbox',
  '$intersects',
  '$within',
  '$dwithin',
  '$nonsense',
  '$__proto__',
]
export const operators = [
  ...comparisons,
  ...patterns,
  ...others,
  '$in',
  '$notIn',
  '$between',
  '$notBetween',
  '$and',
  '$or',
]

/** A filter in its two forms: a deep object, or the JSON text of one. */
function anyFilter(record: SchemaFields): Arbitrary<Pairs> {
  const conditions = Object.entries(record).flatMap(([name, schema]) =>
    conditionsOf(schema).map((condition) => condition.map((inner) => ({ [name]: inner }))),
  )
  if (conditions.length === 0) return fc.constant([])
  const { filter } = fc.letrec<{ filter: object }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      fc.oneof(...conditions),
      fc.record({ $and: fc.array(tie('filter'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ $or: fc.array(tie('filter'), { minLength: 1, maxLength: 2 }) }),
      fc.record({ $not: tie('filter') }),
    ),
  }))
  return fc
    .tuple(filter, fc.boolean())
    .map(([value, isDeep]) => (isDeep ? deepObject('filter', value) : [['filter', encode(JSON.stringify(value))]]))
}

function conditionsOf({ type, format, pattern }: Schema): Arbitrary<unknown>[] {
  const nothing = fc.constantFrom(null, { $is: null }, { $not: null }, { $ne: null })
  if (type === 'object') return [fc.record({ $contains: goodJson }), nothing]
  if (format === 'geometry')
    return [fc.record({ $bbox: fc.constantFrom([0, 0, 10, 10], [170, -10, -170, 10]) }), nothing]
  if (type !== 'string' && type !== 'integer') return []
  const value: Arbitrary<unknown> = type === 'integer' ? fc.nat(100) : textOf({ format, pattern, maxLength: 200 })
  const using = (names: readonly string[], operand: Arbitrary<unknown>) =>
    fc.tuple(fc.constantFrom(...names), operand).map(([name, inner]) => ({ [name]: inner }))
  const known = [
    value,
    nothing,
    using(comparisons, value),
    using(['$in', '$notIn'], fc.array(value, { minLength: 1, maxLength: 3 })),
    using(['$between', '$notBetween'], fc.tuple(value, value)),
  ]
  return format || type === 'integer'
    ? known
    : [...known, using(patterns, value), using(patterns, fc.constantFrom('a%', '%_', '\\%'))]
}

export function deepObject(name: string, value: unknown): Pairs {
  if (typeof value !== 'object' || value === null) return [[name, encode(String(value))]]
  return Object.entries(value).flatMap(([key, inner]) => deepObject(`${name}[${encode(key)}]`, inner))
}
