// Comparisons of CQL2. Where an attribute is compared with a value, the result is a simple leaf, which indexes serve.
import type { ScalarAttribute, ScalarType } from '../../values/attribute.ts'
import { show } from '../../values/fault.ts'
import { canonicalText, compareValues, decodeValue } from '../../values/value.ts'
import { type Comparison, type Expression, isNative } from '../expression.ts'
import { comparisons } from '../expression-value.ts'
import { allOf, anyOf, type Filter } from '../filter-tree.ts'
import { type JsonPath, refuse } from './syntax.ts'

type Literal = Expression & { kind: 'literal' }

const mirrored: { readonly [comparison in Comparison]: Comparison } = {
  eq: 'eq',
  lt: 'gt',
  lte: 'gte',
  gt: 'lt',
  gte: 'lte',
}

/**
 * Compares two expressions. A string becomes an instant, a time or a UUID where it meets one. Where a date meets a time
 * stamp, days in UTC are compared.
 */
export function compare(comparison: Comparison, first: Expression, second: Expression, jsonPath: JsonPath): Filter {
  if (isNative(second) && !isNative(first)) return compare(mirrored[comparison], second, first, jsonPath)
  if (isNative(first) && isText(second)) return compareAttribute(comparison, first.attribute, second.value)
  const [left, right] = [converted(first, second.type, jsonPath), converted(second, first.type, jsonPath)]
  if (!isComparable(left.type, right.type)) {
    throw refuse(
      jsonPath,
      'operator_not_applicable',
      `a value of type ${left.type} cannot be compared with ${right.type}`,
    )
  }
  if (left.kind === 'literal' && right.kind !== 'literal') return compareOrdered(mirrored[comparison], right, left)
  return compareOrdered(comparison, left, right)
}

/** What the database is given to read in the type of the column. */
const isText = (expression: Expression): expression is Literal & { readonly value: string } =>
  expression.kind === 'literal' && expression.value !== null && expression.type !== 'boolean'

const isNumeric = (type: ScalarType): boolean => type === 'integer' || type === 'number'
const isInstant = (type: ScalarType): boolean => type === 'date' || type === 'datetime'

const isComparable = (one: ScalarType, other: ScalarType): boolean =>
  one === other || (isNumeric(one) && isNumeric(other)) || (isInstant(one) && isInstant(other))

/** Types whose values CQL2 has no literal for, or which clients write as strings. */
const writtenAsString: readonly ScalarType[] = ['date', 'datetime', 'time', 'uuid']

function converted(expression: Expression, other: ScalarType, jsonPath: JsonPath): Expression {
  if (expression.kind !== 'literal' || expression.value === null) return expression
  const { type, value } = expression
  const isTruth = type === 'number' && other === 'boolean'
  if (!isTruth && !(type === 'string' && writtenAsString.includes(other))) return expression
  // GDAL writes a date as '2024-01-31T'.
  const text = canonicalText(other, isInstant(other) ? value.replace(/^(\d{4}-\d\d-\d\d)T$/, '$1') : value)
  if (text !== undefined) return { kind: 'literal', type: other, value: text }
  throw refuse(jsonPath, 'invalid_value', `${show(value)} is not of type ${other}, with which it is compared`)
}

/** A literal is on the right, unless both are. */
function compareOrdered(comparison: Comparison, left: Expression, right: Expression): Filter {
  if (left.type !== right.type && isInstant(left.type)) return compareDays(comparison, left, right)
  if (right.kind !== 'literal' || right.value === null) return compareExpressions(comparison, left, right)
  if (left.kind === 'attribute') return compareAttribute(comparison, left.attribute, right.value)
  return left.kind === 'literal'
    ? compareLiterals(comparison, left, right)
    : compareExpressions(comparison, left, right)
}

const compareExpressions = (comparison: Comparison, left: Expression, right: Expression): Filter => ({
  kind: 'expression',
  test: 'compare',
  comparison,
  left,
  right,
})

function compareLiterals(comparison: Comparison, left: Literal, right: Literal): Filter {
  if (left.value === null || right.value === null) return compareExpressions(comparison, left, right)
  const order = compareValues(decodeValue(left.type, left.value), decodeValue(right.type, right.value))
  return comparisons[comparison](order) ? allOf([]) : anyOf([])
}

function compareAttribute(comparison: Comparison, attribute: ScalarAttribute, value: string): Filter {
  return attribute.type === 'integer'
    ? compareInteger(comparison, attribute, value)
    : { kind: 'compare', attribute, comparison, value }
}

const int8 = { least: -(2n ** 63n), greatest: 2n ** 63n - 1n }

/** An integer is compared with an integer, so that its index serves: `n < 3.5` is `n <= 3`. */
function compareInteger(comparison: Comparison, attribute: ScalarAttribute, value: string): Filter {
  const leaf = (how: Comparison, bound: bigint): Filter => ({
    kind: 'compare',
    attribute,
    comparison: how,
    value: String(bound),
  })
  const exact = canonicalText('integer', value.replace(/\.0*$/, ''))
  if (exact !== undefined) return leaf(comparison, BigInt(exact))
  const size = Number(value)
  const isLess = comparison === 'lt' || comparison === 'lte'
  // False for every integer, and unknown for null.
  if (comparison === 'eq') return leaf('lt', int8.least)
  if (size >= 2 ** 63) return isLess ? leaf('lte', int8.greatest) : leaf('gt', int8.greatest)
  if (size < -(2 ** 63)) return isLess ? leaf('lt', int8.least) : leaf('gte', int8.least)
  if (Number.isInteger(size)) return leaf(comparison, BigInt(size))
  return isLess ? leaf('lte', BigInt(Math.floor(size))) : leaf('gte', BigInt(Math.ceil(size)))
}

/** One side is a date and the other an instant. */
function compareDays(comparison: Comparison, left: Expression, right: Expression): Filter {
  const isBounds = left.kind === 'attribute' && left.type === 'datetime' && right.kind === 'literal'
  if (isBounds && right.value !== null) return compareWithDay(comparison, left.attribute, right.value)
  return compareOrdered(comparison, dayOf(left), dayOf(right))
}

function dayOf(expression: Expression): Expression {
  if (expression.type === 'date') return expression
  if (expression.kind !== 'literal') return { kind: 'day', type: 'date', operand: expression }
  return { kind: 'literal', type: 'date', value: expression.value?.slice(0, 'YYYY-MM-DD'.length) ?? null }
}

function compareWithDay(comparison: Comparison, attribute: ScalarAttribute, day: string): Filter {
  const [first, last] = [`${day}T00:00:00.000000Z`, `${day}T23:59:59.999999Z`]
  const leaf = (how: Comparison, value: string): Filter => ({ kind: 'compare', attribute, comparison: how, value })
  if (comparison === 'eq') return allOf([leaf('gte', first), leaf('lte', last)])
  return leaf(comparison, comparison === 'lt' || comparison === 'gte' ? first : last)
}
