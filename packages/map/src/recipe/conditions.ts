/** Compiles the conditions of a layer's filter to a MapLibre expression. */

import type { LayerCondition, Operator } from './recipe.ts'
import { isNumeric } from './recipe.ts'

type Expression = [string, ...unknown[]]

const value = (attribute: string): Expression => ['get', attribute]
/** True for missing and null. Not `has`, which MapLibre reads as a legacy filter for an attribute named `$type`. */
export const isEmpty = (attribute: string): Expression => ['==', ['typeof', value(attribute)], 'null']
const text = (attribute: string): Expression => ['to-string', value(attribute)]

const comparisons: Partial<Record<Operator, string>> = {
  '=': '==',
  '≠': '!=',
  '<': '<',
  '≤': '<=',
  '>': '>',
  '≥': '>=',
}

/** The operators of a type. */
export function operatorsFor(type: LayerCondition['type']): Operator[] {
  if (type === 'boolean') return ['=', '≠', 'is empty', 'is not empty']
  if (type === 'string') return ['=', '≠', 'contains', 'is empty', 'is not empty']
  return ['=', '≠', '<', '≤', '>', '≥', 'is empty', 'is not empty']
}

export const needsValue = (operator: Operator): boolean => operator !== 'is empty' && operator !== 'is not empty'

/** Whether the condition has a valid value. */
export function isComplete({ type, operator, value: text }: LayerCondition): boolean {
  if (!needsValue(operator)) return true
  if (isNumeric(type)) return text.trim() !== '' && Number.isFinite(Number(text))
  return text !== ''
}

/** The conjunction of the complete conditions; undefined if there are none. */
export function filterOf(conditions: readonly LayerCondition[]): Expression | undefined {
  const parts = conditions.filter(isComplete).map(expressionOf)
  return parts.length > 1 ? ['all', ...parts] : parts[0]
}

function expressionOf({ attribute, type, operator, value: operand }: LayerCondition): Expression {
  if (operator === 'is empty') return isEmpty(attribute)
  if (operator === 'is not empty') return ['!', isEmpty(attribute)]
  if (operator === 'contains') return ['in', operand.toLowerCase(), ['downcase', text(attribute)]]
  const comparison = comparisons[operator] ?? '=='
  // Dates in tiles are ISO strings, which sort chronologically.
  const compared: Expression = isNumeric(type)
    ? [comparison, ['to-number', value(attribute)], Number(operand)]
    : [comparison, text(attribute), operand]
  // Otherwise a missing value would be compared as 0 or an empty string.
  return operator === '≠' ? ['any', isEmpty(attribute), compared] : ['all', ['!', isEmpty(attribute)], compared]
}

export type ServerFilter = Readonly<Record<string, unknown>>

/** The same conditions in the grammar of the server, for rows that it counts; undefined if there are none. */
export function serverFilterOf(conditions: readonly LayerCondition[]): ServerFilter | undefined {
  const parts = conditions.filter(isComplete).map(serverCondition)
  return parts.length > 1 ? { $and: parts } : parts[0]
}

const serverOperators: Partial<Record<Operator, string>> = {
  '=': '$eq',
  '≠': '$ne',
  '<': '$lt',
  '≤': '$lte',
  '>': '$gt',
  '≥': '$gte',
}

function serverCondition({ attribute, type, operator, value: operand }: LayerCondition): ServerFilter {
  if (operator === 'is empty') return { [attribute]: null }
  if (operator === 'is not empty') return { $not: { [attribute]: null } }
  if (operator === 'contains') return { [attribute]: { $iLike: `%${operand.replaceAll(/[\\%_]/g, '\\$&')}%` } }
  const typed = isNumeric(type) ? Number(operand) : type === 'boolean' ? operand === 'true' : operand
  const compared = { [attribute]: { [serverOperators[operator] ?? '$eq']: typed } }
  return operator === '≠' ? { $or: [compared, { [attribute]: null }] } : compared
}
