/** A condition of a rule while it is typed. */
import type { JsonObject } from '@graticule/client'
import type { DatasetAttribute } from '../../dataset.ts'
import { parseValue, type Scalar } from '../../operators.ts'
import { type CallerSource, callerSources } from '../caller-value.ts'
import { isOfCaller, type RuleCondition } from '../rule-conditions.ts'
import { firstRuleOperator, type RuleOperator, ruleOperators } from '../rule-operators.ts'

export type Attributes = readonly DatasetAttribute[]

/** What is compared with or written: a fixed value, or one of the caller. */
export interface Operand {
  source: 'value' | CallerSource
  path: string
  texts: readonly string[]
}

export interface RuleConditionDraft extends Operand {
  attribute: DatasetAttribute
  operator: RuleOperator
}

export type Reading<T> = { value: T } | { missing: string }

export const noOperand: Operand = { source: 'value', path: '', texts: [] }

export const newCondition = (attribute: DatasetAttribute): RuleConditionDraft =>
  withOperator({ ...noOperand, attribute, operator: 'is' }, firstRuleOperator(attribute.type))

/** Keeps of the operand what the operator takes. */
export function withOperator(draft: RuleConditionDraft, operator: RuleOperator): RuleConditionDraft {
  const { takes, takesCaller } = ruleOperators[operator]
  if (takes === 'caller' && draft.source === 'value') return { ...draft, operator, source: 'metadata', texts: [] }
  if (!takesCaller && draft.source !== 'value') return { ...draft, ...noOperand, operator }
  const most = { none: 0, one: 1, two: 2, list: draft.texts.length, caller: 0 }[takes]
  return { ...draft, operator, texts: draft.texts.slice(0, most) }
}

export function conditionDraftOf(
  { attribute, operator, values }: RuleCondition,
  all: Attributes,
): RuleConditionDraft[] {
  const column = all.find(({ name }) => name === attribute)
  if (!column) return []
  const operand = isOfCaller(values) ? { ...values, texts: [] } : { ...noOperand, texts: values.map(String) }
  return [{ attribute: column, operator, ...operand }]
}

export function conditionOf(draft: RuleConditionDraft): Reading<RuleCondition> {
  const { attribute, operator } = draft
  const read = valuesOf(draft)
  if ('missing' in read) return { missing: `${attribute.name}: ${read.missing}` }
  return { value: { attribute: attribute.name, operator, values: read.value } }
}

function valuesOf({ attribute, operator, source, path, texts }: RuleConditionDraft): Reading<RuleCondition['values']> {
  const { takes } = ruleOperators[operator]
  if (takes === 'none') return { value: [] }
  if (source !== 'value') return readMember(source, path)
  const count = { one: 1, two: 2, list: Math.max(1, texts.length), caller: 0 }[takes]
  const read = Array.from({ length: count }, (_, at) => parseValue(attribute.type, texts[at] ?? ''))
  const wrong = read.find((one) => 'error' in one)
  if (wrong) return { missing: wrong.error }
  return { value: read.flatMap((one): Scalar[] => ('value' in one ? [one.value] : [])) }
}

export function readMember(source: CallerSource, path: string): Reading<{ source: CallerSource; path: string }> {
  if (!callerSources[source].hasMembers) return { value: { source, path: '' } }
  return path.trim() === '' ? { missing: 'Say which one, such as team.' } : { value: { source, path: path.trim() } }
}

/** An object in JSON. */
export function readObject(text: string): Reading<JsonObject> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value: value as JsonObject }
    return { missing: 'The conditions must be an object such as {"owner": "$user.email"}.' }
  } catch {
    return { missing: 'The conditions are not valid JSON yet.' }
  }
}
