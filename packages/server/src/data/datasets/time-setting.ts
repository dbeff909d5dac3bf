// The setting `metadata.time` of datasets: the attributes that hold the time of a row, which `time` and OGC's `datetime` select by.
import { invalid } from '../../kernel/errors.ts'
import { shortList } from '../../kernel/nearest-name.ts'
import { allOf, type Filter } from '../../query/filter/filter-tree.ts'
import { periodFilter, readPeriod } from '../../query/filter/time-period.ts'
import type { Plan } from '../../query/plan/plan.ts'
import type { Attributes } from '../../query/values/attribute.ts'

type Described = {
  readonly attributes: readonly { readonly name: string; readonly type: string }[]
  readonly metadata: Readonly<Record<string, unknown>>
}

/** The attributes that hold the time of a row: one for an instant, two for a period. */
export type TimeAttributes = { readonly start: string; readonly end: string }

const namesOf = ({ attributes }: Pick<Described, 'attributes'>): string[] =>
  attributes.flatMap(({ name, type }) => (type === 'date' || type === 'datetime' ? [name] : []))

/**
 * `metadata.time` is the name of an attribute, or `{start, end}`. Where it says nothing, the only attribute of type date or datetime is the time;
 * undefined if there are none or several, or if it names another.
 */
export function timeOf(dataset: Described): TimeAttributes | undefined {
  const { time } = dataset.metadata
  const names = namesOf(dataset)
  const [only, ...others] = names
  if (time === undefined || time === null) return only && others.length === 0 ? { start: only, end: only } : undefined
  const named = readSetting(time)
  return named && names.includes(named.start) && names.includes(named.end) ? named : undefined
}

function readSetting(time: unknown): TimeAttributes | undefined {
  if (typeof time === 'string') return { start: time, end: time }
  if (typeof time !== 'object' || time === null) return undefined
  const { start, end = start } = time as { start?: unknown; end?: unknown }
  return typeof start === 'string' && typeof end === 'string' ? { start, end } : undefined
}

/** The setting once an attribute has another name; undefined where it does not name it. */
export function renamedTime(time: unknown, from: string, to: string): string | TimeAttributes | undefined {
  const named = readSetting(time)
  if (!named || (named.start !== from && named.end !== from)) return undefined
  const renamed = (name: string): string => (name === from ? to : name)
  return typeof time === 'string' ? to : { start: renamed(named.start), end: renamed(named.end) }
}

/** Throws a 400 unless `metadata.time` is absent or names attributes of type date or datetime. */
export function checkTimeSetting({ attributes, metadata }: Described): void {
  const { time } = metadata
  if (time === undefined || time === null) return
  const path = 'body/metadata/time'
  const named = readSetting(time)
  if (!named) throw invalid(path, 'must be the name of an attribute, or {"start": name, "end": name}')
  const names = namesOf({ attributes })
  const wrong = [named.start, named.end].find((name) => !names.includes(name))
  if (wrong === undefined) return
  const allowed = names.length > 0 ? `Allowed: ${shortList(names)}.` : 'The dataset has none.'
  throw invalid(path, `must name attributes of type date or datetime, and "${wrong.slice(0, 80)}" is none. ${allowed}`)
}

type Timed = { readonly dataset: Described; readonly attributes: Attributes }

/** The plan of only those rows whose time meets the period, if one is given. Rows without a time meet none. */
export function duringTime(plan: Plan, text: string | undefined, timed: Timed, path = 'query/time'): Plan {
  if (text === undefined) return plan
  return { ...plan, where: allOf([plan.where, timeFilter(text, timed, path)]) }
}

function timeFilter(text: string, { dataset, attributes }: Timed, path: string): Filter {
  const period = readPeriod(text, path)
  const time = timeOf(dataset)
  const [start, end] = [time && attributes.get(time.start), time && attributes.get(time.end)]
  if (!start || !end) throw invalid(path, untimed(dataset))
  return periodFilter(period, { start, end, keepsUntimed: false }, path)
}

function untimed(dataset: Described): string {
  const names = namesOf(dataset)
  if (names.length === 0) return 'must not be given: the dataset has no attribute of type date or datetime'
  return `needs metadata.time of the dataset, which says which attribute holds the time: one of ${shortList(names)}`
}
