/**
 * A rule while its form is open. What the form has not changed stays in the rule as it was, so that nothing is lost that the form would write
 * in another way.
 */
import { prettyJson } from '../../../../components/code-editor/pretty-json.ts'
import { isEqual } from '../../settings/merge-patch.ts'
import { type Rule, type RuleLevel, ruleLevels } from '../rule.ts'
import { readConditions, writeConditions } from '../rule-conditions.ts'
import {
  type Attributes,
  conditionDraftOf,
  conditionOf,
  newCondition,
  type Reading,
  type RuleConditionDraft,
  readObject,
} from './condition-draft.ts'
import { type SetDraft, setDraftsOf, setOf } from './set-draft.ts'

export type Who = 'roles' | 'signed-in' | 'anyone'

export interface RowsDraft {
  kind: 'all' | 'conditions' | 'json'
  join: 'all' | 'any'
  conditions: readonly RuleConditionDraft[]
  json: string
}

export interface RuleDraft {
  who: Who
  roles: readonly string[]
  levels: readonly RuleLevel[]
  rows: RowsDraft
  /** Null: all. */
  attributes: readonly string[] | null
  set: readonly SetDraft[]
}

// ---- from a rule

export const draftOf = (rule: Rule, all: Attributes): RuleDraft => ({
  who: rule.roles ? 'roles' : (rule.users ?? 'signed-in'),
  roles: rule.roles ?? [],
  levels: ruleLevels.filter((level) => rule.levels.includes(level)),
  rows: rowsDraftOf(rule.where, all),
  attributes: rule.attributes ?? null,
  set: setDraftsOf(rule.set, all),
})

function rowsDraftOf(where: Rule['where'], all: Attributes): RowsDraft {
  const read = readConditions(where, new Map(all.map(({ name, type }) => [name, type])))
  const json = prettyJson(where ?? {})
  if (!read) return { kind: 'json', join: 'all', conditions: [], json }
  const conditions = read.conditions.flatMap((one) => conditionDraftOf(one, all))
  return { kind: conditions.length > 0 ? 'conditions' : 'all', join: read.join, conditions, json }
}

// ---- to a rule

export function ruleOf(draft: RuleDraft, base: Rule, all: Attributes): Reading<Rule> {
  const before = draftOf(base, all)
  const isKept = (...parts: (keyof RuleDraft)[]) => parts.every((part) => isEqual(before[part], draft[part]))
  const where = isKept('rows') ? { value: base.where } : whereOf(draft.rows)
  const set = isKept('set') ? { value: base.set } : setOf(draft.set)
  const missing = missingOf(draft) ?? missingIn(where) ?? missingIn(set)
  if (missing !== undefined || 'missing' in where || 'missing' in set) return { missing: missing ?? '' }
  const { roles, users } = isKept('who', 'roles') ? base : whoOf(draft)
  return {
    value: {
      ...(roles && { roles }),
      ...(users && { users }),
      levels: isKept('levels') ? base.levels : [...draft.levels],
      ...(where.value && (isKept('rows') || Object.keys(where.value).length > 0) && { where: where.value }),
      ...(draft.attributes && { attributes: [...draft.attributes] }),
      ...(set.value && (isKept('set') || draft.set.length > 0) && { set: set.value }),
    },
  }
}

const missingIn = (read: Reading<unknown>): string | undefined => ('missing' in read ? read.missing : undefined)

function missingOf({ who, roles, levels, attributes, set }: RuleDraft): string | undefined {
  if (who === 'roles' && roles.length === 0) return 'Choose a role, or somebody else.'
  if (levels.length === 0) return 'Choose what they may do.'
  if (attributes?.length === 0) return 'Choose an attribute, or all.'
  if (set.length > 0 && !isWriting(levels)) return 'Values are only written where rows are added or changed.'
  return undefined
}

export const isWriting = (levels: readonly RuleLevel[]): boolean =>
  levels.includes('append') || levels.includes('change')

const whoOf = ({ who, roles }: RuleDraft): Pick<Rule, 'roles' | 'users'> => {
  if (who === 'roles') return { roles: [...roles] }
  return who === 'anyone' ? { users: 'anyone' } : {}
}

function whereOf({ kind, join, conditions, json }: RowsDraft): Reading<Rule['where']> {
  if (kind === 'all') return { value: undefined }
  if (kind === 'json') return readObject(json)
  const read = conditions.map(conditionOf)
  const missing = read.map(missingIn).find((one) => one !== undefined)
  if (missing !== undefined) return { missing }
  return { value: writeConditions({ join, conditions: read.flatMap((one) => ('value' in one ? [one.value] : [])) }) }
}

/** The same rows in another form; undefined if that form cannot say them. */
export function rowsAs(kind: RowsDraft['kind'], rows: RowsDraft, all: Attributes): RowsDraft | undefined {
  if (kind === rows.kind) return rows
  const isKept = rows.kind === 'all' && rows.conditions.length > 0
  if (kind === 'all' || (kind === 'conditions' && isKept)) return { ...rows, kind }
  const where = rows.kind === 'all' ? { value: {} } : whereOf(rows)
  if ('missing' in where) return kind === 'json' ? { ...rows, kind } : undefined
  if (kind === 'json') return { ...rows, kind, json: prettyJson(where.value ?? {}) }
  const read = rowsDraftOf(where.value, all)
  if (read.kind === 'json') return undefined
  const [first] = all
  return { ...read, kind, conditions: read.conditions.length > 0 || !first ? read.conditions : [newCondition(first)] }
}
