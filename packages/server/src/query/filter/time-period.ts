// Periods of time as requests write them, and the filter for rows whose time meets one.
import { type ApiError, invalid } from '../../kernel/errors.ts'
import type { Attribute } from '../values/attribute.ts'
import { canonicalText } from '../values/value.ts'
import { allOf, type Filter, isNull, not, orNull } from './filter-tree.ts'
import { applyOperator } from './operator.ts'

/** Texts of datetimes in UTC; an absent side is open. `to` is a part of the period only where an instant was written. */
export type TimePeriod = {
  readonly from?: string
  readonly to?: { readonly at: string; readonly isIncluded: boolean }
}

const form =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?(Z|[+ -]\d\d(?::?\d\d)?)?)?)?)?$/i

/**
 * `2024`, `2024-03`, `2024-03-31`, `2024-03-31T12` and `2024-03-31T12:30` are whole years, months, days, hours and minutes, with seconds it is
 * an instant. Two of them with a slash between are everything from the beginning of the first to the end of the second; `..` or nothing on
 * one side is open. Without a zone times are in UTC.
 */
export function readPeriod(text: string, path: string): TimePeriod {
  const parts = text.split('/')
  const isOpen = (part: string): boolean => parts.length === 2 && (part === '' || part === '..')
  if (parts.length > 2 || parts.every(isOpen)) throw malformed(text, path)
  const moments = parts.map((part) => (isOpen(part) ? undefined : readMoment(part, text, path)))
  const [first, last] = [moments[0], moments.at(-1)]
  if (first && last && (last.from < first.from || (last.from === first.from && last.to.at < first.to.at))) {
    throw invalid(path, 'must begin before it ends')
  }
  return { ...(first && { from: first.from }), ...(last && { to: last.to }) }
}

const malformed = (text: string, path: string): ApiError =>
  invalid(
    path,
    'must be a year, month, day, hour or instant, or two of them with a slash between, such as 2024, 2024-03, 2024-03-31, ' +
      `2024-03-31T12:00:00Z, 2024-01/2024-03 or ../2024, not "${text.slice(0, 80)}"`,
  )

/** The last time that has a text. */
const lastTime = { at: '9999-12-31T23:59:59.999999Z', isIncluded: true }

function readMoment(part: string, text: string, path: string): Required<TimePeriod> {
  const [, year = '', month, day, hour, minute, second, fraction = '', zone = 'Z'] = form.exec(part) ?? []
  // A plus that was not encoded arrives as a blank.
  const offset = zone.replace(' ', '+')
  const at = (y: string, m = '01', d = '01', h = '00', min = '00', s = '00', f = '0'): string | undefined =>
    canonicalText('datetime', `${y}-${m}-${d}T${h}:${min}:${s}.${f}${offset}`)
  const from = at(year, month, day, hour, minute, second, fraction || '0')
  if (from === undefined) throw malformed(text, path)
  if (second !== undefined) return { from, to: { at: from, isIncluded: true } }
  const end = new Date(from)
  if (minute !== undefined) end.setUTCMinutes(end.getUTCMinutes() + 1)
  else if (hour !== undefined) end.setUTCHours(end.getUTCHours() + 1)
  else if (day !== undefined) end.setUTCDate(end.getUTCDate() + 1)
  else if (month !== undefined) end.setUTCMonth(end.getUTCMonth() + 1)
  else end.setUTCFullYear(end.getUTCFullYear() + 1)
  const to = canonicalText('datetime', end.toISOString())
  return { from, to: to === undefined ? lastTime : { at: to, isIncluded: false } }
}

export type TimedRows = {
  /** The attributes of the beginning and the end; of an instant the same. */
  readonly start: Attribute
  readonly end: Attribute
  /** Whether rows without a time meet every period. */
  readonly keepsUntimed: boolean
}

/** The rows whose time meets the period. A time that has only a beginning or only an end is open on the other side. */
export function periodFilter({ from, to }: TimePeriod, { start, end, keepsUntimed }: TimedRows, path: string): Filter {
  const isInstant = start.name === end.name
  const orOpen = isInstant && !keepsUntimed ? (_: Attribute, filter: Filter) => filter : orNull
  return allOf([
    ...(to === undefined ? [] : [orOpen(start, endsAfter(start, to, path))]),
    ...(from === undefined ? [] : [orOpen(end, compare(end, '$gte', from, path))]),
    ...(isInstant || keepsUntimed ? [] : [not(allOf([isNull(start), isNull(end)]))]),
  ])
}

/** A day that begins before the period ends has a part of it. */
function endsAfter(attribute: Attribute, { at, isIncluded }: Required<TimePeriod>['to'], path: string): Filter {
  const isMidnight = at.endsWith('T00:00:00.000000Z')
  const isPart = isIncluded || (attribute.type === 'date' && !isMidnight)
  return compare(attribute, isPart ? '$lte' : '$lt', at, path)
}

/** A date column is compared by days. */
const compare = (attribute: Attribute, operator: string, at: string, path: string): Filter =>
  applyOperator(operator, { attribute, value: attribute.type === 'date' ? at.slice(0, 10) : at, path })
