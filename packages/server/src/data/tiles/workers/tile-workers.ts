// The worker pool that makes tiles; the main thread makes the small ones.

import { createAdmission } from '../../../kernel/concurrency/admission.ts'
import { startThread } from '../../../kernel/concurrency/channel.ts'
import { createWorkerPool } from '../../../kernel/concurrency/worker-pool.ts'
import {
  codeOf,
  isAuthorsFault,
  isExternalServerFault,
  isPassing,
  isRefused,
  isTableChanged,
  tableChanged,
} from '../../../kernel/db/database-error.ts'
import { createRawLanes, type RawLanes } from '../../../kernel/db/postgres/raw-lanes.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import { isStated, isStateOfTable, reasonOf } from '../../databases/postgres/server-reason.ts'
import { unreadValue } from '../../databases/postgres/unread-value.ts'
import type { CellRows, CollectJob, WriteJob } from '../aggregate/cell-job.ts'
import type { CellTable } from '../aggregate/cell-table.ts'
import { createSmallTiles, maxDatabaseMs, type SmallTiles } from './small-tiles.ts'
import type { MadeTile, TileJob, TileRows } from './tile-job.ts'

export type TileOwner = {
  readonly applicationId: string
  /**
   * Tiles of one series have comparable sizes, so those that are probably small can be made in the main thread
   * (small-tiles.ts).
   */
  readonly series?: string
}

/** The pool's threads. */
export type TileWorkers = {
  /**
   * 503 if the queue is too long; an abort cancels the query in the database. The tiles of several owners come in turn.
   */
  make(job: TileJob, signal: AbortSignal, whose: TileOwner): Promise<MadeTile>
  /** Makes small tiles of forms that are known (small-tiles.ts). */
  readonly small: Pick<SmallTiles, 'expects' | 'begin'>
  /** Where small tiles are asked for, and other quick statements. */
  readonly lanes: RawLanes
  /** Adds rows to a table of cells. */
  collect(job: CollectJob, signal: AbortSignal, whose: TileOwner): Promise<CellTable>
  /** Writes cells as rows of an answer. */
  write(job: WriteJob, signal: AbortSignal, whose: TileOwner): Promise<Cell[][]>
  /** The most tiles in progress. */
  readonly capacity: number
  /** The tiles in progress. */
  readonly pending: number
  close(): Promise<void>
}

/**
 * Beyond this queue a 503 is better than waiting. A map does not ask again for a tile that was refused, so the queue is as long
 * as is made in a second at most. One application has few connections, so the tiles of others do not wait behind its queue.
 */
const maxPendingEach = limits.allTilesAtOnce.value
/**
 * Tiles of rows that are there already, in each thread: one that it encodes and one that waits there, so that it need not wait
 * for the next. More in its queue would be made before those of an application that asks later.
 */
const encodedAtOnce = 2
const timeoutMs = 30_000
const heapMb = 512

export type TileWorkersOptions = {
  /** The largest number of threads. */
  count: number
  /** Database connections of all threads together. */
  maxConnections: number
  /** Encoding a tile takes milliseconds; a thread whose event loop is blocked for this long is in a loop. */
  stalledMs?: number
  /** For tests. */
  script?: URL
}

export function createTileWorkers({
  count,
  maxConnections,
  stalledMs = 10_000,
  script = new URL('./tile-worker.ts', import.meta.url),
}: TileWorkersOptions): TileWorkers {
  // One part is the main thread's.
  const ofEach = Math.max(1, Math.floor(maxConnections / (count + 1)))
  // Those of the main thread that carry several statements; the others are for tiles that are made the first time.
  const laneShare = Math.floor(ofEach / 2)
  const lanes = createRawLanes(laneShare, maxDatabaseMs)
  const smallTiles = createSmallTiles(ofEach - laneShare, lanes)
  const pool = startPool(count, ofEach, { stalledMs, script })
  const turns = createAdmission({
    total: count * encodedAtOnce,
    maxWaiting: count * (maxPendingEach - encodedAtOnce),
    waitMs: timeoutMs,
    refuse: () => tooBusy(count * maxPendingEach),
  })
  let waiting = 0
  let isClosed = false

  /** Whoever has few tiles with the threads comes first. Queries take turns for connections instead, in the threads. */
  async function inTurn(job: WorkerJob, signal: AbortSignal, applicationId: string) {
    if ('rows' in job && 'statement' in job.rows) return pool.run(job, { signal })
    waiting++
    const release = await Promise.resolve(turns.admit(applicationId, { signal })).finally(() => waiting--)
    return pool.run(job, { signal }).finally(release)
  }

  async function makeInThread(job: TileJob, signal: AbortSignal, whose: Required<TileOwner>): Promise<MadeTile> {
    const made = (await inTurn(job, signal, whose.applicationId)) as MadeTile
    smallTiles.note(job, whose.series, made)
    return made
  }

  /** What goes wrong is told as whoever asks for tiles may know it. */
  async function orTold<T>(rows: TileRows | CellRows | undefined, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (isClosed) throw stopping()
      throw error instanceof Error ? errorOf(error, rows) : error
    }
  }

  return {
    capacity: count * maxPendingEach,
    small: smallTiles,
    lanes,
    get pending() {
      return waiting + pool.pending + smallTiles.pending
    },
    async make(job, signal, { applicationId, series = '' }) {
      return orTold(job.rows, async () => {
        const small = await smallTiles.make(job, series, signal)
        return small ?? (await makeInThread(job, signal, { applicationId, series }))
      })
    },
    collect: (job, signal, { applicationId }) =>
      orTold(job.rows, async () => (await inTurn(job, signal, applicationId)) as CellTable),
    write: (job, signal, { applicationId }) =>
      orTold(undefined, async () => (await inTurn(job, signal, applicationId)) as Cell[][]),
    close() {
      isClosed = true
      smallTiles.close()
      lanes.close()
      return pool.close()
    },
  }
}

type PoolOptions = Required<Pick<TileWorkersOptions, 'stalledMs' | 'script'>>

function startPool(count: number, connections: number, { stalledMs, script }: PoolOptions) {
  return createWorkerPool<WorkerJob, MadeTile | CellTable | Cell[][]>({
    start: () =>
      startThread(script, { data: connections, stalledMs, resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
    size: count,
    depth: maxPendingEach,
    maxWaiting: 0,
    // Never end idle threads: their connections and compiled code would be lost.
    idleMs: Number.POSITIVE_INFINITY,
    onAbort: 'cancel',
    timeout: { ends: 'cancel', ms: () => timeoutMs },
    // A thread works on many tiles in turn, and the one it reported last may not be the culprit.
    maxLosses: 1,
    errors: {
      busy: () => tooBusy(count * maxPendingEach),
      late: () => tooLong(timeoutMs),
      lost: () => tooLong(stalledMs),
      closing: stopping,
    },
  })
}

const stopping = (): ApiError => new ApiError('shutting_down', 'The server is stopping.')

type WorkerJob = TileJob | CollectJob | WriteJob

const tooLong = (ms: number): ApiError =>
  new ApiError(
    'query_timeout',
    `The tile took longer than ${ms / 1000} s and was stopped. ` +
      'Add a spatial index or raise minZoom (`?explain=true` shows why).',
  )

function tooBusy(capacity: number): ApiError {
  const detail = 'The server is making as many tiles as it can. Try again in a second.'
  return overLimit('allTilesAtOnce', capacity, detail, { headers: { 'Retry-After': '1' } })
}

/** Errors of a tenant's own query are shown to the caller; everything else is internal. */
function errorOf(cause: Error, rows: TileRows | CellRows | undefined): Error {
  if (cause instanceof ApiError) return cause.code === 'unavailable' ? retryable(cause) : cause
  const { message } = cause
  const code = codeOf(cause)
  if (code === '57014') return tooLong(timeoutMs)
  if (isExternalServerFault(cause)) return new ApiError('upstream_failed', message, { cause })
  if (isRefused(code))
    return new ApiError('upstream_failed', 'The server refused the user, password or database.', { cause })
  const { isTrusted, names, isExternal } = databaseOf(rows)
  if (isForLater(code) || (isTrusted && isPassing(cause)))
    return new ApiError('unavailable', 'The database is too busy. Try again shortly.', { headers: retrySoon, cause })
  if (isTrusted && isTableChanged(cause)) return tableChanged(cause)
  return unreadValue(cause, names) ?? statedBy(cause, isExternal) ?? cause
}

/** The server's own reason. An external server's belongs to whoever asks, whatever it is. */
function statedBy(cause: Error, isExternal: boolean): ApiError | undefined {
  const code = codeOf(cause)
  const isAuthors = isAuthorsFault(code)
  if (!isAuthors && !isStateOfTable(code) && !(isExternal && isStated(cause))) return undefined
  const detail = `The database says: ${reasonOf(cause, isExternal)}`
  return new ApiError(isAuthors ? 'invalid_request' : 'upstream_failed', detail, { cause })
}

/** Locks, lack of resources, shutdown and deadlocks, but not a table that has to be mended first. */
const isForLater = (code: string): boolean => /^(40|53|55|57)/.test(code) && !isStateOfTable(code)

const databaseOf = (rows: TileRows | CellRows | undefined) =>
  rows && 'statement' in rows
    ? { isTrusted: !rows.statement.isUntrusted, names: rows.names ?? {}, isExternal: !('platform' in rows.server) }
    : { isTrusted: false, names: {}, isExternal: false }

const retrySoon = { 'Retry-After': '2' }

/** Adds Retry-After again, because headers do not survive the transfer between threads. */
const retryable = ({ code, message, headers, extensions }: ApiError): ApiError =>
  new ApiError(code, message, { headers: { ...retrySoon, ...headers }, extensions })
