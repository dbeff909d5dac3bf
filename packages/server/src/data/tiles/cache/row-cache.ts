// A cache of rows from sources without SQL.

import { createSingleFlight } from '../../../kernel/concurrency/single-flight.ts'
import type { Batches } from '../../../kernel/db/guarded.ts'
import { extentOf, positionsOf } from '../../../query/geometry/geojson.ts'
import { readGeometry } from '../../../query/values/read-geometry.ts'
import type { Tile } from '../mvt/projection.ts'
import { type TileExtent, tileInDegrees } from '../source/tile-bounds.ts'
import type { TileBudget } from '../source/tile-budget.ts'
import { createMemoryThinning, type MemoryRows, type MemoryThinning } from '../thinning/memory-thinning.ts'
import type { TileRows } from '../workers/tile-job.ts'
import { createFairLruCache } from './fair-lru-cache.ts'

type Kept = MemoryRows & {
  /** By budget; made for the first tile that may be thinned. */
  readonly thinnings: Map<string, MemoryThinning>
}

/** These sources send all rows or none, so the rows are read once for many tiles. */
export type RowCache = {
  /** The rows that may touch the tile; undefined if there are too many to cache. `key` changes with the rows. */
  inTile(owner: string, key: string, request: RowRequest): Promise<TileRows | undefined>
}

type RowRequest = {
  readonly tile: Tile
  readonly margin: number
  readonly signal: AbortSignal
  /** Of a tile; absent if its rows are not thinned. */
  readonly budget?: TileBudget
  /** Reads all rows, the geometry first, as GeoJSON in degrees. */
  read(signal: AbortSignal): Promise<Batches>
}

/** The same time as unwatched data are considered unchanged. */
const keptMs = 15_000
const defaultMaxBytes = 64 * 1024 * 1024

export function createRowCache(maxBytes = defaultMaxBytes): RowCache {
  const kept = createFairLruCache<Kept | 'too many'>(maxBytes)
  const flights = createSingleFlight<Kept | 'too many'>()

  function keep(owner: string, key: string, rows: Kept | 'too many'): void {
    kept.put(owner, key, rows, sizeOf(rows))
    setTimeout(() => kept.get(owner, key) === rows && kept.drop(owner, key), keptMs).unref()
  }

  return {
    async inTile(owner, key, { tile, margin, signal, budget, read }) {
      const rows =
        kept.get(owner, key) ??
        (await flights.join(`${owner} ${key}`, signal, async (end) => {
          const collected = await collect(await read(end), maxBytes / 4)
          keep(owner, key, collected)
          return collected
        }))
      if (rows === 'too many') return undefined
      const { bytes, starts } = rows
      const chosen = touching(rows.boxes, tileInDegrees(tile, margin))
      const counts = budget && thinningOf(rows, budget).at(tile.z)
      if (!counts) return { bytes, starts, chosen }
      const shown = chosen.filter((row) => counts[row] !== 0)
      return { bytes, starts, chosen: shown, counts: shown.map((row) => counts[row] as number) }
    },
  }
}

function thinningOf(rows: Kept, budget: TileBudget): MemoryThinning {
  const key = `${budget.maxFeatures} ${budget.maxBytes}`
  const known = rows.thinnings.get(key)
  if (known) return known
  const made = createMemoryThinning(rows, budget)
  rows.thinnings.set(key, made)
  return made
}

const overhead = 500
const sizeOf = (rows: Kept | 'too many'): number =>
  overhead + (rows === 'too many' ? 0 : rows.bytes.byteLength + rows.starts.byteLength + rows.boxes.byteLength)

/** In a SharedArrayBuffer, so that worker threads read it without a copy. */
async function collect(batches: Batches, maxBytes: number): Promise<Kept | 'too many'> {
  const texts: Buffer[] = []
  const ends: number[] = [0]
  const corners: number[] = []
  let [length, geometryBytes] = [0, 0]
  for await (const batch of batches) {
    const lines = batch.filter(([geometry]) => geometry !== null).map((row) => Buffer.from(JSON.stringify(row)))
    for (const [geometry] of batch) {
      if (typeof geometry !== 'string') continue
      corners.push(...boxOf(geometry))
      geometryBytes += geometry.length
    }
    for (const line of lines) {
      length += line.length
      ends.push(length)
    }
    texts.push(Buffer.concat(lines))
    if (length + 36 * ends.length > maxBytes) return 'too many'
  }
  const bytes = new SharedArrayBuffer(length)
  const whole = Buffer.from(bytes)
  let at = 0
  for (const text of texts) at += text.copy(whole, at)
  const starts = new Int32Array(new SharedArrayBuffer(4 * ends.length))
  starts.set(ends)
  return { bytes, starts, boxes: Float64Array.from(corners), geometryBytes, thinnings: new Map() }
}

const everywhere: TileExtent = [-180, -90, 180, 90]

function boxOf(geometry: string): TileExtent {
  try {
    const { west, south, east, north } = extentOf(positionsOf(readGeometry(JSON.parse(geometry), '')))
    return [west, south, east, north]
  } catch {
    // An unreadable geometry is left to the encoder, which reports it.
    return everywhere
  }
}

/** The indexes of the boxes that touch another box, also in the neighbouring copies of the world. */
function touching(boxes: Float64Array, [west, south, east, north]: TileExtent): Int32Array {
  const chosen = new Int32Array(boxes.length / 4)
  let count = 0
  for (let row = 0, at = 0; at < boxes.length; row++, at += 4) {
    if ((boxes[at + 3] as number) < south || (boxes[at + 1] as number) > north) continue
    const [left, right] = [boxes[at] as number, boxes[at + 2] as number]
    const isHere = turns.some((turn) => right + turn >= west && left + turn <= east)
    if (isHere) chosen[count++] = row
  }
  return chosen.slice(0, count)
}

const turns = [-360, 0, 360]
