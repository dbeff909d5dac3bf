// A sample of one column as its different values: grouped by the database, or drawn from the rows that it sends.
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Batches } from '../../../kernel/db/guarded.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import { jsonWriter } from '../../../query/formats/json.ts'
import type { AttributeType } from '../../../query/values/attribute.ts'
import { compareValues } from '../../../query/values/value.ts'

/** A JSON value; integers and decimals that a double cannot hold are texts. */
export type JsonValue = string | number | boolean
/** The sort key of a value. */
export type OrderKey = number | bigint | string

/** A value of the sample, and how often it occurs there. */
export type CountedValue = {
  readonly value: JsonValue
  /** Undefined if a value has no place in the order, such as NaN, or its type is not sorted. */
  readonly key: OrderKey | undefined
  count: number
}

/** The most rows kept of a column, so that memory and sort time do not grow with the dataset. */
export const sampleCapacity = 10_000

const turnRows = 500

/** A uniform sample of one column's rows, with totals over all rows that were read. */
export type ColumnSample = {
  /** Rows read, and the nulls among them. */
  readonly rows: number
  readonly nulls: number
  readonly min: Cell
  readonly max: Cell
  /** Mean of the finite numbers. */
  readonly mean: number | null
  /** Rows in the sample, nulls included. */
  readonly size: number
  /** The different values. */
  readonly values: readonly CountedValue[]
  /** The values are in their order; texts that were drawn from rows are not. */
  readonly isSorted: boolean
}

/** Reservoir sampling (algorithm R): every row has the same chance to stay. */
export async function sampleColumn(batches: Batches, type: AttributeType): Promise<ColumnSample> {
  const reservoir: (SampledValue | null)[] = []
  const extremes = createExtremes(type)
  const mean = createMean(type)
  let rows = 0
  let nulls = 0
  const add = (cell: Cell): void => {
    rows++
    const place = rows <= sampleCapacity ? rows - 1 : Math.floor(Math.random() * rows)
    if (place < sampleCapacity) reservoir[place] = cell === null ? null : sampledValue(type, cell)
    if (cell === null) nulls++
    else for (const each of [extremes, mean]) each.add(cell)
  }
  for await (const batch of batches) {
    for (const [cell = null] of batch) {
      add(cell)
      // Yields to the event loop, because one batch may be a whole answer.
      if (rows % turnRows === 0) await setImmediate()
    }
  }
  const values = countValues(reservoir)
  await setImmediate()
  const isSorted = type !== 'string'
  if (isSorted) values.sort(byKey)
  return { rows, nulls, ...extremes.result(), mean: mean.result(), size: reservoir.length, values, isSorted }
}

/** So many different values come of a sample only if the database expected far fewer rows than there are. */
const mostGroups = 10 * sampleCapacity

/**
 * The sample as rows of a value and its count, in the order of the database, whose equality and order only it knows: of
 * citext, interval or money. Undefined if they are too many.
 */
export async function groupedColumn(batches: Batches, type: AttributeType): Promise<ColumnSample | undefined> {
  const values: CountedValue[] = []
  const mean = createMean(type)
  let nulls = 0
  let rows = 0
  let min: Cell = null
  let max: Cell = null
  for await (const batch of batches) {
    if (values.length + batch.length > mostGroups) return undefined
    for (const [cell = null, counted = null] of batch) {
      const count = Number(counted)
      rows += count
      if (cell === null) {
        nulls += count
        continue
      }
      min ??= cell
      max = cell
      mean.add(cell, count)
      values.push({ value: jsonValue(type, cell), key: orderKey(type, cell), count })
    }
    await setImmediate()
  }
  return { rows, nulls, min, max, mean: mean.result(), size: rows, values, isSorted: true }
}

type SampledValue = Omit<CountedValue, 'count'> & {
  /** Two values are equal if their identities are. */
  readonly identity: JsonValue
}

function countValues(sampled: readonly (SampledValue | null)[]): CountedValue[] {
  const counted = new Map<JsonValue, CountedValue>()
  for (const one of sampled) {
    if (!one) continue
    const same = counted.get(one.identity)
    if (same) same.count++
    else counted.set(one.identity, { value: one.value, key: one.key, count: 1 })
  }
  return [...counted.values()]
}

/** Those without a place in the order come last. */
function byKey({ key: one }: CountedValue, { key: other }: CountedValue): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined)
  return one < other ? -1 : Number(one > other)
}

const isNumeric = (type: AttributeType): boolean => type === 'integer' || type === 'number'

/** The sum of doubles can overflow. Then shares of the mean are summed instead, which costs some digits. */
function createMean(type: AttributeType) {
  let count = 0
  let sum = 0
  let mean = 0
  return {
    add(cell: string, times = 1) {
      const number = isNumeric(type) ? Number(cell) : Number.NaN
      if (!Number.isFinite(number)) return
      count += times
      sum += number * times
      mean = mean * ((count - times) / count) + number * (times / count)
    },
    result: () => (count === 0 ? null : Number.isFinite(sum) ? sum / count : mean),
  }
}

function createExtremes(type: AttributeType) {
  let min: { cell: string; key: OrderKey } | undefined
  let max: { cell: string; key: OrderKey } | undefined
  return {
    add(cell: string) {
      const key = type === 'string' ? cell : orderKey(type, cell)
      if (key === undefined) return
      if (!min || compareValues(key, min.key) < 0) min = { cell, key }
      if (!max || compareValues(key, max.key) > 0) max = { cell, key }
    },
    result: () => ({ min: min?.cell ?? null, max: max?.cell ?? null }),
  }
}

/** The sort key, for types whose quantiles make sense. Texts are not sorted. */
export function orderKey(type: AttributeType, cell: string): OrderKey | undefined {
  if (type === 'integer') return Number.isSafeInteger(Number(cell)) ? Number(cell) : BigInt(cell)
  if (type === 'time') return cell
  const key = isNumeric(type) ? Number(cell) : type === 'date' || type === 'datetime' ? instantOf(cell) : Number.NaN
  return Number.isFinite(key) ? key : undefined
}

/** In milliseconds since 1970. A `timestamp` without a zone is UTC. */
function instantOf(cell: string): number {
  if (!/^\d{4}-/.test(cell) || cell.endsWith('BC')) return Number.NaN
  return Date.parse(/T[\d:.]+$/.test(cell) ? `${cell}Z` : cell)
}

function sampledValue(type: AttributeType, cell: string): SampledValue {
  const value = jsonValue(type, cell)
  const isCut = cell.length > longestText
  return { value, identity: isCut ? `${value}${digestOf(cell)}` : value, key: orderKey(type, cell) }
}

const longestText = 200

/** A cell as a JSON value. Long texts, and numbers with as many digits, are cut. */
export function jsonValue(type: AttributeType, cell: string): JsonValue {
  if (cell.length > longestText) return `${beginningOf(cell)}…`
  return JSON.parse(jsonWriter(type)(cell))
}

/** A copy, because a slice would keep the whole text in memory; cut so that no surrogate pair is split. */
const beginningOf = (text: string): string =>
  Buffer.from(text.slice(0, longestText).replace(/[\uD800-\uDBFF]$/, '')).toString()

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64')
