// Column statistics: counts, extremes, quantiles, a histogram and the most frequent values of an attribute.
import { setImmediate } from 'node:timers/promises'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import type { Plan, PlanColumn, RowSample } from '../../../query/plan/plan.ts'
import type { Attribute, AttributeType } from '../../../query/values/attribute.ts'
import type { Source } from '../dataset-type.ts'
import { countColumn, expectedRows } from '../queries/total-rows.ts'
import {
  type ColumnSample,
  groupedColumn,
  type JsonValue,
  jsonValue,
  sampleCapacity,
  sampleColumn,
} from './column-sample.ts'
import {
  type Bin,
  type Binning,
  distinctValues,
  type Frequent,
  frequentValues,
  histogramOf,
  inOrder,
  type Quantile,
  quantilesOf,
} from './column-statistics.ts'

/** Statistics of one attribute. Figures that its type does not have are null or empty lists. */
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

export type StatisticsRequest = {
  readonly source: Source
  readonly attribute: Attribute
  /** Selects the rows; its columns are ignored. */
  readonly plan: Plan
  /** The number of quantile parts. */
  readonly parts: number
  readonly binning: Binning
  /** The limits of the next query; all of them share one time limit. */
  limits(): SelectOptions
}

/** Up to this many rows are counted, and their extremes found, by a full scan: a second or two. */
const countedRows = 2_000_000
/** Five standard deviations below the capacity, so that the reservoir keeps every sampled row. */
const drawnRows = sampleCapacity * 0.95
/** A smaller sample means that the planner's estimate was wrong. */
const fewestDrawn = drawnRows / 10

/** Types without an order or a useful identity: for them only counts are computed. */
const opaque: readonly AttributeType[] = ['json', 'array', 'binary', 'geometry']

/**
 * Statistics of small datasets are exact. For larger ones the database counts rows and finds extremes, and a sample
 * gives the rest. For very large ones everything comes from the sample.
 */
export async function attributeStatistics(request: StatisticsRequest): Promise<AttributeStatistics> {
  const expected = await estimateRows(request)
  if (expected !== undefined && expected > countedRows) {
    const statistics = await statisticsOf(request, { expected })
    if (statistics.sampleSize >= fewestDrawn) return statistics
  }
  return statisticsOf(request, {})
}

/** The planner's row estimate, only without a filter: estimates of filters are guesses. */
async function estimateRows({ source, plan, attribute, limits }: StatisticsRequest): Promise<number | undefined> {
  const isFiltered = !(plan.where.kind === 'and' && plan.where.filters.length === 0)
  if (!source.isCountable || isFiltered) return undefined
  return expectedRows(await source.explain({ ...plan, columns: [plain(attribute)] }, limits()))
}

function statisticsOf(request: StatisticsRequest, estimate: { expected?: number }): Promise<AttributeStatistics> {
  return opaque.includes(request.attribute.type) ? countOpaque(request, estimate) : describeValues(request, estimate)
}

async function countOpaque(
  request: StatisticsRequest,
  { expected }: { expected?: number },
): Promise<AttributeStatistics> {
  const sample = expected === undefined ? undefined : drawing(expected)
  const { rows, count } = await countColumns(request, sample)
  return {
    ...headOf(request, { rows, nulls: rows - count }, expected),
    distinct: null,
    min: null,
    max: null,
    mean: null,
    quantiles: [],
    histogram: [],
    frequent: [],
    sampled: sample !== undefined,
    sampleSize: rows,
  }
}

async function describeValues(
  request: StatisticsRequest,
  { expected }: { expected?: number },
): Promise<AttributeStatistics> {
  const { type } = request.attribute
  const counted =
    request.source.isCountable && expected === undefined ? await countColumns(request, undefined) : undefined
  const total = expected ?? counted?.rows ?? 0
  const sample = await readSample(request, total > sampleCapacity ? drawing(total) : undefined)
  const whole = counted ? { ...counted, nulls: counted.rows - counted.count } : sample
  const head = headOf(request, whole, expected)
  return {
    ...head,
    ...(await distributionOf(request, sample, { ...whole, count: head.count })),
    min: whole.min === null ? null : jsonValue(type, whole.min),
    max: whole.max === null ? null : jsonValue(type, whole.max),
    mean: sample.mean,
    sampled: sample.size < head.rows.count,
    sampleSize: sample.size,
  }
}

type Whole = { readonly count: number; readonly min: Cell; readonly max: Cell }

/** Yields to the event loop between parts, because each takes some milliseconds. */
async function distributionOf(
  { attribute: { type }, parts, binning }: StatisticsRequest,
  sample: ColumnSample,
  whole: Whole,
) {
  const frequent = frequentValues(sample)
  await setImmediate()
  const distinct = distinctValues(sample.values, whole.count)
  const sorted = inOrder(sample.values)
  await setImmediate()
  return {
    distinct,
    frequent,
    quantiles: quantilesOf(sorted, parts),
    histogram: histogramOf(type, sorted, whole, binning),
  }
}

/** Scales the sample's share of nulls to the estimated row count. */
function headOf(
  { attribute: { name, type } }: StatisticsRequest,
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

/**
 * TABLESAMPLE SYSTEM reads whole pages, whose rows resemble each other, so it is used only where a full scan would take
 * long.
 */
const drawing = (total: number): RowSample => ({
  percentage: Math.min(100, (100 * drawnRows) / total),
  method: total > countedRows ? 'system' : 'bernoulli',
  seed: undefined,
})

const plain = (attribute: Attribute): PlanColumn => ({ name: attribute.name, attribute, type: attribute.type })
const shape = { geometry: 'geojson', srid: 4326 } as const

async function readSample(request: StatisticsRequest, sample: RowSample | undefined): Promise<ColumnSample> {
  const { source, plan, attribute, limits } = request
  if (source.isCountable && !isPlainText(attribute)) {
    const groups = await readGroups(request, sample)
    if (groups) return groups
  }
  const { batches } = await source.rows({ ...plan, columns: [plain(attribute)], sample }, shape, limits())
  return sampleColumn(batches, attribute.type)
}

/** Texts that are equal here wherever they are in the database, which would have to sort them, however long. */
const isPlainText = ({ type, isNative, sqlType }: Attribute): boolean => type === 'string' && !isNative && !sqlType

async function readGroups({ source, plan, attribute, limits }: StatisticsRequest, sample: RowSample | undefined) {
  const value = plain(attribute)
  const columns = [value, { ...countColumn, name: attribute.name === 'count' ? 'rows' : 'count' }]
  const groups: Plan = { ...plan, columns, group: [attribute], order: [{ by: value, isDescending: false }], sample }
  const { batches } = await source.rows(groups, shape, limits())
  return groupedColumn(batches, attribute.type)
}

const withExtremes: readonly AttributeType[] = ['string', 'integer', 'number', 'date', 'datetime', 'time']

/** Row count, value count and, for ordered types, extremes: one aggregate query. */
async function countColumns({ source, plan, attribute, limits }: StatisticsRequest, sample: RowSample | undefined) {
  const { type } = attribute
  const columns: PlanColumn[] = [countColumn, { name: 'values', attribute, aggregate: 'count', type: 'integer' }]
  if (withExtremes.includes(type)) {
    columns.push({ name: 'min', attribute, aggregate: 'min', type }, { name: 'max', attribute, aggregate: 'max', type })
  }
  const { batches } = await source.rows({ ...plan, columns, group: [], sample }, shape, limits())
  const [cells = []] = (await Array.fromAsync(batches)).flat()
  const [rows = null, count = null, min = null, max = null] = cells
  return { rows: Number(rows), count: Number(count), min, max }
}
