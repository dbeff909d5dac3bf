/**
 * The model of the filter builder, and its conversion to and from `where`, the server's grammar: a conjunction of parts,
 * each a disjunction of conditions. What the builder cannot show stays unchanged in one custom part.
 */
import type { Dataset, JsonObject } from '@graticule/client'
import type { LngLatBox } from '../../map/fit/fit-control.ts'
import type { ColumnType } from './attribute.ts'
import { type OperatorName, operatorNames, operators, type Scalar, showValue } from './operators.ts'

export interface FilterCondition {
  attribute: string
  operator: OperatorName
  /** As many as the operator takes; four for a box. */
  values: readonly Scalar[]
}

/** A disjunction of conditions, or JSON that the builder does not support. */
export type Part = { any: readonly FilterCondition[] } | { custom: JsonObject }

export const isCustom = (part: Part): part is { custom: JsonObject } => 'custom' in part

type Expression = JsonObject[string]

// ---- to `where`

export function toWhere(parts: readonly Part[]): JsonObject | undefined {
  const where: JsonObject = {}
  const rest: JsonObject[] = []
  for (const part of parts) {
    const object = partObject(part)
    if (!merge(where, object)) rest.push(object)
  }
  if (rest.length > 0) where.$and = [...(Array.isArray(where.$and) ? where.$and : []), ...rest]
  return Object.keys(where).length === 0 ? undefined : where
}

function partObject(part: Part): JsonObject {
  if (isCustom(part)) return part.custom
  const [first, ...others] = part.any.map(conditionObject)
  return others.length === 0 ? (first ?? {}) : { $or: [first ?? {}, ...others] }
}

function conditionObject({ attribute, operator, values }: FilterCondition): JsonObject {
  return { [attribute]: { [operators[operator].key]: operand(operator, values) } }
}

function operand(operator: OperatorName, values: readonly Scalar[]): Expression {
  const [first = ''] = values
  const { takes } = operators[operator]
  if (takes === 'none') return null
  if (operator === 'contains') return `%${escapeLike(String(first))}%`
  return takes === 'one' ? first : [...values]
}

const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&')

/** Merges an object into `where`; false if a key is already used. */
function merge(where: JsonObject, object: JsonObject): boolean {
  const entries = Object.entries(object)
  const isFree = entries.every(([key, value]) => where[key] === undefined || areDisjoint(where[key], value))
  if (!isFree) return false
  for (const [key, value] of entries) {
    const before = where[key]
    where[key] = isObject(before) && isObject(value) ? { ...before, ...value } : value
  }
  return true
}

const areDisjoint = (one: Expression, other: Expression): boolean =>
  isObject(one) && isObject(other) && Object.keys(other).every((key) => !Object.hasOwn(one, key))

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// ---- from `where`

export function fromWhere(where: JsonObject | undefined, types: ReadonlyMap<string, ColumnType>): Part[] {
  const parts: Part[] = []
  const custom: JsonObject[] = []
  for (const object of conjuncts(where ?? {})) {
    const part = readPart(object, types)
    if (part) parts.push(part)
    else custom.push(object)
  }
  if (custom.length > 0) parts.push({ custom: toWhere(custom.map((object) => ({ custom: object }))) ?? {} })
  return parts
}

/** Splits several keys, several operators and `$and` into conjuncts of one key and one operator. */
function conjuncts(where: JsonObject): JsonObject[] {
  return Object.entries(where).flatMap(([key, value]) => {
    if (key === '$and' && Array.isArray(value)) return value.flatMap((item) => (isObject(item) ? conjuncts(item) : []))
    if (key.startsWith('$') || !isObject(value)) return [{ [key]: value }]
    return Object.entries(value).map(([operator, operand]) => ({ [key]: { [operator]: operand } }))
  })
}

function readPart(object: JsonObject, types: ReadonlyMap<string, ColumnType>): Part | undefined {
  const [key = '', value] = Object.entries(object)[0] ?? []
  if (key !== '$or') {
    const condition = readCondition(key, value, types)
    return condition && { any: [condition] }
  }
  if (!Array.isArray(value) || value.length === 0) return undefined
  const any = value.map((item) => {
    const [single, ...others] = isObject(item) ? conjuncts(item) : []
    if (!single || others.length > 0) return undefined
    const [name = '', expression] = Object.entries(single)[0] ?? []
    return readCondition(name, expression, types)
  })
  return any.every((condition) => condition !== undefined) ? { any } : undefined
}

function readCondition(
  attribute: string,
  expression: unknown,
  types: ReadonlyMap<string, ColumnType>,
): FilterCondition | undefined {
  const type = types.get(attribute)
  if (!type) return undefined
  const [key, value] = operatorOf(expression)
  for (const operator of operatorNames) {
    if (operators[operator].key !== key || !operators[operator].types.includes(type)) continue
    const values = readValues(operator, value)
    if (values) return { attribute, operator, values }
  }
  return undefined
}

function operatorOf(expression: unknown): [string, unknown] {
  if (expression === null) return ['$is', null]
  if (Array.isArray(expression)) return ['$in', expression]
  if (!isObject(expression)) return ['$eq', expression]
  const [key = '', value] = Object.entries(expression)[0] ?? []
  if (value === null && key === '$eq') return ['$is', null]
  return value === null && key === '$not' ? ['$ne', null] : [key, value]
}

const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value)

const readers: Record<'none' | 'one' | 'two' | 'list' | 'box', (value: unknown) => readonly Scalar[] | undefined> = {
  none: (value) => (value === null ? [] : undefined),
  one: (value) => (isScalar(value) ? [value] : undefined),
  two: (value) => listOf(value, 2),
  list: (value) => listOf(value),
  box: (value) => (listOf(value, 4)?.every((item) => typeof item === 'number') ? listOf(value, 4) : undefined),
}

function listOf(value: unknown, length?: number): readonly Scalar[] | undefined {
  const isFit = Array.isArray(value) && value.every(isScalar) && (length === undefined || value.length === length)
  return isFit ? (value as Scalar[]) : undefined
}

function readValues(operator: OperatorName, value: unknown): readonly Scalar[] | undefined {
  const values = readers[operators[operator].takes](value)
  if (operator !== 'contains' || !values) return values
  const text = /^%((?:[^\\%_]|\\.)*)%$/s.exec(String(values[0]))?.[1]
  return text === undefined || text === '' ? undefined : [text.replaceAll(/\\(.)/gs, '$1')]
}

// ---- in words

export const typesOf = ({ attributes }: Pick<Dataset, 'attributes'>): Map<string, ColumnType> =>
  new Map(attributes.map(({ name, type }) => [name, type]))

/** pop ≥ 1 000 000 */
function describeCondition({ attribute, operator, values }: FilterCondition, type: ColumnType): string {
  const { sign, takes } = operators[operator]
  if (takes === 'none') return `${attribute} ${sign}`
  if (takes === 'box') return `${attribute} ${sign} ${describeBox(values as unknown as LngLatBox)}`
  const shown = values.map((value) => showValue(type, value))
  return `${attribute} ${sign} ${takes === 'two' ? shown.join(' and ') : shortened(shown)}`
}

const shortened = (texts: readonly string[]): string =>
  texts.length > 4 ? `${texts.slice(0, 3).join(', ')} and ${texts.length - 3} more` : texts.join(', ')

const describeBox = ([west, south, east, north]: LngLatBox): string =>
  `${[west, south].map(degrees).join(', ')} – ${[east, north].map(degrees).join(', ')}`

const degrees = (value: number): string => String(Math.round(value * 100) / 100)

export const describePart = (part: Part, types: ReadonlyMap<string, ColumnType>): string =>
  isCustom(part)
    ? 'custom filter'
    : part.any.map((one) => describeCondition(one, types.get(one.attribute) ?? 'string')).join(' or ')
