/**
 * The `where` of a rule as a list of conditions, and back. What a list of conditions cannot say (nesting, other operators) is not read, and
 * stays JSON.
 */
import type { JsonObject } from '@graticule/client'
import type { ColumnType } from '../attribute.ts'
import { fromWhere, isCustom, toWhere } from '../filter.ts'
import type { Scalar } from '../operators.ts'
import { type CallerValue, looksVariable, readCallerValue, variableOf } from './caller-value.ts'
import { isFilterOperator, type RuleOperator, ruleOperatorNames, ruleOperators } from './rule-operators.ts'

export interface RuleCondition {
  attribute: string
  operator: RuleOperator
  /** Fixed values, or one of the caller. */
  values: readonly Scalar[] | CallerValue
}

export interface RuleConditions {
  /** Whether all of them must hold, or any. */
  join: 'all' | 'any'
  conditions: readonly RuleCondition[]
}

export const isOfCaller = (values: RuleCondition['values']): values is CallerValue => !Array.isArray(values)

type Types = ReadonlyMap<string, ColumnType>
type Member = readonly [name: string, expression: unknown]

// ---- from `where`

/** Undefined if it is more than a list of conditions. */
export function readConditions(where: JsonObject | undefined, types: Types): RuleConditions | undefined {
  const members = membersOf(where ?? {})
  const [first, ...others] = members
  const alternatives = first?.[0] === '$or' && others.length === 0 ? alternativesOf(first[1]) : undefined
  const conditions = (alternatives ?? members).map((member) => readCondition(member, types))
  if (!conditions.every((one) => one !== undefined)) return undefined
  return { join: alternatives ? 'any' : 'all', conditions }
}

/** One member for each attribute and operator. What is none of these remains under a name that no attribute has. */
function membersOf(where: JsonObject): Member[] {
  return Object.entries(where).flatMap(([name, value]): Member[] => {
    if (name === '$and' && Array.isArray(value) && value.every(isObject)) return value.flatMap(membersOf)
    if (name.startsWith('$') || !isObject(value) || Object.keys(value).length === 0) return [[name, value]]
    return Object.entries(value).map(([operator, operand]) => [name, { [operator]: operand }])
  })
}

function alternativesOf(value: unknown): Member[] | undefined {
  if (!Array.isArray(value) || value.length < 2 || !value.every(isObject)) return undefined
  const members = value.map(membersOf)
  return members.every(({ length }) => length === 1) ? members.flat() : undefined
}

function readCondition([attribute, expression]: Member, types: Types): RuleCondition | undefined {
  const type = types.get(attribute)
  if (!type) return undefined
  if (holdsVariable(expression)) return readCallerCondition(attribute, type, expression)
  const [part, ...others] = fromWhere({ [attribute]: mapTexts(expression, plainText) } as JsonObject, types)
  if (!part || others.length > 0 || isCustom(part)) return undefined
  const [condition] = part.any
  if (!condition || condition.operator === 'inBox') return undefined
  return { attribute, operator: condition.operator, values: condition.values }
}

function readCallerCondition(attribute: string, type: ColumnType, expression: unknown): RuleCondition | undefined {
  const [key, operand] = isObject(expression) ? (Object.entries(expression)[0] ?? []) : [undefined, expression]
  const values = readCallerValue(operand)
  if (!values) return undefined
  // Without an operator a list of the caller's means one of them; with `$eq` it does not.
  if (key === '$eq' && values.source !== 'email' && values.source !== 'id') return undefined
  const operator = ruleOperatorNames.find((name) => {
    const one = ruleOperators[name]
    return one.takesCaller && one.key === (key ?? '$eq') && one.types.includes(type)
  })
  return operator && { attribute, operator, values }
}

// ---- to `where`

export function writeConditions({ join, conditions }: RuleConditions): JsonObject | undefined {
  const objects = conditions.map(conditionObject)
  if (join === 'any' && objects.length > 1) return { $or: objects }
  return toWhere(objects.map((custom) => ({ custom })))
}

function conditionObject({ attribute, operator, values }: RuleCondition): JsonObject {
  const { key } = ruleOperators[operator]
  if (isOfCaller(values)) {
    const variable = variableOf(values)
    return { [attribute]: operator === 'is' ? variable : { [key]: variable } }
  }
  const [value = ''] = values
  if (operator === 'is') return { [attribute]: escapedText(value) }
  if (!isFilterOperator(operator)) return {}
  return mapTexts(toWhere([{ any: [{ attribute, operator, values }] }]), escapedText) as JsonObject
}

// ---- texts that begin with a dollar

const plainText = (text: unknown): unknown => (typeof text === 'string' && text.startsWith('$$') ? text.slice(1) : text)
const escapedText = (text: unknown): unknown => (typeof text === 'string' && text.startsWith('$') ? `$${text}` : text)

function mapTexts(value: unknown, map: (text: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (!isObject(value)) return map(value)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, map)]))
}

const holdsVariable = (value: unknown): boolean =>
  looksVariable(value) || (typeof value === 'object' && value !== null && Object.values(value).some(holdsVariable))

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
