/**
 * What the rules of a dataset leave of it for a caller: the rows and attributes that may be seen, and what may be written. A dataset is narrowed
 * where it is looked up for a caller (`dataset-cache.ts`, `tile-source-cache.ts`), so that whoever gets one has only that part.
 */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../../../api/access/acl.ts'
import { allOf, anyOf, type Filter } from '../../../query/filter/filter-tree.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Attributes } from '../../../query/values/attribute.ts'
import { type AttributeDto, attributesOf } from '../attribute-dto.ts'
import type { Dataset } from '../dataset-record.ts'
import { isVariable, plainText, type ResolveValue, valuesOf } from './caller-values.ts'
import type { Narrowing, WriteRule } from './narrowing-type.ts'
import { type Rule, type Ruled, type RuleLevel, ruleLevels } from './rule.ts'
import { noRows, ruleFilter } from './rule-filter.ts'

type BoundBy = Pick<Caller, 'user' | 'bearer' | 'userId' | 'toolsOf'>

/** Whether somebody asks, and not only a key. */
export const isSomebody = ({ user, bearer, userId, toolsOf }: BoundBy): boolean =>
  [user, bearer, userId, toolsOf?.userId].some((one) => one !== null && one !== undefined)

/** Whether the dataset has rules that this caller follows. */
export const isBound = (caller: BoundBy, { rules, rulesFor }: Ruled): boolean =>
  Array.isArray(rules) && (rulesFor === 'all' || isSomebody(caller))

type Narrowed = { readonly dataset: Dataset; readonly attributes: Attributes }

const maxCallers = 1_000
/** By record and by what callers see of it. */
const narrowed = new WeakMap<Dataset, LRUCache<string, Dataset>>()

/** The dataset as the caller may see it; itself where no rules bind the caller. */
export function narrow<T extends Narrowed>(whole: T, caller: Caller): T {
  const { dataset } = whole
  if (!isBound(caller, dataset)) return whole
  const resolve = valuesOf(caller)
  const fitting = fittingRules(caller, dataset.rules ?? [])
  if (fitting.some(isWhole)) return whole
  const seen = JSON.stringify([fitting, [...variablesIn(fitting)].map((variable) => resolve(variable) ?? null)])
  const known = narrowed.get(dataset) ?? new LRUCache({ max: maxCallers })
  narrowed.set(dataset, known)
  const kept = known.get(seen) ?? narrowedDataset(dataset, fitting, resolve, seen)
  known.set(seen, kept)
  return { ...whole, dataset: kept, attributes: attributesOf(kept) }
}

const fittingRules = (caller: BoundBy, rules: readonly Rule[]): Rule[] => rules.filter((rule) => fits(rule, caller))

/** It grants everything. */
const isWhole = ({ where, attributes, set, levels }: Rule): boolean =>
  !where && !attributes && !set && new Set(levels).size === ruleLevels.length

/** Whether a rule leaves the caller all that the key grants. */
export const seesAll = (caller: BoundBy, rules: readonly Rule[]): boolean => fittingRules(caller, rules).some(isWhole)

function fits({ roles, users = 'signed-in' }: Rule, caller: BoundBy): boolean {
  if (users === 'signed-in' && !isSomebody(caller)) return false
  return roles === undefined || roles.some((role) => caller.user?.roles.includes(role))
}

function variablesIn(value: unknown, found = new Set<string>()): Set<string> {
  if (isVariable(value)) found.add(value)
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) variablesIn(item, found)
  return found
}

function narrowedDataset(dataset: Dataset, fitting: readonly Rule[], resolve: ResolveValue, seen: string): Dataset {
  const whole = attributesOf(dataset)
  const rowsOf = ({ where }: Rule): Filter => ruleFilter(where, whole, resolve)
  const at = (level: RuleLevel) => fitting.filter(({ levels }) => levels.includes(level))
  const writesAt = (level: RuleLevel): WriteRule[] =>
    at(level).map((rule) => ({
      rows: rowsOf(rule),
      attributes: rule.attributes && new Set(rule.attributes),
      set: setValues(rule.set, resolve),
    }))
  const reading = at('read').map((rule) => ({ ...rule, rows: rowsOf(rule) }))
  const isShown = (name: string) => (rule: Rule) => rule.attributes?.includes(name) ?? true
  const isSeen = ({ name }: AttributeDto): boolean => reading.some(isShown(name))
  // A part of a key tells rows apart no more.
  const isKeySeen = dataset.attributes.filter(({ primaryKey }) => primaryKey).every(isSeen)
  const seenOnes = dataset.attributes.filter(isSeen)
  const attributes = isKeySeen ? seenOnes : seenOnes.map((attribute) => ({ ...attribute, primaryKey: false }))
  const masks = attributes.flatMap(({ name }) => {
    const showing = reading.filter(isShown(name)).map(({ rows }) => rows)
    return showing.length === reading.length || showing.some(isEveryRow) ? [] : [[name, anyOf(showing)] as const]
  })
  const rows = reading.map((rule) => rule.rows)
  const narrowing: Narrowing = {
    digest: hash('sha256', `${dataset.revision} ${seen}`, 'base64url').slice(0, 22),
    rows: rows.some(isEveryRow) ? allOf([]) : rows.length === 0 ? noRows : anyOf(rows),
    masks: new Map(masks),
    whole,
    writes: { append: writesAt('append'), change: writesAt('change'), delete: writesAt('delete') },
  }
  return { ...dataset, attributes, narrowing }
}

const isEveryRow = (filter: Filter): boolean => filter.kind === 'and' && filter.filters.every(isEveryRow)

/** Of what the server writes. */
function writtenValue(value: unknown, resolve: ResolveValue): unknown {
  if (typeof value !== 'string') return value
  return isVariable(value) ? resolve(value) : plainText(value)
}

function setValues(set: Rule['set'] = {}, resolve: ResolveValue): WriteRule['set'] {
  const values = Object.entries(set).map(([name, value]) => [name, writtenValue(value, resolve)] as const)
  return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values)
}

/** The filter with the rows that may be seen. Where attributes are masked, the relation has these rows only, and no others to be left out. */
export function visibleRows({ narrowing }: Pick<Dataset, 'narrowing'>, where: Filter): Filter {
  if (!narrowing || narrowing.masks.size > 0 || isEveryRow(narrowing.rows)) return where
  return isEveryRow(where) ? narrowing.rows : allOf([narrowing.rows, where])
}

export const visiblePlan = (dataset: Pick<Dataset, 'narrowing'>, plan: Plan): Plan =>
  dataset.narrowing ? { ...plan, where: visibleRows(dataset, plan.where) } : plan
