import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Cell } from '../formats/cell.ts'
import { jsonWriter } from '../formats/json.ts'
import type { AttributeType } from '../query/attribute.ts'
import { compareValues } from '../query/value.ts'

/** A value as JSON has it: whole numbers and decimals that a double cannot hold are texts. */
export type JsonValue = string | number | boolean
/** What values of one type are ordered by. */
export type OrderKey = number | bigint | string

export type SampledValue = {
  readonly value: JsonValue
  /** Two values are the same when this is. */
  readonly identity: JsonValue
  /** Nothing where a value has no place in the order, such as NaN, or its type is not worth sorting. */
  readonly key: OrderKey | undefined
}

/** The most rows that are kept of a column, so that memory and the time to sort do not grow with the dataset. */
export const sampleCapacity = 10_000

const turnRows = 500

/** A uniform sample of the rows of one column, with what was found on the way of all the rows that were read. */
export type ColumnSample = {
  /** How many were read, and how many of them were null. */
  readonly rows: number
  readonly nulls: number
  readonly min: Cell
  readonly max: Cell
  /** Of the finite numbers. */
  readonly mean: number | null
  /** How many rows are in the sample; those that are not null are in `values`. */
  readonly size: number
  readonly values: readonly SampledValue[]
}

/** Reservoir sampling (algorithm R): every row read has the same chance to stay. */
export async function sampleColumn(batches: AsyncIterable<Cell[][]>, type: AttributeType): Promise<ColumnSample> {
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
      // A batch may be a whole answer: some milliseconds of work, then everybody else has a turn.
      if (rows % turnRows === 0) await setImmediate()
    }
  }
  const values = reservoir.filter((one) => one !== null)
  return { rows, nulls, ...extremes.found(), mean: mean.found(), size: reservoir.length, values }
}

const isNumeric = (type: AttributeType): boolean => type === 'integer' || type === 'number'

/** The sum of doubles can be too large for one: then their shares are added up, which costs some digits. */
function createMean(type: AttributeType) {
  let count = 0
  let sum = 0
  let mean = 0
  return {
    add(cell: string) {
      const number = isNumeric(type) ? Number(cell) : Number.NaN
      if (!Number.isFinite(number)) return
      count++
      sum += number
      mean = mean * ((count - 1) / count) + number / count
    },
    found: () => (count === 0 ? null : Number.isFinite(sum) ? sum / count : mean),
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
    found: () => ({ min: min?.cell ?? null, max: max?.cell ?? null }),
  }
}

/** What a value is ordered by, where quantiles of its type make sense. Texts are not kept for that. */
export function orderKey(type: AttributeType, cell: string): OrderKey | undefined {
  if (type === 'integer') return Number.isSafeInteger(Number(cell)) ? Number(cell) : BigInt(cell)
  if (type === 'time') return cell
  const key = isNumeric(type) ? Number(cell) : type === 'date' || type === 'datetime' ? instantOf(cell) : Number.NaN
  return Number.isFinite(key) ? key : undefined
}

/** In milliseconds since 1970. A `timestamp` has no zone, and is UTC. */
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

/** A cell as a value of JSON. Long texts, and numbers of as many digits, are cut. */
export function jsonValue(type: AttributeType, cell: string): JsonValue {
  if (cell.length > longestText) return `${beginningOf(cell)}…`
  return JSON.parse(jsonWriter(type)(cell))
}

/** A copy, because a slice would keep the whole text in memory; no half of a surrogate pair at its end. */
const beginningOf = (text: string): string =>
  Buffer.from(text.slice(0, longestText).replace(/[\uD800-\uDBFF]$/, '')).toString()

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64')
