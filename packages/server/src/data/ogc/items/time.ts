// The time of a feature, which `metadata.time` of its dataset declares, and the `datetime` parameter on it.
import { invalid } from '../../../kernel/errors.ts'
import { allOf, anyOf, type Filter } from '../../../query/filter/filter-tree.ts'
import { applyOperator } from '../../../query/filter/operator.ts'
import type { Attribute, Attributes } from '../../../query/values/attribute.ts'

type Described = {
  readonly attributes: readonly { readonly name: string; readonly type: string }[]
  readonly metadata: Readonly<Record<string, unknown>>
}

/** The attributes that hold the time of a feature: one for an instant, two for a period. */
export type TimeAttributes = { readonly start: string; readonly end: string }

/** `metadata.time` is the name of an attribute, or `{start, end}`; undefined if it names none of type date or datetime. */
export function timeOf({ attributes, metadata: { time } }: Described): TimeAttributes | undefined {
  const isTime = (name: unknown): name is string =>
    attributes.some((attribute) => attribute.name === name && /^date(time)?$/.test(attribute.type))
  if (isTime(time)) return { start: time, end: time }
  if (typeof time !== 'object' || time === null) return undefined
  const { start, end = start } = time as { start?: unknown; end?: unknown }
  return isTime(start) && isTime(end) ? { start, end } : undefined
}

/** An instant, a day or a period; `..` and nothing are open ends. */
type Period = { readonly from: string | undefined; readonly to: string | undefined }

const instant = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))?$/i
const path = 'query/datetime'

function readPeriod(text: string): Period {
  const parts = text.split('/')
  const [from = '', to = from] = parts
  const isOpen = (part: string) => parts.length === 2 && (part === '' || part === '..')
  const isValid = parts.length <= 2 && parts.every((part) => isOpen(part) || isInstant(part))
  if (!isValid || parts.every(isOpen)) throw malformed()
  const period = { from: isOpen(from) ? undefined : from, to: isOpen(to) ? undefined : to }
  if (period.from && period.to && Date.parse(startOf(period.from)) > Date.parse(endOf(period.to))) {
    throw invalid(path, 'must begin before it ends')
  }
  return period
}

const isInstant = (text: string): boolean => instant.test(text) && !Number.isNaN(Date.parse(text))

const malformed = () =>
  invalid(
    path,
    'must be a time such as 2026-01-31T12:00:00Z, a day, or a period such as 2026-01-01/2026-01-31 or ../2026',
  )

const startOf = (text: string): string => (text.includes('T') || text.includes('t') ? text : `${text}T00:00:00Z`)
const endOf = (text: string): string => (startOf(text) === text ? text : `${text}T23:59:59.999999Z`)

/** The features whose time intersects the period. Features without a time match every period. */
export function datetimeFilter(text: string, time: TimeAttributes | undefined, attributes: Attributes): Filter {
  const { from, to } = readPeriod(text)
  const [start, end] = [time && attributes.get(time.start), time && attributes.get(time.end)]
  if (!start || !end) return allOf([])
  return allOf([
    ...(to === undefined ? [] : [orNull(start, compare(start, '$lte', boundFor(start, endOf(to))))]),
    ...(from === undefined ? [] : [orNull(end, compare(end, '$gte', boundFor(end, startOf(from))))]),
  ])
}

/** A date column is compared by days. */
const boundFor = ({ type }: Attribute, time: string): string =>
  type === 'date' ? new Date(time).toISOString().slice(0, 10) : time

const compare = (attribute: Attribute, operator: string, value: string): Filter =>
  applyOperator(operator, { attribute, value, path })

export const orNull = (attribute: Attribute, filter: Filter): Filter =>
  anyOf([filter, { kind: 'is', attribute, value: null }])
