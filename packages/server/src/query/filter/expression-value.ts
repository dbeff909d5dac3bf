// Expressions of filters in memory; expression-sql.ts is their interpreter in PostgreSQL.
import { wrapGeometry } from '../geometry/antimeridian.ts'
import { relationTest } from '../geometry/relation/relation.ts'
import type { Attribute, ScalarType } from '../values/attribute.ts'
import { geometryOf } from '../values/geometry-text.ts'
import { foldText } from '../values/text-folding.ts'
import { canonicalText, compareValues, decodeValue, type Value } from '../values/value.ts'
import {
  type ArithmeticOperator,
  arithmeticRange,
  type Comparison,
  type Expression,
  type ExpressionTest,
  greatestLogarithm,
  type SetOperand,
} from './expression.ts'
import { jsonEquals } from './json-relation.ts'
import { likeMatcher } from './like.ts'

export type ValueRow = Readonly<Record<string, unknown>>

/** Three-valued logic: null stands for SQL's unknown. */
export type Predicate = (row: ValueRow) => boolean | null

export const comparisons: { readonly [comparison in Comparison]: (order: number) => boolean } = {
  eq: (order) => order === 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
}

/** Compiles a test of expressions. */
export function expressionPredicate(test: ExpressionTest): Predicate {
  switch (test.test) {
    case 'compare':
      return comparePredicate(test)
    case 'in':
      return inPredicate(test)
    case 'like': {
      const matches = likeMatcher(test.pattern, false)
      return unlessNull(readerOf(test.operand), (text) => matches(String(text)))
    }
    case 'isNull': {
      const read = readerOf(test.operand)
      return (row) => read(row) === null
    }
    case 'relate':
      return relatePredicate(test)
    case 'sets':
      return setsPredicate(test)
  }
}

type ReadValue = (row: ValueRow) => Value | null

function unlessNull(read: ReadValue, holds: (value: Value) => boolean): Predicate {
  return (row) => {
    const value = read(row)
    return value === null ? null : holds(value)
  }
}

function comparePredicate({ comparison, left, right }: ExpressionTest & { test: 'compare' }): Predicate {
  const [first, second] = alike([left, right])
  const holds = comparisons[comparison]
  return (row) => {
    const [a, b] = [first?.(row) ?? null, second?.(row) ?? null]
    return a === null || b === null ? null : holds(compareValues(a, b))
  }
}

/** True if one is equal, otherwise unknown if one is null. */
function inPredicate({ operand, items }: ExpressionTest & { test: 'in' }): Predicate {
  const [read, ...others] = alike([operand, ...items])
  return (row) => {
    const value = read?.(row) ?? null
    if (value === null) return null
    const values = others.map((other) => other(row))
    if (values.some((other) => other !== null && compareValues(value, other) === 0)) return true
    return values.includes(null) ? null : false
  }
}

/** Readers of values of one type: integers and other numbers are compared as doubles. */
function alike(expressions: readonly Expression[]): ReadValue[] {
  const isMixed = expressions.some(({ type }) => type === 'number')
  return expressions.map((expression) => (isMixed ? doubleOf(expression) : readerOf(expression)))
}

function readerOf(expression: Expression): ReadValue {
  switch (expression.kind) {
    case 'attribute':
      return scalarReader(expression.attribute, expression.type)
    case 'literal': {
      const value = expression.value === null ? null : decodeValue(expression.type, expression.value)
      return () => value
    }
    case 'fold': {
      const read = readerOf(expression.operand)
      return mapped(read, (text) => foldText(expression.folding, String(text)))
    }
    case 'day':
      return mapped(readerOf(expression.operand), (instant) => String(instant).slice(0, 'YYYY-MM-DD'.length))
    case 'arithmetic': {
      const [left, right] = [doubleOf(expression.left), doubleOf(expression.right)]
      return (row) => calculate(expression.operator, left(row), right(row))
    }
  }
}

function mapped(read: ReadValue, change: (value: Value) => Value): ReadValue {
  return (row) => {
    const value = read(row)
    return value === null ? null : change(value)
  }
}

function doubleOf(expression: Expression): (row: ValueRow) => number | null {
  const read = readerOf(expression)
  return (row) => {
    const value = read(row)
    return value === null ? null : Number(value)
  }
}

const formulas: { readonly [operator in ArithmeticOperator]: (a: number, b: number) => number | null } = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? null : a / b),
  div: (a, b) => (b === 0 ? null : Math.trunc(a / b)),
  '%': (a, b) => (b === 0 ? null : a - b * Math.trunc(a / b)),
  '^': power,
}

/** The result of an operator; null if an operand is null or out of range, or if there is no result. */
export function calculate(operator: ArithmeticOperator, a: number | null, b: number | null): number | null {
  return a === null || b === null || !isInRange(a) || !isInRange(b) ? null : formulas[operator](a, b)
}

function isInRange(value: number): boolean {
  const size = Math.abs(value)
  return size === 0 || (size >= arithmeticRange.least && size <= arithmeticRange.greatest)
}

function power(base: number, exponent: number): number | null {
  if (base === 0) return exponent > 0 ? 0 : exponent === 0 ? 1 : null
  if (base < 0 && !Number.isInteger(exponent)) return null
  return Math.abs(exponent * Math.log(Math.abs(base))) < greatestLogarithm ? base ** exponent : null
}

function relatePredicate({ relation, left, right }: ExpressionTest & { test: 'relate' }): Predicate {
  return (row) => {
    const [a, b] = [geometryOf(valueAt(row, left.name)), geometryOf(valueAt(row, right.name))]
    return a && b && relationTest(relation, wrapGeometry(b))(wrapGeometry(a))
  }
}

function setsPredicate({ relation, left, right }: ExpressionTest & { test: 'sets' }): Predicate {
  const [first, second] = [listOf(left), listOf(right)]
  return (row) => {
    const [a, b] = [first(row), second(row)]
    if (!a || !b) return null
    const isInFirst = (item: unknown): boolean => a.some((other) => jsonEquals(other, item))
    return relation === 'overlaps' ? b.some(isInFirst) : b.every(isInFirst)
  }
}

function listOf(operand: SetOperand): (row: ValueRow) => readonly unknown[] | null {
  if ('json' in operand) {
    const list: readonly unknown[] = JSON.parse(operand.json)
    return () => list
  }
  return (row) => {
    const list = valueAt(row, operand.attribute.name)
    return Array.isArray(list) ? list : null
  }
}

export const scalarReader = (attribute: Attribute, type: ScalarType) => (row: ValueRow) =>
  readScalar(type, valueAt(row, attribute.name))

export function readScalar(type: ScalarType, raw: unknown): Value | null {
  const text = raw === null ? undefined : canonicalText(type, raw)
  return text === undefined ? null : decodeValue(type, text)
}

/** Own properties only: an attribute may have the name of an inherited one, such as `constructor`. */
export const valueAt = (row: ValueRow, name: string): unknown => (Object.hasOwn(row, name) ? (row[name] ?? null) : null)
