// A thread pool that writes exports, so that neither encoding nor SQLite blocks the event loop.
import { startThread } from '../../../kernel/concurrency/channel.ts'
import { type MachineShare, partOf, wholeMachine } from '../../../kernel/concurrency/machine-share.ts'
import { createWorkerPool } from '../../../kernel/concurrency/worker-pool.ts'
import type { Batches } from '../../../kernel/db/guarded.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import type { ExportOrder } from '../../../query/formats/exports/export-order.ts'
import type { FromExport, ToExport } from '../../../query/formats/exports/export-worker.ts'

export type ExportThreads = {
  /** The bytes of an export, at the reader's speed. Leaving the loop ends it. */
  stream(order: ExportOrder, batches: Batches, options: RunOptions): AsyncGenerator<Uint8Array>
  /** Writes an export to the file of its order. */
  write(order: ExportOrder & { path: string }, batches: Batches, options: RunOptions): Promise<void>
  close(): Promise<void>
}

type RunOptions = { readonly applicationId: string; readonly signal: AbortSignal }

const threads = 2
/** A thread has many exports at once, because most of them wait for rows or for a slow reader. */
const perThread = 12
const maxWaiting = limits.exportsWaiting.value
/** A row group of Parquet, which is the most that an export holds, takes some 30 MB. */
const heapMb = 768

export function createExportThreads(share: MachineShare = wholeMachine): ExportThreads {
  const script = new URL('../../../query/formats/exports/export-worker.ts', import.meta.url)
  const stopping = (): ApiError => new ApiError('shutting_down', 'The server is stopping.')
  const pool = createWorkerPool<ExportOrder, void, FromExport>({
    start: () => startThread(script, { resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
    size: partOf(threads, share),
    depth: perThread,
    maxWaiting,
    onAbort: 'cancel',
    errors: { busy: atLimit, late: stopping, lost: reasonOf, closing: stopping },
  })

  /** Runs an export; `onBytes` gets what is to be sent. An error of the source ends it, and is its error. */
  function run(
    order: ExportOrder,
    batches: Batches,
    { applicationId, signal }: RunOptions,
    onBytes: (bytes: Uint8Array, tell: (message: ToExport) => void) => void,
  ): Promise<void> {
    const broken = new AbortController()
    const next = readAhead(batches)
    return pool
      .run(order, {
        owner: applicationId,
        signal: AbortSignal.any([signal, broken.signal]),
        onNotice(notice, tell) {
          if (notice) return onBytes(notice, tell)
          next().then(
            (rows) => tell({ rows } satisfies ToExport),
            (error) => broken.abort(error),
          )
        },
      })
      .finally(() => next.end())
  }

  return {
    async *stream(order, batches, options) {
      const end = new AbortController()
      const queue = createQueue()
      const signal = AbortSignal.any([options.signal, end.signal])
      let tellTaken: (message: ToExport) => void = () => {}
      const done = run(order, batches, { ...options, signal }, (bytes, tell) => {
        tellTaken = tell
        queue.add(bytes)
      })
      done.then(queue.finish, queue.fail)
      try {
        for (let bytes = await queue.next(); bytes; bytes = await queue.next()) {
          yield bytes
          if (!queue.isFinished()) tellTaken({ taken: bytes.byteLength })
        }
      } finally {
        end.abort(new Error('Nobody reads the answer any more.'))
      }
    },
    write: (order, batches, options) => run(order, batches, options, () => {}),
    close: pool.close,
  }
}

/** Asks the source for the next rows while the thread writes the last ones. Null after the last. */
function readAhead(batches: Batches) {
  const source = Array.isArray(batches) ? batches[Symbol.iterator]() : batches[Symbol.asyncIterator]()
  const read = async (): Promise<Cell[][] | null> => {
    const { done, value } = await source.next()
    return done ? null : value
  }
  let coming: Promise<Cell[][] | null> | undefined
  const next = async (): Promise<Cell[][] | null> => {
    const rows = await (coming ?? read())
    coming = rows ? read() : Promise.resolve(null)
    // Whoever asks next hears of the error.
    coming.catch(() => {})
    return rows
  }
  return Object.assign(next, {
    async end(): Promise<void> {
      await coming?.catch(() => {})
      await source.return?.()
    },
  })
}

/** Bytes on their way from a thread to the reader. */
function createQueue() {
  const waiting: Uint8Array[] = []
  let state: 'open' | 'finished' | { readonly error: unknown } = 'open'
  let wake = (): void => {}
  const change = (to: typeof state): void => {
    state = to
    wake()
  }
  return {
    add(bytes: Uint8Array): void {
      waiting.push(bytes)
      wake()
    },
    finish: () => change('finished'),
    fail: (error: unknown) => change({ error }),
    isFinished: () => state !== 'open',
    /** Undefined at the end. A failure takes precedence over what is still waiting. */
    async next(): Promise<Uint8Array | undefined> {
      while (waiting.length === 0 && state === 'open') await new Promise<void>((resolve) => (wake = resolve))
      if (typeof state === 'object') throw state.error
      return waiting.shift()
    },
  }
}

const atLimit = (): ApiError =>
  overLimit(
    'exportsWaiting',
    maxWaiting,
    `${maxWaiting} exports wait to be written, the limit. Try again in a moment.`,
    {
      headers: { 'Retry-After': '5' },
    },
  )

function reasonOf(error: Error): Error {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory ? new ApiError('too_large', 'A row of the answer is too large for this format.') : error
}
