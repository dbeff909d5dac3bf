// The rule of thinning-rule.ts over rows in memory.

import { shapeBytes } from './row-bytes.ts'
import {
  alwaysShown,
  cellBitsFor,
  chooseRates,
  highestThinned,
  type Rates,
  rankLimit,
  ranks,
  rateAt,
  sizeClass,
  standsFor,
  type TileLoad,
  thinningBudget,
} from './thinning-rule.ts'

export type MemoryRows = {
  /** Each row from its start to the next. */
  readonly bytes: SharedArrayBuffer
  readonly starts: Int32Array
  /** West, south, east and north of each row, in degrees. */
  readonly boxes: Float64Array
  /** What the geometries take of the bytes. */
  readonly geometryBytes: number
}

export type MemoryThinning = {
  /** For each row what it stands for at a zoom, 0 if it is hidden; undefined if the zoom shows all rows. */
  at(zoom: number): Int32Array | undefined
}

type Budget = Parameters<typeof thinningBudget>[0]

/** Fewer rows fit into any tile. */
const leastRows = 500
const cornerText = 20
/** JSON repeats quotes, and a tile stores equal values once. */
const valueShare = 0.5
const featureBytes = 16

export function createMemoryThinning(rows: MemoryRows, budget: Budget): MemoryThinning {
  const count = rows.boxes.length / 4
  if (count <= leastRows || count > mostRows) return { at: () => undefined }
  const positions = positionsOf(rows)
  const densest = densestTiles(rows, positions)
  const limits = thinningBudget(budget)
  const [rates, cellBits] = [chooseRates(densest, limits), cellBitsFor(densest, limits)]
  const kept = new Map<number, Int32Array>()
  return {
    at(zoom) {
      if (rateAt(rates, zoom) === 1) return undefined
      const known = kept.get(zoom)
      if (known) return known
      const counts = thinned(positions, { rates, cellBits, zoom })
      kept.set(zoom, counts)
      return counts
    },
  }
}

/** More take too long to look through at once. */
const mostRows = 500_000

type Positions = {
  /** The centres in web mercator, from 0 to 1, and the larger side of each box. */
  readonly x: Float64Array
  readonly y: Float64Array
  readonly width: Float64Array
  readonly rank: Int32Array
}

function positionsOf({ bytes, starts, boxes }: MemoryRows): Positions {
  const count = boxes.length / 4
  const all = new Uint8Array(bytes)
  const [x, y] = [new Float64Array(count), new Float64Array(count)]
  const [width, rank] = [new Float64Array(count), new Int32Array(count)]
  for (let row = 0, at = 0; row < count; row++, at += 4) {
    const [west, east] = [(boxes[at] as number) / 360 + 0.5, (boxes[at + 2] as number) / 360 + 0.5]
    const [south, north] = [heightOf(boxes[at + 1] as number), heightOf(boxes[at + 3] as number)]
    const middle = (west + east) / 2
    x[row] = middle - Math.floor(middle)
    y[row] = (south + north) / 2
    width[row] = Math.max(east - west, south - north)
    rank[row] = rankOf(all, starts[row] as number, starts[row + 1] as number)
  }
  return { x, y, width, rank }
}

const mostLatitude = 85.0511287798066

function heightOf(latitude: number): number {
  const sine = Math.sin((Math.max(-mostLatitude, Math.min(mostLatitude, latitude)) * Math.PI) / 180)
  return Math.max(0, Math.min(1 - 1e-12, 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)))
}

/** A hash of the row's bytes (FNV-1a), mixed so that its high bits are uniform too. */
function rankOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 1) % ranks
}

/** Of each zoom the tile with the most rows. */
function densestTiles({ bytes, geometryBytes }: MemoryRows, { x, y, width }: Positions): TileLoad[][] {
  const count = x.length
  const corners = geometryBytes / count / cornerText
  const rowBytes = featureBytes + (valueShare * (bytes.byteLength - geometryBytes)) / count
  // Rows of a tile follow each other in the order of their codes, at every zoom.
  const order = new Float64Array(count)
  const codes = 2 ** (2 * highestThinned)
  for (let row = 0; row < count; row++) order[row] = codeAt(x[row] as number, y[row] as number) * mostRows * 2 + row
  order.sort()
  return Array.from({ length: highestThinned + 1 }, (_, zoom) => {
    const perTile = (codes / 4 ** zoom) * mostRows * 2
    let [best, from] = [{ start: 0, end: 0 }, 0]
    for (let at = 1; at <= count; at++) {
      if (at < count && Math.floor((order[at] as number) / perTile) === Math.floor((order[from] as number) / perTile))
        continue
      if (at - from > best.end - best.start) best = { start: from, end: at }
      from = at
    }
    const load = Array.from({ length: alwaysShown + 1 }, (_, size) => ({
      rows: 0,
      bytes: 0,
      each: rowBytes + shapeBytes(size, corners),
    }))
    for (let at = best.start; at < best.end; at++) {
      const part = load[sizeClass((width[(order[at] as number) % (mostRows * 2)] as number) * 2 ** zoom)]
      if (!part) continue
      part.rows++
      part.bytes += part.each
    }
    return [load]
  })
}

/** The bits of both positions in turn. */
function codeAt(x: number, y: number): number {
  const [column, row] = [Math.floor(x * 2 ** highestThinned), Math.floor(y * 2 ** highestThinned)]
  let code = 0
  for (let bit = highestThinned - 1; bit >= 0; bit--) code = code * 4 + ((row >> bit) & 1) * 2 + ((column >> bit) & 1)
  return code
}

/** By class how many rows there are, and which of them have a rank below the rate's. */
type Cell = { readonly totals: number[]; readonly shown: number[][]; lowest: number }

const emptyCell = (lowest: number): Cell => ({
  totals: Array.from({ length: alwaysShown }, () => 0),
  shown: Array.from({ length: alwaysShown }, () => []),
  lowest,
})

function thinned(
  { x, y, width, rank }: Positions,
  { rates, cellBits, zoom }: { readonly rates: Rates; readonly cellBits: number; readonly zoom: number },
): Int32Array {
  const side = 2 ** (zoom + cellBits)
  const rate = rateAt(rates, zoom)
  const limits = Array.from({ length: alwaysShown + 1 }, (_, size) => rankLimit(rate, size))
  const counts = new Int32Array(x.length)
  const cells = new Map<number, Cell>()
  const classOf = (row: number): number => sizeClass((width[row] as number) * 2 ** zoom)
  for (let row = 0; row < counts.length; row++) {
    const size = classOf(row)
    if (size === alwaysShown) {
      counts[row] = 1
      continue
    }
    const key = Math.floor((y[row] as number) * side) * side + Math.floor((x[row] as number) * side)
    let cell = cells.get(key)
    if (!cell) {
      cell = emptyCell(row)
      cells.set(key, cell)
    }
    cell.totals[size] = (cell.totals[size] as number) + 1
    if ((rank[row] as number) < (rank[cell.lowest] as number)) cell.lowest = row
    if ((rank[row] as number) < (limits[size] as number)) cell.shown[size]?.push(row)
  }
  for (const cell of cells.values()) shareOut(cell, classOf(cell.lowest), rank, counts)
  return counts
}

/** `first`: the class of the row with the lowest rank, which stands for the classes of which none is shown. */
function shareOut({ totals, shown, lowest }: Cell, first: number, rank: Int32Array, counts: Int32Array): void {
  if (!shown[first]?.includes(lowest)) shown[first]?.push(lowest)
  const rest = totals.reduce((sum, total, size) => (shown[size]?.length === 0 ? sum + total : sum), 0)
  for (const [size, rows] of shown.entries()) {
    rows.sort((one, other) => (rank[one] as number) - (rank[other] as number))
    const total = (totals[size] as number) + (size === first ? rest : 0)
    for (const [place, row] of rows.entries()) counts[row] = standsFor(place, rows.length, total)
  }
}
