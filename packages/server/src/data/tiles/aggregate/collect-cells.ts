// Adds rows to a table of cells. Runs in the tile threads.
import type { ApiError } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import type { CellScheme } from '../../../query/plan/cell-aggregate.ts'
import { type CellKey, keyOf } from './cell-keys.ts'
import { type CellTable, cellFields, strideOf, valueFields } from './cell-table.ts'
import { fractionX, fractionY, longitudeAt } from './squares.ts'

export type CellCollector = {
  /** The place in degrees; what is no place is counted as such. Values that are no finite numbers count as null. */
  add(longitude: number, latitude: number, values: Float64Array): void
  finish(): CellTable
}

type Shape = { readonly scheme: CellScheme; readonly attributes: number }

type Collected = Shape & {
  readonly stride: number
  /** The index of a cell by the halves of its key. */
  readonly indexes: Map<number, Map<number, number>>
  /** That of the row at hand. */
  readonly key: CellKey
  cells: Float64Array
  count: number
  rows: number
  unplaced: number
}

const firstCells = 256

/** `former` is what earlier rows came to. */
export function collectCells(shape: Shape, former?: CellTable): CellCollector {
  const collected = begin(shape, former)
  return {
    add: (longitude, latitude, values) => addRow(collected, longitude, latitude, values),
    finish: () => tableOf(collected),
  }
}

function begin({ scheme, attributes }: Shape, former: CellTable | undefined): Collected {
  const stride = strideOf(attributes)
  const { count = 0, rows = 0, unplaced = 0 } = former ?? {}
  const cells = new Float64Array(Math.max(firstCells, 2 * count) * stride)
  const key = { high: 0, low: 0 }
  const collected = { scheme, attributes, stride, indexes: new Map(), key, cells, count, rows, unplaced }
  if (!former) return collected
  cells.set(former.cells)
  for (let index = 0; index < count; index++) {
    key.high = cells[index * stride + cellFields.high] as number
    key.low = cells[index * stride + cellFields.low] as number
    remember(collected, index)
  }
  return collected
}

function remember({ indexes, key: { high, low } }: Collected, index: number): void {
  const known = indexes.get(high)
  if (known) known.set(low, index)
  else indexes.set(high, new Map([[low, index]]))
}

/** Longitudes go round the earth a few times at most. */
const farthest = 360 * 4

function addRow(collected: Collected, longitude: number, latitude: number, values: Float64Array): void {
  collected.rows++
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) < farthest)) {
    collected.unplaced++
    return
  }
  const { scheme, key, stride, indexes } = collected
  const x = fractionX(longitude)
  const y = fractionY(latitude)
  keyOf(scheme, longitudeAt(x), latitude, key)
  const index = indexes.get(key.high)?.get(key.low) ?? addCell(collected, x, y)
  const { cells } = collected
  const at = index * stride
  cells[at + cellFields.count] = (cells[at + cellFields.count] as number) + 1
  cells[at + cellFields.sumX] = (cells[at + cellFields.sumX] as number) + x
  cells[at + cellFields.sumY] = (cells[at + cellFields.sumY] as number) + y
  for (let value = 0; value < values.length; value++) {
    addValue(cells, at + cellFields.values + value * valueFields.size, values[value] as number)
  }
}

function addCell(collected: Collected, x: number, y: number): number {
  const { stride, attributes, key } = collected
  const index = collected.count++
  if (index >= limits.aggregateCells.value) throw tooManyCells()
  const at = index * stride
  if (at + stride > collected.cells.length) {
    const larger = new Float64Array(collected.cells.length * 2)
    larger.set(collected.cells)
    collected.cells = larger
  }
  const { cells } = collected
  cells[at + cellFields.high] = key.high
  cells[at + cellFields.low] = key.low
  cells[at + cellFields.x] = x
  cells[at + cellFields.y] = y
  for (let value = 0; value < attributes; value++) {
    const place = at + cellFields.values + value * valueFields.size
    cells[place + valueFields.min] = Number.POSITIVE_INFINITY
    cells[place + valueFields.max] = Number.NEGATIVE_INFINITY
  }
  remember(collected, index)
  return index
}

function addValue(cells: Float64Array, at: number, value: number): void {
  if (!Number.isFinite(value)) return
  const sum = cells[at] as number
  const total = sum + value
  // Neumaier's summation: what rounding takes from the smaller one is kept apart.
  const lost = Math.abs(sum) >= Math.abs(value) ? sum - total + value : value - total + sum
  cells[at + valueFields.sum] = total
  cells[at + valueFields.rest] = (cells[at + valueFields.rest] as number) + lost
  cells[at + valueFields.count] = (cells[at + valueFields.count] as number) + 1
  cells[at + valueFields.min] = Math.min(value, cells[at + valueFields.min] as number)
  cells[at + valueFields.max] = Math.max(value, cells[at + valueFields.max] as number)
}

/** In the order of the keys, so that equal rows make equal tables in whatever order they come. */
function tableOf({ scheme, attributes, cells, stride, count, rows, unplaced }: Collected): CellTable {
  const field = (index: number, name: 'high' | 'low'): number => cells[index * stride + cellFields[name]] as number
  const order = Uint32Array.from({ length: count }, (_, index) => index).sort(
    (a, b) => field(a, 'high') - field(b, 'high') || field(a, 'low') - field(b, 'low'),
  )
  const shared = new Float64Array(new SharedArrayBuffer(count * stride * Float64Array.BYTES_PER_ELEMENT))
  for (const [index, from] of order.entries()) {
    shared.set(cells.subarray(from * stride, (from + 1) * stride), index * stride)
  }
  return { scheme, attributes, cells: shared, count, rows, unplaced }
}

function tooManyCells(): ApiError {
  const most = limits.aggregateCells.value
  const detail = `gives more than ${most} cells: use a coarser resolution (a smaller number, or auto), or a filter`
  return overLimit('aggregateCells', most, detail, { path: 'query/aggregate' })
}
