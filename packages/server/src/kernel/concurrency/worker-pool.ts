import type { Channel } from './channel.ts'
import { createCaller, type PendingCall, type RequestClient, WorkerEnded } from './request-reply.ts'

/**
 * A pool of worker threads or child processes that answer requests, with time-outs and replacement. Workers are started when
 * they are needed and end when they are idle. When one is lost, the request that it was at fails; the others that it had go
 * to another worker.
 */
export type WorkerPool<Request, Value, Notice = never> = {
  run(request: Request, options?: TaskOptions<Notice>): Promise<Value>
  /** How many requests wait or are being answered. */
  readonly pending: number
  readonly isRunning: boolean
  /** Ends the workers if there is nothing to do, and tells whether. The next request starts another. */
  rest(): boolean
  close(): Promise<void>
}

export type TaskOptions<Notice = never> = {
  readonly signal?: AbortSignal | undefined
  /** Of those who wait, an owner of whom nothing is being answered comes first. */
  readonly owner?: string
  onNotice?(notice: Notice, tell: (message: unknown) => void): void
}

/**
 * How a request ends before its answer. `cancel`: its worker is told, and has it until it answers. `replace`: for work that
 * listens to nothing while it runs; the worker is killed.
 */
type Ending = 'cancel' | 'replace'

export type WorkerPoolOptions<Request> = {
  start(): Channel
  /** The most workers. */
  readonly size: number
  /** The most requests that one worker has; the others wait. */
  readonly depth: number
  readonly maxWaiting?: number
  readonly onAbort: Ending
  /** The time of one request: until its worker gave up (`cancel`), or while its worker is at it (`replace`). */
  readonly timeout?: { readonly ends: Ending; ms(request: Request): number }
  /** Loading the code does not count as the time of a request. */
  readonly startMs?: number
  /** Infinite where starting anew costs more than a worker that waits. */
  readonly idleMs?: number
  /** How many workers a request may lose without being the one that they were at. */
  readonly maxLosses?: number
  readonly errors: {
    /** Too many wait. */
    busy(): Error
    late(request: Request): Error
    /** The worker that was at the request has ended by itself. */
    lost(cause: Error): Error
    closing(): Error
  }
}

type Task = PromiseWithResolvers<unknown> & {
  readonly request: unknown
  readonly owner: string
  readonly onNotice: TaskOptions<unknown>['onNotice']
  losses: number
  /** Nobody waits for it any more. */
  isOver: boolean
  at?: { readonly worker: PooledWorker; readonly call: PendingCall<unknown> }
}

type PooledWorker = {
  readonly channel: Channel
  readonly caller: RequestClient<unknown, unknown, unknown>
  /** In the order in which they were sent. */
  readonly tasks: Set<Task>
  isReady: boolean
  /** One timer: for the start, for the request that the worker is at, or for its idleness. */
  timer?: NodeJS.Timeout | undefined
  timed?: Task | 'start' | 'idle' | undefined
}

type Pool = {
  readonly options: WorkerPoolOptions<unknown>
  readonly workers: Set<PooledWorker>
  /** Workers that are not in the pool any more are waited for when it is closed. */
  readonly ending: Set<Promise<unknown>>
  waiting: Set<Task>
  isClosed: boolean
}

const usualStartMs = 30_000
const usualIdleMs = 60_000

export function createWorkerPool<Request, Value, Notice = never>(
  options: WorkerPoolOptions<Request>,
): WorkerPool<Request, Value, Notice> {
  const pool: Pool = {
    options: options as WorkerPoolOptions<unknown>,
    workers: new Set(),
    ending: new Set(),
    waiting: new Set(),
    isClosed: false,
  }
  const { workers } = pool
  const pending = (): number => workers.values().reduce((sum, { tasks }) => sum + tasks.size, pool.waiting.size)
  return {
    run: (request, wanted = {}) => run(pool, request, wanted as TaskOptions<unknown>) as Promise<Value>,
    get pending() {
      return pending()
    },
    get isRunning() {
      return workers.size > 0
    },
    rest() {
      if (pending() > 0) return false
      for (const worker of workers) retire(pool, worker)
      return true
    },
    async close() {
      pool.isClosed = true
      const tasks = [...pool.waiting, ...workers.values().flatMap((worker) => worker.tasks)]
      for (const task of tasks) stop(pool, task, 'cancel', options.errors.closing())
      for (const worker of workers) retire(pool, worker)
      await Promise.all(pool.ending)
    },
  }
}

async function run(pool: Pool, request: unknown, { signal, owner = '', onNotice }: TaskOptions<unknown>) {
  const { timeout, errors, onAbort, maxWaiting = Number.POSITIVE_INFINITY } = pool.options
  signal?.throwIfAborted()
  if (pool.isClosed) throw errors.closing()
  const task: Task = { ...Promise.withResolvers<unknown>(), request, owner, onNotice, losses: 0, isOver: false }
  pool.waiting.add(task)
  advance(pool)
  if (pool.waiting.has(task) && pool.waiting.size > maxWaiting) {
    pool.waiting.delete(task)
    throw errors.busy()
  }
  const leave = (): void => stop(pool, task, onAbort, signal?.reason)
  const late = (): void => stop(pool, task, 'cancel', errors.late(request))
  signal?.addEventListener('abort', leave, { once: true })
  const timer = timeout?.ends === 'cancel' ? setTimeout(late, timeout.ms(request)) : undefined
  try {
    return await task.promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
  }
}

/** Whoever waits for it hears no more of it. */
function settle(task: Task): Pick<Task, 'resolve' | 'reject'> {
  task.isOver = true
  return task
}

/** Ends a request without its answer. */
function stop(pool: Pool, task: Task, how: Ending, error: unknown): void {
  if (task.isOver) return
  settle(task).reject(error)
  if (!task.at) pool.waiting.delete(task)
  else if (how === 'cancel') task.at.call.cancel()
  else replace(pool, task.at.worker, task, pool.options.errors.late(task.request))
}

/** Gives requests to workers as long as there are any with room. */
function advance(pool: Pool): void {
  while (pool.waiting.size > 0 && !pool.isClosed) {
    const task = next(pool)
    try {
      const worker = workerWithRoom(pool)
      if (!worker) return
      pool.waiting.delete(task)
      give(pool, worker, task)
    } catch (error) {
      // No worker could be started: want of memory, for instance.
      pool.waiting.delete(task)
      settle(task).reject(error)
    }
  }
}

/** An owner of whom nothing is being answered comes first: none keeps the others waiting for long. */
function next({ waiting, workers }: Pool): Task {
  const [first] = waiting as Set<Task> & [Task]
  if (waiting.size === 1 || first.owner === '') return first
  const busy = new Set(workers.values().flatMap(({ tasks }) => tasks.values().map(({ owner }) => owner)))
  return waiting.values().find(({ owner }) => !busy.has(owner)) ?? first
}

/** The one with the least to do; a new one as long as there may be more. */
function workerWithRoom(pool: Pool): PooledWorker | undefined {
  const { workers, options } = pool
  let best: PooledWorker | undefined
  for (const worker of workers) if (!best || worker.tasks.size < best.tasks.size) best = worker
  if (!best || (best.tasks.size > 0 && workers.size < options.size)) return start(pool)
  return best.tasks.size < options.depth ? best : undefined
}

function start(pool: Pool): PooledWorker {
  const channel = pool.options.start()
  const onReady = (): void => {
    worker.isReady = true
    watch(pool, worker)
  }
  const caller = createCaller<unknown, unknown, unknown>(channel, onReady)
  const worker: PooledWorker = { channel, caller, tasks: new Set(), isReady: false }
  pool.workers.add(worker)
  const end = caller.ended.then((cause) => {
    pool.ending.delete(end)
    lose(pool, worker, culpritOf(worker), pool.options.errors.lost(cause))
  })
  pool.ending.add(end)
  return worker
}

/** The request that a worker was at: the one that a thread has noted, or the one that it has had longest. */
function culpritOf({ channel, tasks }: PooledWorker): Task | undefined {
  const id = channel.atWork?.() ?? 0
  return tasks.values().find((task) => id === 0 || task.at?.call.id === id)
}

function give(pool: Pool, worker: PooledWorker, task: Task): void {
  const isCurrent = (): boolean => task.at?.call === call
  const onNotice = (notice: unknown): void => {
    if (isCurrent() && !task.isOver) task.onNotice?.(notice, call.tell)
  }
  const call = worker.caller.call(task.request, { onNotice })
  task.at = { worker, call }
  worker.tasks.add(task)
  worker.channel.hold(true)
  watch(pool, worker)
  const finish = (end: () => void): void => {
    if (!isCurrent()) return
    worker.tasks.delete(task)
    if (!task.isOver) end()
    if (worker.tasks.size === 0) worker.channel.hold(false)
    watch(pool, worker)
    advance(pool)
  }
  call.answer.then(
    (value) => finish(() => settle(task).resolve(value)),
    // What was lost is for `lose` to settle.
    (error) => error instanceof WorkerEnded || finish(() => settle(task).reject(error)),
  )
}

/** Sets the timer for what the worker does now. Further requests do not lengthen the time of the one that it is at. */
function watch(pool: Pool, worker: PooledWorker): void {
  const { timeout, errors, startMs = usualStartMs, idleMs = usualIdleMs } = pool.options
  const [first] = worker.tasks
  const isTimed = timeout?.ends === 'replace'
  const what = !first ? 'idle' : !worker.isReady ? 'start' : isTimed ? first : undefined
  if (worker.timed === what || !pool.workers.has(worker)) return
  worker.timed = what
  clearTimeout(worker.timer)
  if (!first && Number.isFinite(idleMs)) worker.timer = setTimeout(retire, idleMs, pool, worker).unref()
  else if (first && what) {
    const ms = what === 'start' ? startMs : timeout?.ms(first.request)
    worker.timer = setTimeout(() => replace(pool, worker, first, errors.late(first.request)), ms)
  }
}

function retire({ workers }: Pool, worker: PooledWorker): void {
  workers.delete(worker)
  clearTimeout(worker.timer)
  worker.channel.kill()
}

function replace(pool: Pool, worker: PooledWorker, culprit: Task, error: Error): void {
  worker.channel.kill()
  lose(pool, worker, culprit, error)
}

/** Takes a worker out of the pool: the culprit fails, the others go to another worker. */
function lose(pool: Pool, worker: PooledWorker, culprit: Task | undefined, error: Error): void {
  if (!pool.workers.delete(worker)) return
  clearTimeout(worker.timer)
  const { maxLosses = Number.POSITIVE_INFINITY } = pool.options
  const again: Task[] = []
  for (const task of worker.tasks) {
    delete task.at
    if (task.isOver) continue
    if (task === culprit || ++task.losses > maxLosses) settle(task).reject(error)
    else again.push(task)
  }
  pool.waiting = new Set([...again, ...pool.waiting])
  advance(pool)
}
