// Plan interpreter in memory: filter, sample, group, sort and page JSON rows; plan-sql.ts is its counterpart in SQL.

import { limits, overLimit } from '../../kernel/limits/limits.ts'
import type { ValueRow } from '../filter/expression-value.ts'
import { filterPredicate } from '../filter/filter-predicate.ts'
import { wrapExtent } from '../geometry/antimeridian.ts'
import { extentOf, type Geometry, positionsOf } from '../geometry/geojson.ts'
import { distanceFrom } from '../geometry/relation/distance.ts'
import { geodesicArea, geodesicLength } from '../geometry/relation/geodesic-size.ts'
import type { Plan, PlanColumn, RowSample, SortOrder } from '../plan/plan.ts'
import type { Attribute } from '../values/attribute.ts'
import { type GeometryNotation, geometryOf } from '../values/geometry-text.ts'
import { projectionOf } from '../values/projection.ts'
import { compareValues, decodeValue, isScalarType, type Value } from '../values/value.ts'
import { cellReader, keyReader, rawReader } from './cell-reader.ts'
import { nearestRows } from './nearest-rows.ts'

/** The row limit of sources without SQL, because all rows are in memory at once. */
export const maxRows = limits.rowsInMemory.value

/** A row of the answer: its cells by column, and the values the order needs. */
type Item = { cellOf(column: PlanColumn): string | null; keyOf(attribute: Attribute): string | null }

/** Notation of geometries, and their projection (see projection.ts) if it is not 4326. */
export type RowNotation = { readonly geometry: GeometryNotation; readonly definition?: string }

const batchSize = 1_000

/**
 * Runs a plan on JSON rows, with the same result as plan-sql.ts on a table: cells in the order of `plan.columns`.
 * Geometry is GeoJSON in 4326. A value that does not fit its attribute's type counts as null.
 */
export function* planBatches(plan: Plan, rows: Iterable<ValueRow>, shape: RowNotation): Generator<Cells[]> {
  const readers = createReaders(shape)
  const kept = nearestRows(plan, selectRows(plan, rows), geometryReader(plan))
  const items = plan.group ? groupRows(plan, plan.group, kept, readers) : kept.map((row) => rowItem(row, readers))
  const sorted = sortItems(items, completeOrder(plan))
  const distinct = plan.distinct.length > 0 ? firstOfEach(sorted, plan.distinct) : sorted
  const page = distinct.slice(plan.offset, plan.limit === undefined ? undefined : plan.offset + plan.limit)
  for (let start = 0; start < page.length; start += batchSize) {
    yield page.slice(start, start + batchSize).map((item) => plan.columns.map((column) => item.cellOf(column)))
  }
}

/** The rows that the plan's order has first; what it sorts by is computed anew, since the readers are not kept. */
export function firstInOrder<Row extends ValueRow>(plan: Plan, rows: readonly Row[], count: number): Row[] {
  const readers = createReaders({ geometry: 'geojson' })
  const items = rows.map((row) => ({ ...rowItem(row, readers), row }))
  return sortItems(items, plan.order)
    .slice(0, count)
    .map(({ row }) => row)
}

type Cells = (string | null)[]
type Readers = ReturnType<typeof createReaders>

function createReaders({ geometry, definition }: RowNotation) {
  const projection = definition === undefined ? undefined : projectionOf(definition)
  return {
    cell: perAttribute((attribute) => cellReader(attribute, geometry, projection)),
    key: perAttribute(keyReader),
    distance: distanceReader(),
  }
}

/** Of the geometry that the plan sorts by the distance of. */
function geometryReader({ order }: Plan): (row: ValueRow) => Geometry | undefined {
  const read = rawReader(order[0]?.by.attribute?.name ?? '')
  return (row) => geometryOf(read(row)) ?? undefined
}

/** Prepares the geometry to measure from once, not for every row. */
function distanceReader() {
  const made = new Map<Geometry, (other: Geometry) => number>()
  return ({ attribute, distanceTo }: PlanColumn, row: ValueRow): string | null => {
    const geometry = attribute && geometryOf(rawReader(attribute.name)(row))
    if (!geometry || !distanceTo || positionsOf(geometry).length === 0) return null
    const measure = made.get(distanceTo) ?? distanceFrom(distanceTo)
    made.set(distanceTo, measure)
    return String(measure(geometry))
  }
}

/** Makes each attribute's reader once, not for every row. */
function perAttribute(make: (attribute: Attribute) => (row: ValueRow) => string | null) {
  const made = new Map<Attribute, (row: ValueRow) => string | null>()
  return (attribute: Attribute, row: ValueRow): string | null => {
    const read = made.get(attribute) ?? make(attribute)
    made.set(attribute, read)
    return read(row)
  }
}

function selectRows({ where, sample }: Plan, rows: Iterable<ValueRow>): ValueRow[] {
  const holds = filterPredicate(where)
  const isDrawn = sample ? sampler(sample) : () => true
  const kept: ValueRow[] = []
  let count = 0
  for (const row of rows) {
    count++
    if (count > maxRows) {
      throw overLimit('rowsInMemory', maxRows, `The source has more than ${maxRows} rows, the limit for queries.`)
    }
    // Sample before filtering, so that the sampled rows do not depend on the filter.
    if (isDrawn() && holds(row) === true) kept.push(row)
  }
  return kept
}

/** Without pages there is nothing for SYSTEM to sample: both methods sample single rows. */
function sampler({ percentage, seed }: RowSample): () => boolean {
  const random = seed === undefined ? Math.random : mulberry32(Math.trunc(seed))
  return () => random() * 100 < percentage
}

/** mulberry32, a small seeded random generator; https://github.com/bryc/code/blob/master/jshash/PRNGs.md */
function mulberry32(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function rowItem(row: ValueRow, readers: Readers): Item {
  return {
    cellOf(column) {
      if (!column.attribute) return null
      return column.distanceTo ? readers.distance(column, row) : readers.cell(column.attribute, row)
    },
    keyOf: (attribute) => readers.key(attribute, row),
  }
}

function groupRows(plan: Plan, group: readonly Attribute[], rows: readonly ValueRow[], readers: Readers): Item[] {
  const groups = new Map<string, ValueRow[]>()
  // As in SQL: aggregates of no rows give one row, groups of no rows give none.
  if (group.length === 0) groups.set('[]', [])
  for (const row of rows) {
    const key = JSON.stringify(group.map((attribute) => readers.key(attribute, row)))
    const members = groups.get(key)
    if (members) members.push(row)
    else groups.set(key, [row])
  }
  return [...groups.values()].map((members) => groupItem(plan, members, readers))
}

function groupItem({ columns }: Plan, members: readonly ValueRow[], readers: Readers): Item {
  const first = rowItem(members[0] ?? {}, readers)
  const computed = new Map<PlanColumn, string | null>()
  for (const column of columns) if (column.aggregate) computed.set(column, aggregateCell(column, members, readers))
  return {
    cellOf: (column) => (column.aggregate ? (computed.get(column) ?? null) : first.cellOf(column)),
    keyOf: first.keyOf,
  }
}

function aggregateCell({ aggregate, attribute, isDistinct }: PlanColumn, rows: readonly ValueRow[], readers: Readers) {
  if (!attribute) return String(rows.length)
  if (aggregate === 'extent') return extentCell(attribute, rows)
  if (aggregate === 'area') return sizeCell(attribute, rows, geodesicArea)
  if (aggregate === 'length') return sizeCell(attribute, rows, geodesicLength)
  if (isDistinct) return String(new Set(rows.map((row) => readers.key(attribute, row)).filter(isPresent)).size)
  const cells = rows.map((row) => readers.cell(attribute, row)).filter(isPresent)
  if (aggregate === 'count') return String(cells.length)
  if (cells.length === 0) return null
  if (aggregate === 'sum') return attribute.type === 'integer' ? String(integerSum(cells)) : String(sum(cells))
  if (aggregate === 'avg') return average(attribute, cells)
  return extreme(attribute, cells, aggregate === 'min' ? -1 : 1)
}

const isPresent = (text: string | null): text is string => text !== null
const sum = (cells: readonly string[]): number => cells.reduce((total, cell) => total + Number(cell), 0)
const integerSum = (cells: readonly string[]): bigint => cells.reduce((total, cell) => total + BigInt(cell), 0n)

function average({ type }: Attribute, cells: readonly string[]): string {
  const total = type === 'integer' ? Number(integerSum(cells)) : sum(cells)
  return String(total / cells.length)
}

function extreme({ type }: Attribute, cells: readonly string[], direction: 1 | -1): string | null {
  if (!isScalarType(type)) return null
  let best: { cell: string; value: Value } | undefined
  for (const cell of cells) {
    const value = decodeValue(type, cell)
    if (!best || compareValues(value, best.value) * direction > 0) best = { cell, value }
  }
  return best?.cell ?? null
}

function extentCell({ name }: Attribute, rows: readonly ValueRow[]): string | null {
  const read = rawReader(name)
  const corners = rows.flatMap((row) => {
    const geometry = geometryOf(read(row))
    const { west, south, east, north } = extentOf(geometry ? positionsOf(geometry) : [])
    return west <= east
      ? ([
          [west, south],
          [east, north],
        ] as const)
      : []
  })
  if (corners.length === 0) return null
  const { west, south, east, north } = wrapExtent(extentOf(corners))
  return JSON.stringify([west, south, east, north])
}

function sizeCell(
  { name }: Attribute,
  rows: readonly ValueRow[],
  sizeOf: (geometry: Geometry) => number,
): string | null {
  const read = rawReader(name)
  const sizes = rows.flatMap((row) => geometryOf(read(row)) ?? []).map(sizeOf)
  return sizes.length > 0 ? String(sizes.reduce((total, size) => total + size)) : null
}

/** A page of groups needs a total order, so the whole group breaks ties, as in plan-sql.ts. */
function completeOrder({ order, group = [], limit, offset }: Plan): readonly SortOrder[] {
  if (order.length === 0 && limit === undefined && offset === 0) return order
  const names = new Set(order.filter(({ by }) => !by.aggregate).map(({ by }) => by.attribute))
  const rest = group.filter((attribute) => !names.has(attribute) && isScalarType(attribute.type))
  const columns = rest.map((attribute): PlanColumn => ({ name: attribute.name, attribute, type: attribute.type }))
  return [...order, ...columns.map((by) => ({ by, isDescending: false }))]
}

/** Text as UTF-8 bytes, which sort by code point. Encoded once, not at every comparison. */
type SortKey = Exclude<Value, string> | Buffer | null

/** Nulls last in both directions. The sort is stable. */
function sortItems<Sorted extends Item>(items: Sorted[], order: readonly SortOrder[]): Sorted[] {
  if (order.length === 0) return items
  const keyed = items.map((item) => ({ item, keys: order.map(({ by }) => sortKey(by, item.cellOf(by))) }))
  keyed.sort((a, b) => {
    for (const [index, { isDescending }] of order.entries()) {
      const result = compareKeys(a.keys[index] ?? null, b.keys[index] ?? null, isDescending)
      if (result !== 0) return result
    }
    return 0
  })
  return keyed.map(({ item }) => item)
}

function sortKey({ type }: PlanColumn, cell: string | null): SortKey {
  if (cell === null || !isScalarType(type)) return null
  // BigInt, because a sum of integers can exceed the digits of a double.
  const isWhole = type === 'number' && /^-?\d+$/.test(cell)
  const value = decodeValue(isWhole ? 'integer' : type, cell)
  return typeof value === 'string' ? Buffer.from(value) : value
}

function compareKeys(a: SortKey, b: SortKey, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const result =
    Buffer.isBuffer(a) || Buffer.isBuffer(b) ? Buffer.compare(a as Buffer, b as Buffer) : compareValues(a, b)
  return isDescending ? -result : result
}

function firstOfEach(items: readonly Item[], distinct: readonly Attribute[]): Item[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = JSON.stringify(distinct.map((attribute) => item.keyOf(attribute)))
    return !seen.has(key) && seen.add(key)
  })
}
