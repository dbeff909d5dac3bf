import { setImmediate } from 'node:timers/promises'
import { MessageChannel, type Worker } from 'node:worker_threads'
import { ApiError } from '../errors.ts'
import type { Job } from './memory-source-job.ts'
import { createThreadPool, type ThreadPool } from './memory-source-pool.ts'
import type { Failure, Order, Report } from './memory-source-worker.ts'

/** Carries out jobs outside of the event loop, a few at a time. */
export type MemoryThreads = {
  run(job: Job, options: RunOptions): Promise<Batches>
  close(): Promise<void>
}

/** What a job gives. The first batch is there already; `isWhole`: there is no other. */
type Batches = { readonly batches: AsyncGenerator<unknown>; readonly isWhole: boolean }
type RunOptions = { applicationId: string; timeoutMs: number; signal?: AbortSignal }

/** So much of an answer waits for its reader; then its thread does. */
const unreadBytes = 32 * 1024 * 1024

/** A job ends with its time, with its signal, or with its thread: then the thread ends too, and another takes its place. */
export function createMemoryThreads(): MemoryThreads {
  const pool = createThreadPool(new URL('./memory-source-worker.ts', import.meta.url))
  return {
    async run(job, { applicationId, timeoutMs, signal }) {
      const limit = new AbortController()
      const late = new ApiError(
        'query_timeout',
        `The query took longer than ${timeoutMs} ms and was stopped. Ask for less, or give a longer timeout.`,
      )
      const timer = setTimeout(() => limit.abort(late), timeoutMs)
      const end = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal
      try {
        const worker = await pool.lease(applicationId, end)
        return await begin(pool, worker, job, end, () => clearTimeout(timer))
      } catch (error) {
        clearTimeout(timer)
        throw error
      }
    },
    close: pool.close,
  }
}

async function begin(pool: ThreadPool, worker: Worker, job: Job, end: AbortSignal, onDone: () => void) {
  const { port1: port, port2 } = new MessageChannel()
  const inbox = createInbox()
  let isOver = false
  const finish = (isSound: boolean) => {
    if (isOver) return
    isOver = true
    onDone()
    end.removeEventListener('abort', stop)
    worker.off('error', die)
    port.close()
    if (isSound) pool.release(worker)
    else pool.discard(worker)
  }
  const fail = (error: unknown) => {
    inbox.fail(error)
    finish(false)
  }
  const stop = () => fail(end.reason)
  const die = (error: unknown) => fail(reasonOf(error))
  end.addEventListener('abort', stop)
  worker.on('error', die)
  port.on('message', (report: Report) => {
    inbox.put(report)
    if (!('batch' in report)) finish(true)
  })
  const order: Order = { job, port: port2, unreadBytes }
  worker.postMessage(order, [port2])
  if (end.aborted) stop()

  async function* read(): AsyncGenerator<unknown> {
    try {
      for (let report = await inbox.take(); 'batch' in report; report = await inbox.take()) {
        if (!isOver) port.postMessage(report.batch.length)
        yield JSON.parse(new TextDecoder().decode(report.batch))
        // Between two batches everybody else has a turn.
        await setImmediate()
      }
    } finally {
      finish(false)
    }
  }
  await inbox.hasBegun()
  return { batches: read(), isWhole: inbox.isWhole() }
}

function reasonOf(error: unknown): unknown {
  const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory ? new ApiError('too_large', 'The answer of the source is too large to be queried.') : error
}

/** Reports in the order in which they came. After a failure nothing else counts. */
function createInbox() {
  const reports: Report[] = []
  let failure: { readonly error: unknown } | undefined
  let wake = () => {}
  const until = async (isThere: () => boolean) => {
    while (!isThere() && !failure) await new Promise<void>((resolve) => (wake = resolve))
    if (failure) throw failure.error
  }
  const isWhole = () => reports.length === 2 && 'isDone' in (reports[1] as Report)
  return {
    put(report: Report) {
      if ('failure' in report) failure = { error: errorOf(report.failure) }
      else reports.push(report)
      wake()
    },
    fail(error: unknown) {
      failure ??= { error }
      wake()
    },
    /** What is wrong with a question shows before its second batch, and mostly before its first. */
    hasBegun: () => until(() => reports.length >= 2 || 'isDone' in (reports[0] ?? {})),
    isWhole,
    async take(): Promise<Report> {
      await until(() => reports.length > 0)
      return reports.shift() as Report
    },
  }
}

function errorOf(failure: Failure): Error {
  if (!('code' in failure)) return new Error(failure.message)
  return new ApiError(failure.code, failure.message, { faults: failure.faults })
}
