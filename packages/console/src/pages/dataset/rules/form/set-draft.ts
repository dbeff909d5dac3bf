/** A value that the server writes, while it is typed. */
import { isNumeric } from '@graticule/map/recipe'
import type { DatasetAttribute } from '../../dataset.ts'
import { parseValue } from '../../operators.ts'
import { readCallerValue, variableOf } from '../caller-value.ts'
import type { Rule } from '../rule.ts'
import { type Attributes, noOperand, type Operand, type Reading, readMember } from './condition-draft.ts'

export interface SetDraft extends Operand {
  attribute: DatasetAttribute
}

export const newSetValue = (attribute: DatasetAttribute): SetDraft => ({ ...noOperand, attribute, source: 'email' })

export const setDraftsOf = (set: Rule['set'], all: Attributes): SetDraft[] =>
  Object.entries(set ?? {}).flatMap(([name, value]) => {
    const attribute = all.find((one) => one.name === name)
    if (!attribute) return []
    const ofCaller = readCallerValue(value)
    const operand = ofCaller ? { ...ofCaller, texts: [] } : { ...noOperand, texts: [textOf(attribute, value)] }
    return [{ attribute, ...operand }]
  })

const isJson = ({ type }: DatasetAttribute): boolean => ['json', 'array', 'geometry'].includes(type)

const textOf = (attribute: DatasetAttribute, value: unknown): string =>
  typeof value === 'string' && !isJson(attribute) ? value : JSON.stringify(value)

export function setOf(drafts: readonly SetDraft[]): Reading<NonNullable<Rule['set']>> {
  const set: NonNullable<Rule['set']> = {}
  for (const draft of drafts) {
    const { name } = draft.attribute
    if (name in set) return { missing: `${name} is written twice.` }
    const read = setValueOf(draft)
    if ('missing' in read) return { missing: `${name}: ${read.missing}` }
    set[name] = read.value as (typeof set)[string]
  }
  return { value: set }
}

function setValueOf({ attribute, source, path, texts }: SetDraft): Reading<unknown> {
  const [text = ''] = texts
  if (source !== 'value') {
    const read = readMember(source, path)
    return 'missing' in read ? read : { value: variableOf(read.value) }
  }
  if (attribute.type === 'string') return { value: text }
  if (isJson(attribute)) return readJson(text)
  if (text === 'null') return { value: null }
  const read = parseValue(attribute.type, text)
  return 'error' in read ? { missing: read.error } : read
}

function readJson(text: string): Reading<unknown> {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { missing: 'Must be JSON, such as ["a"] or {"a": 1}.' }
  }
}

export const setHint = (attribute: DatasetAttribute): string => {
  if (isJson(attribute)) return 'as JSON'
  return isNumeric(attribute.type) ? 'a number' : 'Value'
}
