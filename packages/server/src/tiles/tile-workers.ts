import { Worker } from 'node:worker_threads'
import { isAuthorsFault, isForeignServerFault, isRefused } from '../db/database-error.ts'
import { publicDatabaseMessage } from '../db/public-message.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import { createHeartbeat, type Heartbeat, lastJob, watchThread } from '../thread-watchdog.ts'
import type { FromWorker, MadeTile, TileJob, TileThreadData, ToWorker } from './tile-job.ts'

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

type Task = {
  readonly id: number
  readonly job: TileJob
  thread: Thread
  /** Threads that were lost while they had it. */
  losses: number
  isCancelled: boolean
  resolve(tile: MadeTile): void
  reject(error: unknown): void
}
type Thread = { readonly worker: Worker; readonly heartbeat: Heartbeat; readonly tasks: Map<number, Task> }

/** Waiting for longer than these take is worse than being told to come again. */
const maxPendingEach = 64
const timeoutMs = 30_000

export type TileWorkersOptions = {
  /** The most threads. */
  count: number
  /** To databases, of all threads together. */
  maxConnections: number
  /** One tile is encoded in milliseconds; a thread that has no turn for this long is in a loop. */
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
  const threads: Thread[] = []
  const ofEach = Math.max(1, Math.floor(maxConnections / count))
  let lastId = 0

  function start(): Thread {
    const thread = startThread(script, ofEach, lose)
    watchThread(thread.worker, thread.heartbeat, stalledMs)
    threads.push(thread)
    return thread
  }

  /** What the thread was at is given up; the rest of its tasks go to another thread, once. */
  function lose(thread: Thread): void {
    const at = threads.indexOf(thread)
    if (at < 0) return
    threads.splice(at, 1)
    const culprit = lastJob(thread.heartbeat)
    for (const task of thread.tasks.values()) {
      if (task.isCancelled) continue
      if (task.id === culprit || ++task.losses > 1) task.reject(tooLong(stalledMs))
      else giveTo(leastBusy(), task)
    }
  }

  function giveTo(thread: Thread, task: Task): void {
    task.thread = thread
    thread.tasks.set(task.id, task)
    thread.worker.ref()
    thread.worker.postMessage({ id: task.id, job: task.job } satisfies ToWorker)
  }

  /** The one with the least to do; a new one as long as there may be more. */
  function leastBusy(): Thread {
    const [best] = [...threads].sort((a, b) => a.tasks.size - b.tasks.size)
    return !best || (best.tasks.size > 0 && threads.length < count) ? start() : best
  }

  return {
    capacity: count * maxPendingEach,
    get pending() {
      return threads.reduce((sum, { tasks }) => sum + tasks.size, 0)
    },
    async make(job, signal) {
      signal.throwIfAborted()
      const thread = leastBusy()
      if (thread.tasks.size >= maxPendingEach) throw tooBusy()
      const { promise, resolve, reject } = Promise.withResolvers<MadeTile>()
      const task: Task = { id: ++lastId, job, thread, losses: 0, isCancelled: false, resolve, reject }
      const cancel = (reason: unknown): void => {
        task.isCancelled = true
        task.reject(reason)
        task.thread.worker.postMessage({ id: task.id, cancel: true } satisfies ToWorker)
      }
      const leave = (): void => cancel(signal.reason)
      const timer = setTimeout(() => cancel(tooLong(timeoutMs)), timeoutMs)
      signal.addEventListener('abort', leave, { once: true })
      giveTo(thread, task)
      try {
        return await promise
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
      }
    },
    async close() {
      const all = threads.splice(0)
      for (const { reject } of all.flatMap(({ tasks }) => [...tasks.values()])) {
        reject(new ApiError('shutting_down', 'The server is stopping.'))
      }
      await Promise.all(all.map(({ worker }) => worker.terminate()))
    },
  }
}

function startThread(script: URL, maxConnections: number, onLost: (thread: Thread) => void): Thread {
  const heartbeat = createHeartbeat()
  const worker = new Worker(script, {
    workerData: { heartbeat, maxConnections } satisfies TileThreadData,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  })
  const tasks = new Map<number, Task>()
  const thread: Thread = { worker, heartbeat, tasks }
  worker.unref()
  worker.on('message', (message: FromWorker) => {
    const task = tasks.get(message.id)
    tasks.delete(message.id)
    if (tasks.size === 0) worker.unref()
    if ('tile' in message) task?.resolve(message.tile)
    else task?.reject(errorOf(message.error))
  })
  worker.on('error', () => onLost(thread))
  worker.on('exit', () => onLost(thread))
  return thread
}

const tooLong = (ms: number): ApiError =>
  new ApiError(
    'query_timeout',
    `The tile took longer than ${ms / 1000} s and was stopped. ` +
      'Add a spatial index or raise minZoom (`?explain=true` shows why).',
  )

export function tooBusy(): ApiError {
  const detail = 'The server is making as many tiles as it can. Try again in a second.'
  return new ApiError('unavailable', detail, { headers: { 'Retry-After': '1' } })
}

/** What the database says of its own author's query is for its author to know; everything else is ours. */
function errorOf({ message, code, status }: { message: string; code: string; status?: string }): Error {
  const cause = Object.assign(new Error(message), { code })
  if (status !== undefined) return new ApiError(status as ErrorCode, message, status === 'unavailable' ? retrySoon : {})
  if (code === '57014') return tooLong(timeoutMs)
  if (isForeignServerFault(cause)) return new ApiError('upstream_failed', message, { cause })
  if (isRefused(code))
    return new ApiError('upstream_failed', 'The server refused the user, password or database.', { cause })
  // Locked, out of memory or disk, shutting down, one of two that wait for each other.
  if (/^(40|53|55|57)/.test(code))
    return new ApiError('unavailable', 'The database is too busy. Try again shortly.', { ...retrySoon, cause })
  if (isAuthorsFault(code))
    return new ApiError('invalid_request', `The database says: ${publicDatabaseMessage({ message, code })}`, { cause })
  return cause
}

const retrySoon = { headers: { 'Retry-After': '2' } }
