// Statistics of a sampled column: frequencies, distinct count (Haas-Stokes), quantiles, histogram.
import type { AttributeType } from '../../../query/values/attribute.ts'
import { type CalendarUnit, calendarBins } from './calendar-bins.ts'
import { type JsonValue, jsonValue, type OrderKey, orderKey, type SampledValue } from './column-sample.ts'

/** A value and how often it occurs. */
export type Frequent = { value: JsonValue; count: number }
export type Quantile = { p: number; value: JsonValue }
export type Bin = { from: JsonValue; to: JsonValue; count: number }

const mostFrequent = 20

/** Counts each value of the sample, by identity. */
export function countValues(values: readonly SampledValue[]): Map<JsonValue, Frequent> {
  const counts = new Map<JsonValue, Frequent>()
  for (const { value, identity } of values) {
    const entry = counts.get(identity)
    if (entry) entry.count++
    else counts.set(identity, { value, count: 1 })
  }
  return counts
}

/**
 * The most frequent values, ties in sort order. They are inserted into a short list, because sorting 10 000 texts that
 * all occur once takes 80 ms, and this takes a few.
 */
export function frequentValues(counts: ReadonlyMap<JsonValue, Frequent>): Frequent[] {
  const top: Frequent[] = []
  for (const one of counts.values()) {
    const last = top[mostFrequent - 1]
    if (last && !comesBefore(one, last)) continue
    const place = top.findIndex((other) => comesBefore(one, other))
    top.splice(place === -1 ? top.length : place, 0, one)
    top.length = Math.min(top.length, mostFrequent)
  }
  return top
}

const comesBefore = (one: Frequent, other: Frequent): boolean =>
  one.count === other.count ? one.value < other.value : one.count > other.count

/**
 * Estimates the number of distinct values among `total` rows with the Haas-Stokes estimator of PostgreSQL's ANALYZE: n
 * sampled rows with d values, f of them seen once, give n·d / (n − f + f·n/N).
 */
export function distinctValues(counts: ReadonlyMap<JsonValue, Frequent>, sampled: number, total: number): number {
  if (sampled === 0 || total <= sampled) return counts.size
  const once = counts.values().reduce((sum, { count }) => sum + (count === 1 ? 1 : 0), 0)
  const estimate = (sampled * counts.size) / (sampled - once + (once * sampled) / total)
  return Math.round(Math.min(total, Math.max(counts.size, estimate)))
}

type Ordered = SampledValue & { readonly key: OrderKey }

/** The values that have an order, sorted. */
export function inOrder(values: readonly SampledValue[]): Ordered[] {
  return values
    .filter((one): one is Ordered => one.key !== undefined)
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
}

/** Quantiles like percentile_disc: each is a value of the column. */
export function quantilesOf(sorted: readonly Ordered[], parts: number): Quantile[] {
  if (sorted.length === 0) return []
  return Array.from({ length: parts + 1 }, (_, part) => {
    const index = Math.max(0, Math.ceil((part * sorted.length) / parts) - 1)
    return { p: part / parts, value: (sorted[index] as Ordered).value }
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
  for (const { key } of sorted) {
    // Computed with halves, because the range of doubles does not fit into a double.
    const place = width > 0 ? Math.floor((Number(key) / 2 - low.at / 2) / (width / 2)) : 0
    const bin = Math.min(Math.max(0, place), count - 1)
    counts[bin] = (counts[bin] ?? 0) + 1
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
  for (const { key } of sorted) {
    const bin = Math.min(Math.max(0, indexOf(Number(key))), count - 1)
    counts[bin] = (counts[bin] ?? 0) + 1
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
