// Makes small tiles in the main thread, on connections of its own: handing a job to a thread and its tile back costs several
// times what it takes to encode a few hundred rows. How large a tile is, is not known before it is made, so the tiles around it
// tell: where they were small and quick, another one is expected to be. One that turns out to have more bytes or larger polygons
// is given up and made by a thread, so that nobody's data can hold the main thread.
import { LRUCache } from 'lru-cache'
import { compress } from '../../../api/http/answers/compression.ts'
import { codeOf } from '../../../kernel/db/database-error.ts'
import type { RowSink } from '../../../kernel/db/postgres/raw-connection.ts'
import { plannedOnce, type RawLanes } from '../../../kernel/db/postgres/raw-lanes.ts'
import type { Tile } from '../mvt/projection.ts'
import { createTileEncoder, type TileEncoder } from '../mvt/tile-encoder.ts'
import { makeTile, nothingTaken, takeRow, tileTag } from './make-tile.ts'
import { createRawPools, type RawPools } from './raw-pools.ts'
import type { MadeTile, TileForm, TileJob, TileRows } from './tile-job.ts'

export type SmallTiles = {
  /** Undefined if the tile is not expected to be small, or turned out not to be: a thread has to make it. */
  make(job: TileJob, series: string, signal: AbortSignal): Promise<MadeTile | undefined>
  /** Whether `begin` may be tried. */
  expects(form: TileForm, tile: Tile): boolean
  /**
   * Makes a tile of a form that is known, uncompressed and without a promise. False if there is no place, and then `done` is not
   * called; otherwise it is called later, with nothing if the tile has to be made by `make`.
   */
  begin(form: TileForm, tile: Tile, done: (made: MadeTile | undefined) => void): boolean
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
export const maxDatabaseMs = 500
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
export function createSmallTiles(
  maxConnections: number,
  lanes: Pick<RawLanes, 'send'>,
  pools: RawPools = createRawPools(maxConnections),
): SmallTiles {
  const isSmall = new LRUCache<string, boolean>({ max: maxSquares })
  let pending = 0

  function note(job: TileJob, series: string, isOne: boolean): void {
    if (readsPlatform(job.rows) && series.length <= maxSeriesLength) noteSize(job.encoder.tile, series, isOne)
  }

  function noteSize(tile: Tile, series: string, isOne: boolean): void {
    const square = squareOf(tile, series)
    if (!isOne) isSmall.set(square, false, { ttl: largeMs })
    else if (isSmall.get(square) === undefined) isSmall.set(square, true)
  }

  const noteMade: SmallTiles['note'] = (job, series, { rowBytes, pairs, databaseMs }) =>
    note(job, series, rowBytes <= maxRowBytes && pairs <= maxPairs && databaseMs <= maxDatabaseMs)

  const expects: SmallTiles['expects'] = ({ series }, tile) =>
    pending < maxPending && isSmall.get(squareOf(tile, series)) === true

  return {
    async make(job, series, signal) {
      const { rows, definitions, asGeoJson, encoder } = job
      // Projecting and writing JSON cost more than encoding.
      if (!readsPlatform(rows) || definitions || asGeoJson || pending >= maxPending) return undefined
      if (!isSmall.get(squareOf(encoder.tile, series))) return undefined
      pending++
      try {
        const made = await makeTile(job, {
          query: (query, onRow) => pools.run({ ...query, settings: plannedOnce(query.settings) }, signal, onRow),
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
    expects,
    begin(form, tile, done) {
      const isSent = sendTile(lanes, form, tile, (made) => {
        pending--
        const isMade = !(made instanceof Error)
        if (!isMade && endsSmallness(made)) noteSize(tile, form.series, false)
        done(isMade ? made : undefined)
      })
      if (isSent) pending++
      return isSent
    },
    note: noteMade,
    get pending() {
      return pending
    },
    close() {
      pools.close()
    },
  }
}

/** It was large or slow. Others fail with it, and say nothing about theirs. */
const endsSmallness = (error: Error): boolean => error instanceof TooLarge || codeOf(error) === queryCanceled
const queryCanceled = '57014'

/** False if no connection has a place. */
function sendTile(
  lanes: Pick<RawLanes, 'send'>,
  form: TileForm,
  tile: Tile,
  done: (made: MadeTile | Error) => void,
): boolean {
  const begun = performance.now()
  const taken = nothingTaken()
  // Made with the first row: rows come tile by tile, so that one buffer serves them all.
  let encoder: TileEncoder | undefined
  const onRow: RowSink = (bytes, at) => {
    takeRow(taken, bytes, at, refuseLarge)
    encoder ??= createTileEncoder({ ...form.encoder, tile })
    if (!encoder.addRow(bytes, at)) taken.refused++
  }
  return lanes.send(form.session, form.statementFor(tile), onRow, (error) => {
    if (error) return done(error)
    const queried = performance.now()
    const encoded = (encoder ?? createTileEncoder({ ...form.encoder, tile })).finish()
    const databaseMs = queried - begun
    const times = { databaseMs, queryMs: databaseMs, encodeMs: performance.now() - queried, compressMs: 0 }
    done({ ...encoded, ...taken, ...times, etag: tileTag(encoded.bytes) })
  })
}

function refuseLarge(rowBytes: number, pairs: number): void {
  if (rowBytes > maxRowBytes || pairs > maxPairs) throw new TooLarge()
}

/** Queries of the platform's own server. An external one may be hostile, and only threads listen to it. */
const readsPlatform = (rows: TileRows): boolean => 'statement' in rows && 'platform' in rows.server

const squareOf = ({ z, x, y }: Tile, series: string): string => `${z}/${x >> zoomsUp}/${y >> zoomsUp} ${series}`
