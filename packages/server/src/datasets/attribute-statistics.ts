import { setImmediate } from 'node:timers/promises'
import type { Cell } from '../formats/cell.ts'
import type { Attribute, AttributeType } from '../query/attribute.ts'
import type { SelectOptions } from '../query/connection.ts'
import type { Column, Plan, Sample } from '../query/plan.ts'
import {
  type Bin,
  countValues,
  distinctValues,
  type Frequent,
  frequentValues,
  histogramOf,
  inOrder,
  type Quantile,
  quantilesOf,
} from './column-figures.ts'
import { type ColumnSample, type JsonValue, jsonValue, sampleCapacity, sampleColumn } from './column-sample.ts'
import type { Source } from './sources.ts'
import { countColumn, expectedRows } from './total-rows.ts'

/** What the values of an attribute are. Figures that its type does not have are null, or lists without items. */
export type AttributeStatistics = {
  attribute: string
  type: AttributeType
  rows: { count: number; isEstimate: boolean }
  count: number
  nulls: number
  distinct: number | null
  min: JsonValue | null
  max: JsonValue | null
  mean: number | null
  quantiles: Quantile[]
  histogram: Bin[]
  frequent: Frequent[]
  sampled: boolean
  sampleSize: number
}

export type Asked = {
  readonly source: Source
  readonly attribute: Attribute
  /** Says which rows; its columns do not matter. */
  readonly plan: Plan
  /** Into how many parts quantiles and the histogram divide the values. */
  readonly parts: number
  readonly bins: number
  /** For one query after the other. */
  limits(): SelectOptions
}

/** Up to this many rows are counted, and their extremes looked for, by reading them all: a second or two. */
const countedRows = 2_000_000
/** Below the capacity by five standard deviations, so that all that are drawn are kept. */
const drawnRows = sampleCapacity * 0.95
/** With so few rows drawn the planner's estimate was wrong. */
const fewestDrawn = drawnRows / 10

/** A few values that say how all are; of the rest of a column only how many there are is known. */
const opaque: readonly AttributeType[] = ['json', 'array', 'binary', 'geometry']

/**
 * Statistics of small datasets are exact. Of larger ones the database counts the rows and finds the extremes, and the rest
 * comes of a sample; of very large ones all does.
 */
export async function attributeStatistics(asked: Asked): Promise<AttributeStatistics> {
  const expected = await estimateRows(asked)
  if (expected !== undefined && expected > countedRows) {
    const found = await statisticsOf(asked, { expected })
    if (found.sampleSize >= fewestDrawn) return found
  }
  return statisticsOf(asked, {})
}

/** The planner's estimate, where it can be relied on: those of filters are guesses. */
async function estimateRows({ source, plan, attribute, limits }: Asked): Promise<number | undefined> {
  const isFiltered = !(plan.where.kind === 'and' && plan.where.filters.length === 0)
  if (!source.inSql || isFiltered) return undefined
  return expectedRows(await source.explain({ ...plan, columns: [plain(attribute)] }, limits()))
}

function statisticsOf(asked: Asked, known: { expected?: number }): Promise<AttributeStatistics> {
  return opaque.includes(asked.attribute.type) ? countOpaque(asked, known) : describeValues(asked, known)
}

async function countOpaque(asked: Asked, { expected }: { expected?: number }): Promise<AttributeStatistics> {
  const sample = expected === undefined ? undefined : drawing(expected)
  const { rows, count } = await countColumns(asked, sample)
  return {
    ...headOf(asked, { rows, nulls: rows - count }, expected),
    ...{ distinct: null, min: null, max: null, mean: null, quantiles: [], histogram: [], frequent: [] },
    ...{ sampled: sample !== undefined, sampleSize: rows },
  }
}

async function describeValues(asked: Asked, { expected }: { expected?: number }): Promise<AttributeStatistics> {
  const { type } = asked.attribute
  const counted = asked.source.inSql && expected === undefined ? await countColumns(asked, undefined) : undefined
  const total = expected ?? counted?.rows ?? 0
  const sample = await readSample(asked, total > sampleCapacity ? drawing(total) : undefined)
  const whole = counted ? { ...counted, nulls: counted.rows - counted.count } : sample
  const head = headOf(asked, whole, expected)
  return {
    ...head,
    ...(await figuresOf(asked, sample, { ...whole, count: head.count })),
    min: whole.min === null ? null : jsonValue(type, whole.min),
    max: whole.max === null ? null : jsonValue(type, whole.max),
    mean: sample.mean,
    sampled: sample.size < head.rows.count,
    sampleSize: sample.size,
  }
}

type Whole = { readonly count: number; readonly min: Cell; readonly max: Cell }

/** Each part takes some milliseconds: between them everybody else has a turn. */
async function figuresOf({ attribute: { type }, parts, bins }: Asked, { values }: ColumnSample, whole: Whole) {
  const counts = countValues(values)
  await setImmediate()
  const frequent = frequentValues(counts)
  const distinct = distinctValues(counts, values.length, whole.count)
  await setImmediate()
  const sorted = inOrder(values)
  await setImmediate()
  return {
    distinct,
    frequent,
    quantiles: quantilesOf(sorted, parts),
    histogram: histogramOf(type, sorted, whole, bins),
  }
}

/** Of an estimated number of rows as many are null as in the sample. */
function headOf(
  { attribute: { name, type } }: Asked,
  seen: { readonly rows: number; readonly nulls: number },
  expected: number | undefined,
) {
  const rows = expected ?? seen.rows
  const nulls = expected === undefined ? seen.nulls : Math.round((rows * seen.nulls) / Math.max(1, seen.rows))
  return {
    attribute: name,
    type,
    rows: { count: rows, isEstimate: expected !== undefined },
    count: rows - nulls,
    nulls,
  }
}

/** TABLESAMPLE SYSTEM reads whole pages, whose rows are alike: only where reading every row would take long. */
const drawing = (total: number): Sample => ({
  percentage: Math.min(100, (100 * drawnRows) / total),
  method: total > countedRows ? 'system' : 'bernoulli',
  seed: undefined,
})

const plain = (attribute: Attribute): Column => ({ name: attribute.name, attribute, type: attribute.type })
const shape = { geometry: 'geojson', srid: 4326 } as const

async function readSample({ source, plan, attribute, limits }: Asked, sample: Sample | undefined) {
  const { batches } = await source.rows({ ...plan, columns: [plain(attribute)], sample }, shape, limits())
  return sampleColumn(batches, attribute.type)
}

const withExtremes: readonly AttributeType[] = ['string', 'integer', 'number', 'date', 'datetime', 'time']

/** How many rows and values there are, and the extremes of those types that have them, by aggregates. */
async function countColumns({ source, plan, attribute, limits }: Asked, sample: Sample | undefined) {
  const { type } = attribute
  const columns: Column[] = [countColumn, { name: 'values', attribute, aggregate: 'count', type: 'integer' }]
  if (withExtremes.includes(type)) {
    columns.push({ name: 'min', attribute, aggregate: 'min', type }, { name: 'max', attribute, aggregate: 'max', type })
  }
  const { batches } = await source.rows({ ...plan, columns, group: [], sample }, shape, limits())
  const [cells = []] = (await Array.fromAsync(batches)).flat()
  const [rows = null, count = null, min = null, max = null] = cells
  return { rows: Number(rows), count: Number(count), min, max }
}
