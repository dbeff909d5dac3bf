import { Worker } from 'node:worker_threads'
import { isAuthorsFault, isRefused } from '../db/database-error.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import type { FromWorker, MadeTile, TileJob, ToWorker } from './tile-job.ts'

/** The threads in which tiles are made. */
export type TileWorkers = {
  /** 503 when there is more to do than can be done soon; an abort ends the query in the database. */
  make(job: TileJob, signal: AbortSignal): Promise<MadeTile>
  /** How many tiles can be in the making. */
  readonly capacity: number
  /** How many are. */
  readonly pending: number
  close(): Promise<void>
}

type Pending = { resolve(tile: MadeTile): void; reject(error: unknown): void }
type Thread = { readonly worker: Worker; readonly pending: Map<number, Pending> }

/** Waiting for longer than these take is worse than being told to come again. */
const maxPendingEach = 64
const timeoutMs = 30_000

export function createTileWorkers(count: number): TileWorkers {
  const threads: Thread[] = []
  let lastId = 0

  function start(): Thread {
    const worker = new Worker(new URL('./tile-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    })
    const thread: Thread = { worker, pending: new Map() }
    worker.unref()
    worker.on('message', (message: FromWorker) => {
      const pending = thread.pending.get(message.id)
      thread.pending.delete(message.id)
      if (thread.pending.size === 0) worker.unref()
      if ('tile' in message) pending?.resolve(message.tile)
      else pending?.reject(errorOf(message.error))
    })
    const lose = (): void => {
      const at = threads.indexOf(thread)
      if (at >= 0) threads.splice(at, 1)
      for (const { reject } of thread.pending.values())
        reject(new ApiError('unavailable', 'The tile was too much work.', retrySoon))
      thread.pending.clear()
    }
    worker.on('error', lose)
    worker.on('exit', lose)
    threads.push(thread)
    return thread
  }

  /** The one with the least to do; a new one as long as there may be more. */
  function leastBusy(): Thread {
    const [best] = [...threads].sort((a, b) => a.pending.size - b.pending.size)
    const thread = !best || (best.pending.size > 0 && threads.length < count) ? start() : best
    if (thread.pending.size < maxPendingEach) return thread
    throw tooBusy()
  }

  return {
    capacity: count * maxPendingEach,
    get pending() {
      return threads.reduce((sum, { pending }) => sum + pending.size, 0)
    },
    async make(job, signal) {
      signal.throwIfAborted()
      const { worker, pending } = leastBusy()
      const id = ++lastId
      const send = (message: ToWorker): void => worker.postMessage(message)
      const timer = setTimeout(() => {
        pending.get(id)?.reject(new ApiError('query_timeout', 'The tile took too long to make. Ask for less of it.'))
        send({ id, cancel: true })
      }, timeoutMs)
      const leave = (): void => {
        pending.get(id)?.reject(signal.reason)
        send({ id, cancel: true })
      }
      signal.addEventListener('abort', leave, { once: true })
      worker.ref()
      try {
        return await new Promise<MadeTile>((resolve, reject) => {
          pending.set(id, { resolve, reject })
          send({ id, job })
        })
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
      }
    },
    async close() {
      await Promise.all(threads.splice(0).map(({ worker }) => worker.terminate()))
    },
  }
}

export function tooBusy(): ApiError {
  const detail = 'The server is making as many tiles as it can. Try again in a second.'
  return new ApiError('unavailable', detail, { headers: { 'Retry-After': '1' } })
}

/** What the database says of its own author's query is for its author to know; everything else is ours. */
function errorOf({ message, code, status }: { message: string; code: string; status?: string }): Error {
  const cause = Object.assign(new Error(message), { code })
  if (status !== undefined) return new ApiError(status as ErrorCode, message, status === 'unavailable' ? retrySoon : {})
  if (code === '57014') return new ApiError('query_timeout', 'The tile took too long to make. Ask for less of it.')
  if (isRefused(code))
    return new ApiError('upstream_failed', 'The server refused the user, password or database.', { cause })
  // Locked, out of memory or disk, shutting down, one of two that wait for each other.
  if (/^(40|53|55|57)/.test(code))
    return new ApiError('unavailable', 'The database is too busy; try again shortly.', { ...retrySoon, cause })
  if (isAuthorsFault(code)) return new ApiError('invalid_request', `The database says: ${message}`, { cause })
  return cause
}

const retrySoon = { headers: { 'Retry-After': '2' } }
