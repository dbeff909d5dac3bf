// A thread pool for plans on rows in memory, with back-pressure.
import { setImmediate } from 'node:timers/promises'
import { startThread } from '../../../kernel/concurrency/channel.ts'
import { type MachineShare, partOf, wholeMachine } from '../../../kernel/concurrency/machine-share.ts'
import { createWorkerPool, type WorkerPool } from '../../../kernel/concurrency/worker-pool.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { MemoryJob } from './memory-source-job.ts'
import type { EncodedBatch, MemoryTask } from './memory-source-worker.ts'

/** Runs jobs outside the event loop, a few at a time. */
export type MemoryThreads = {
  run(job: MemoryJob, options: RunOptions): Promise<Batches>
  close(): Promise<void>
}

/** The batches of a job. The first is already there; `isWhole` means that it is the only one. */
type Batches = { readonly batches: AsyncGenerator<unknown>; readonly isWhole: boolean }
type RunOptions = { applicationId: string; timeoutMs: number; signal?: AbortSignal }

/** Back-pressure: a thread pauses when this many bytes of its answer are unread. */
const unreadBytes = 32 * 1024 * 1024
const threads = 2
const heapMb = 512

/** A job ends when its time is up, its signal aborts or its thread dies; then the thread is ended and replaced. */
export function createMemoryThreads(share: MachineShare = wholeMachine): MemoryThreads {
  const script = new URL('./memory-source-worker.ts', import.meta.url)
  const stopping = (): ApiError => new ApiError('shutting_down', 'The server is stopping.')
  const pool = createWorkerPool<MemoryTask, void, EncodedBatch>({
    start: () => startThread(script, { resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
    size: partOf(threads, share),
    depth: 1,
    onAbort: 'replace',
    errors: { busy: stopping, late: stopping, lost: reasonOf, closing: stopping },
  })
  return {
    async run(job, { applicationId, timeoutMs, signal }) {
      const limit = new AbortController()
      const timer = setTimeout(() => limit.abort(tooLate(timeoutMs)), timeoutMs)
      const answer = begin(pool, job, applicationId, limit, signal)
      const over = (): void => clearTimeout(timer)
      answer.done.then(over, over)
      await answer.begun
      return { batches: answer.batches, isWhole: answer.isWhole() }
    },
    close: pool.close,
  }
}

type Pool = WorkerPool<MemoryTask, void, EncodedBatch>

/** Starts a job. It ends when the caller stops reading. */
function begin(pool: Pool, job: MemoryJob, owner: string, limit: AbortController, signal: AbortSignal | undefined) {
  const unread: EncodedBatch[] = []
  let state: 'running' | 'done' | { readonly error: unknown } = 'running'
  let tellRead: (message: unknown) => void = () => {}
  let wake = (): void => {}
  const change = (to: typeof state): void => {
    state = to
    wake()
  }
  const end = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal
  const done = pool.run(
    { job, unreadBytes },
    {
      owner,
      signal: end,
      onNotice(batch, tell) {
        tellRead = tell
        unread.push(batch)
        wake()
      },
    },
  )
  done.then(
    () => change('done'),
    (error) => change({ error }),
  )
  /** A failure takes precedence over everything else. */
  const until = async (count: number): Promise<void> => {
    while (unread.length < count && state === 'running') await new Promise<void>((resolve) => (wake = resolve))
    if (typeof state === 'object') throw state.error
  }

  async function* read(): AsyncGenerator<unknown> {
    try {
      for (await until(1); unread.length > 0; await until(1)) {
        const batch = unread.shift() as EncodedBatch
        if (state === 'running') tellRead(batch.length)
        yield JSON.parse(new TextDecoder().decode(batch))
        // Yields to the event loop between batches.
        await setImmediate()
      }
    } finally {
      limit.abort(new Error('Nobody reads the answer any more.'))
    }
  }
  // Waits for two batches, because errors of a query appear before its second batch, mostly before its first.
  return { done, begun: until(2), batches: read(), isWhole: () => state === 'done' && unread.length === 1 }
}

const tooLate = (timeoutMs: number): ApiError =>
  new ApiError(
    'query_timeout',
    `The query took longer than ${timeoutMs} ms and was stopped. Ask for less, or give a longer timeout.`,
  )

function reasonOf(error: Error): Error {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory ? new ApiError('too_large', 'The answer of the source is too large to be queried.') : error
}
