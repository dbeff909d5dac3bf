// Statistics of a sampled column: frequencies, distinct count (Haas-Stokes), quantiles, histogram.
import type { AttributeType } from '../../../query/values/attribute.ts'
import { compareValues } from '../../../query/values/value.ts'
import { type CalendarUnit, calendarBins } from './calendar-bins.ts'
import {
  type ColumnSample,
  type CountedValue,
  type JsonValue,
  jsonValue,
  type OrderKey,
  orderKey,
} from './column-sample.ts'

/** A value and how often it occurs. */
export type Frequent = { value: JsonValue; count: number }
export type Quantile = { p: number; value: JsonValue }
export type Bin = { from: JsonValue; to: JsonValue; count: number }

const mostFrequent = 20

/**
 * The most frequent values, ties in sort order. They are inserted into a short list, because sorting 10 000 texts that
 * all occur once takes 80 ms, and this takes a few.
 */
export function frequentValues({ values, isSorted }: ColumnSample): Frequent[] {
  const comesBefore = isSorted ? isMoreFrequent : isMoreFrequentOrLess
  const top: Frequent[] = []
  for (const { value, count } of values) {
    const one = { value, count }
    const last = top[mostFrequent - 1]
    if (last && !comesBefore(one, last)) continue
    const place = top.findIndex((other) => comesBefore(one, other))
    top.splice(place === -1 ? top.length : place, 0, one)
    top.length = Math.min(top.length, mostFrequent)
  }
  return top
}

const isMoreFrequent = (one: Frequent, other: Frequent): boolean => one.count > other.count

const isMoreFrequentOrLess = (one: Frequent, other: Frequent): boolean =>
  one.count === other.count ? compareValues(one.value, other.value) < 0 : isMoreFrequent(one, other)

/**
 * Estimates the number of distinct values among `total` rows with the Haas-Stokes estimator of PostgreSQL's ANALYZE: n
 * sampled rows with d values, f of them seen once, give n·d / (n − f + f·n/N).
 */
export function distinctValues(values: readonly CountedValue[], total: number): number {
  const sampled = countOf(values)
  if (sampled === 0 || total <= sampled) return values.length
  const once = values.filter(({ count }) => count === 1).length
  const estimate = (sampled * values.length) / (sampled - once + (once * sampled) / total)
  return Math.round(Math.min(total, Math.max(values.length, estimate)))
}

const countOf = (values: readonly CountedValue[]): number => values.reduce((sum, { count }) => sum + count, 0)

type Ordered = CountedValue & { readonly key: OrderKey }

/** The values that have a place in the order. */
export const inOrder = (values: readonly CountedValue[]): Ordered[] =>
  values.filter((one): one is Ordered => one.key !== undefined)

/** Quantiles like percentile_disc: each is a value of the column. */
export function quantilesOf(sorted: readonly Ordered[], parts: number): Quantile[] {
  const [first] = sorted
  if (!first) return []
  const total = countOf(sorted)
  let index = 0
  let passed = first.count
  return Array.from({ length: parts + 1 }, (_, part) => {
    while (passed < (part * total) / parts && index < sorted.length - 1) passed += sorted[++index]?.count ?? 0
    return { p: part / parts, value: (sorted[index] ?? first).value }
  })
}

/** The smallest step of integers, so that every bin holds as many of them. */
const steps: { readonly [type in AttributeType]?: number } = { integer: 1, number: 0 }

type Range = { readonly min: string | null; readonly max: string | null }

export type Binning = {
  /** The most bins. */
  readonly bins: number
  /** What the bins of dates and times are instead. */
  readonly interval: CalendarUnit | undefined
}

/**
 * A histogram with bins over the whole range. A bin holds values from `from` up to but excluding `to`; the last bin includes `to`.
 * Those of numbers have equal widths, those of dates and times begin and end as the calendar does.
 */
export function histogramOf(
  type: AttributeType,
  sorted: readonly Ordered[],
  range: Range,
  { bins, interval }: Binning,
): Bin[] {
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (!first || !last) return []
  const low = boundOf(type, range.min, first)
  const high = boundOf(type, range.max, last)
  if (type === 'date' || type === 'datetime') {
    return calendarHistogram(type, sorted, { low: low.at, high: high.at }, { most: bins, unit: interval })
  }
  const step = steps[type]
  if (step === undefined) return []
  const { width, count } = divide(low.at, high.at, step, bins)
  const counts: number[] = Array(count).fill(0)
  for (const { key, count: times } of sorted) {
    // Computed with halves, because the range of doubles does not fit into a double.
    const place = width > 0 ? Math.floor((Number(key) / 2 - low.at / 2) / (width / 2)) : 0
    const bin = Math.min(Math.max(0, place), count - 1)
    counts[bin] = (counts[bin] ?? 0) + times
  }
  const edge = (index: number): JsonValue => {
    if (index === 0) return low.value
    if (index === count) return high.value
    const share = index / count
    return edgeValue(type, step > 0 ? low.at + index * width : low.at * (1 - share) + high.at * share)
  }
  return counts.map((inBin, index) => ({ from: edge(index), to: edge(index + 1), count: inBin }))
}

function calendarHistogram(
  type: 'date' | 'datetime',
  sorted: readonly Ordered[],
  range: Parameters<typeof calendarBins>[1],
  wanted: Parameters<typeof calendarBins>[2],
): Bin[] {
  const { count, indexOf, edge } = calendarBins(type, range, wanted)
  const counts: number[] = Array(count).fill(0)
  for (const { key, count: times } of sorted) {
    const bin = Math.min(Math.max(0, indexOf(Number(key))), count - 1)
    counts[bin] = (counts[bin] ?? 0) + times
  }
  const text = (index: number): string => timeText(type, edge(index))
  return counts.map((inBin, index) => ({ from: text(index), to: text(index + 1), count: inBin }))
}

/** The last millisecond that is written with a year of four digits. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

function timeText(type: 'date' | 'datetime', at: number): string {
  const text = new Date(Math.min(at, lastMs)).toISOString()
  return type === 'date' ? text.slice(0, 10) : text
}

/** The column's extreme, or the sample's if the extreme has no place in the order, like NaN. */
function boundOf(type: AttributeType, cell: string | null, sampled: Ordered): { at: number; value: JsonValue } {
  const key = cell === null ? undefined : orderKey(type, cell)
  if (cell === null || key === undefined) return { at: Number(sampled.key), value: sampled.value }
  return { at: Number(key), value: jsonValue(type, cell) }
}

function divide(low: number, high: number, step: number, bins: number): { width: number; count: number } {
  if (step === 0) {
    const width = high / bins - low / bins
    return { width, count: width > 0 ? bins : 1 }
  }
  const width = Math.ceil((high - low + step) / bins / step) * step
  return { width, count: Math.min(bins, Math.floor((high - low) / width) + 1) }
}

function edgeValue(type: AttributeType, at: number): JsonValue {
  if (type === 'integer') return jsonValue(type, String(BigInt(at)))
  return at
}
