// Makes small tiles in the main thread, on connections of its own: handing a job to a thread and its tile back costs several
// times what it takes to encode a few hundred rows. How large a tile is, is not known before it is made, so the tiles around it
// tell: where they were small and quick, another one is expected to be. One that turns out to have more bytes or larger polygons
// is given up and made by a thread, so that nobody's data can hold the main thread.
import { LRUCache } from 'lru-cache'
import { compress } from '../../../api/http/answers/compression.ts'
import type { Tile } from '../mvt/projection.ts'
import { makeTile } from './make-tile.ts'
import { createRawPools, type RawPools } from './raw-pools.ts'
import type { MadeTile, TileJob, TileQueryRows, TileRows } from './tile-job.ts'

export type SmallTiles = {
  /** Undefined if the tile is not expected to be small, or turned out not to be: a thread has to make it. */
  make(job: TileJob, series: string, signal: AbortSignal): Promise<MadeTile | undefined>
  /** Remembers the size of a tile that a thread made. */
  note(job: TileJob, series: string, made: MadeTile): void
  /** The tiles in progress. */
  readonly pending: number
  /** Cancels the tiles in progress. */
  close(): void
}

/** As many as one read of a socket has. */
const maxRowBytes = 65_536
/**
 * The squares of the numbers of corners, for all polygons of a tile: one of n corners may cross itself n² times, and making it
 * valid takes about a microsecond for each.
 */
const maxPairs = 32_768
/** A slower query would hold one of the few connections that the main thread has. */
const maxDatabaseMs = 500
/** Squares of 4 by 4 tiles tell about each other. */
const zoomsUp = 2
/** After this time a square in which a tile was large or slow is tried again. */
const largeMs = 60_000
const maxSquares = 10_000
/** More wait for a thread, whose queue is limited and says so when it is full. */
const maxPending = 256
/** The key of a series with a longer filter is not worth its memory. */
const maxSeriesLength = 500

class TooLarge extends Error {
  override name = 'TooLarge'
}

/** `series` names the tiles whose sizes can be compared: those of one source with the same parameters. */
export function createSmallTiles(maxConnections: number, pools: RawPools = createRawPools(maxConnections)): SmallTiles {
  const isSmall = new LRUCache<string, boolean>({ max: maxSquares })
  let pending = 0

  function note(job: TileJob, series: string, isOne: boolean): void {
    if (!readsPlatform(job.rows) || series.length > maxSeriesLength) return
    const square = squareOf(job.encoder.tile, series)
    if (!isOne) isSmall.set(square, false, { ttl: largeMs })
    else if (isSmall.get(square) === undefined) isSmall.set(square, true)
  }

  const noteMade: SmallTiles['note'] = (job, series, { rowBytes, pairs, databaseMs }) =>
    note(job, series, rowBytes <= maxRowBytes && pairs <= maxPairs && databaseMs <= maxDatabaseMs)

  return {
    async make(job, series, signal) {
      const { rows, definitions, asGeoJson, encoder } = job
      // Projecting and writing JSON cost more than encoding.
      if (!readsPlatform(rows) || definitions || asGeoJson || pending >= maxPending) return undefined
      if (!isSmall.get(squareOf(encoder.tile, series))) return undefined
      pending++
      try {
        const made = await makeTile(job, {
          query: (query, onRow) => pools.run(plannedOnce(query), signal, onRow),
          compress,
          atWork() {},
          onSize: refuseLarge,
        })
        noteMade(job, series, made)
        return made
      } catch (error) {
        if (!(error instanceof TooLarge)) throw error
        note(job, series, false)
        return undefined
      } finally {
        pending--
      }
    },
    note: noteMade,
    get pending() {
      return pending
    },
    close: pools.close,
  }
}

function refuseLarge(rowBytes: number, pairs: number): void {
  if (rowBytes > maxRowBytes || pairs > maxPairs) throw new TooLarge()
}

/** Queries of the platform's own server. An external one may be hostile, and only threads listen to it. */
const readsPlatform = (rows: TileRows): boolean => 'statement' in rows && 'platform' in rows.server

/**
 * Planning takes as long as finding a hundred rows, and for few rows the plan is always the same: by the spatial index. A query
 * for which it is not is slow, and goes to a thread, where each tile is planned by itself.
 */
const plannedOnce = (query: TileQueryRows): TileQueryRows => ({
  ...query,
  settings: `${query.settings};SET plan_cache_mode = force_generic_plan`,
})

const squareOf = ({ z, x, y }: Tile, series: string): string => `${z}/${x >> zoomsUp}/${y >> zoomsUp} ${series}`
