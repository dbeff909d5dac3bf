/** A rule as a sentence: "Users with the role surveyor see and change rows where owner is their e-mail; …". */
import type { JsonObject } from '@graticule/client'
import type { ColumnType } from '../attribute.ts'
import { type Scalar, showValue } from '../operators.ts'
import { callerWords, readCallerValue } from './caller-value.ts'
import type { Rule, RuleLevel } from './rule.ts'
import { isOfCaller, type RuleCondition, readConditions } from './rule-conditions.ts'
import { ruleOperators } from './rule-operators.ts'

type Types = ReadonlyMap<string, ColumnType>

export const ruleSentence = (rule: Rule, types: Types): string => `${whoWords(rule)} ${grantWords(rule, types)}`

/** What follows after who it is for. */
export function grantWords({ levels, where, attributes, set }: Rule, types: Types): string {
  const parts = [
    `${listWords(levelWords(levels), 'and')} ${rowWords(levels, where, types)}`,
    attributes && `of these they ${attributeVerb(levels)} ${attributes.join(', ') || 'no attribute'}`,
    set && Object.keys(set).length > 0 && `the server writes ${setWords(set)}`,
  ]
  return `${parts.filter(Boolean).join('; ')}.`
}

/** Nobody adds all rows. */
function rowWords(levels: readonly RuleLevel[], where: Rule['where'], types: Types): string {
  if (where && Object.keys(where).length > 0) return `rows where ${whereWords(where, types)}`
  return levels.every((level) => level === 'append') ? 'rows' : 'all rows'
}

export function whoWords({ roles, users }: Pick<Rule, 'roles' | 'users'>): string {
  if (roles === undefined) return users === 'anyone' ? 'All callers, also keys without a user,' : 'Signed-in users'
  if (roles.length === 0) return 'No users (no role is named)'
  return roles.length === 1
    ? `Users with the role ${roles[0]}`
    : `Users with one of the roles ${listWords(roles, 'or')}`
}

const verbs: Readonly<Record<RuleLevel, string>> = { read: 'see', append: 'add', change: 'change', delete: 'delete' }

const levelWords = (levels: readonly RuleLevel[]): string[] =>
  Object.entries(verbs).flatMap(([level, verb]) => (levels.includes(level as RuleLevel) ? [verb] : []))

function attributeVerb(levels: readonly RuleLevel[]): string {
  const isWritten = levels.includes('append') || levels.includes('change')
  if (!isWritten) return 'see'
  return levels.includes('read') ? 'see and write' : 'write'
}

const setWords = (set: JsonObject): string =>
  listWords(
    Object.entries(set).map(([name, value]) => `${name} = ${valueWords(value)}`),
    'and',
  )

function valueWords(value: unknown): string {
  const ofCaller = readCallerValue(value)
  if (ofCaller) return callerWords(ofCaller)
  return typeof value === 'string' ? showValue('string', value) : shortened(JSON.stringify(value))
}

// ---- conditions

function whereWords(where: JsonObject, types: Types): string {
  const read = readConditions(where, types)
  if (!read) return nestedWords(where, types)
  return read.conditions.map((one) => conditionWords(one, types)).join(read.join === 'all' ? ' and ' : ' or ')
}

function nestedWords(where: JsonObject, types: Types): string {
  return Object.entries(where)
    .map(([name, value]) => memberWords(name, value, types))
    .join(' and ')
}

function memberWords(name: string, value: JsonObject[string], types: Types): string {
  if (name === '$not' && isObject(value)) return `not (${whereWords(value, types)})`
  const items = Array.isArray(value) && value.length > 0 && value.every(isObject) ? value : undefined
  if (items && (name === '$or' || name === '$and')) {
    const words = items.map((item) => whereWords(item, types))
    return items.length === 1 ? words.join('') : `(${words.join(name === '$or' ? ' or ' : ' and ')})`
  }
  return readConditions({ [name]: value }, types)
    ? whereWords({ [name]: value }, types)
    : `${name} ${shortened(JSON.stringify(value))}`
}

function conditionWords({ attribute, operator, values }: RuleCondition, types: Types): string {
  const { label, takes } = ruleOperators[operator]
  if (isOfCaller(values)) return `${attribute} ${label} ${afterLabel(label, callerWords(values))}`
  const shown = values.map((value: Scalar) => showValue(types.get(attribute) ?? 'string', value))
  if (takes === 'none') return `${attribute} ${label}`
  return `${attribute} ${label} ${takes === 'two' ? shown.join(' and ') : shown.join(', ')}`
}

/** "team is one of their roles", and not "is one of one of". */
const afterLabel = (label: string, words: string): string =>
  label.endsWith('one of') || label.endsWith('none of') ? words.replace(/^one of /, '') : words

function listWords(words: readonly string[], last: 'and' | 'or'): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}

const longest = 80
const shortened = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text)

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
