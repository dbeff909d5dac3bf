import type { ApiError } from '../errors.ts'
import { limits, overLimit } from '../limits/limits.ts'
import { codeOf } from './database-error.ts'
import type { ResultCell, ResultColumn } from './values.ts'

/** Options of a guarded query, a SELECT of a tenant: read-only, with a time-out, as a role of its own. */
export type GuardedOptions = {
  /** For the embedded database, which has one session for all; PostgreSQL connections are logged in as the role. */
  readonly role?: string
  /** Where unqualified names are looked up, besides PostGIS. */
  readonly schema: string
  /** For each step: until the first rows, and between two batches. The time of a slow reader does not count. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  readonly batchSize?: number
  /** An upper bound of the number of rows: few rows need no cursor, which costs three round trips. */
  readonly atMost?: number
  /** The platform wrote the statement, so it needs no transaction where the role only reads. */
  readonly isTrusted?: boolean
  /** The role may write: everything runs in a read-only transaction. */
  readonly inTransaction?: boolean
  /** One row by its key, or a page in the order of the key. Absent: the statement may read many rows. */
  readonly reads?: 'row' | 'page'
}

/** A started result: columns and first rows are there. Ending the iteration or aborting ends the query. */
export type GuardedRows = {
  readonly columns: readonly ResultColumn[]
  readonly batches: Batches
}

/** Batches of rows: a list where the whole result is there, so that small answers need no asynchronous iteration. */
export type Batches = ResultCell[][][] | AsyncIterable<ResultCell[][]>

/**
 * What a slow reader holds is two batches; larger ones are hardly quicker. A page of 1 000 rows, and the one row more that says
 * whether there is another page, are one.
 */
export const guardedBatchSize = 1_001

/** Grace period after which a statement that ignores its time-out is cancelled from outside. */
export const graceMs = 1_000

export const queryTimeout = (cause: unknown, timeoutMs: number = limits.queryTimeoutMs.value): ApiError =>
  overLimit(
    'queryTimeoutMs',
    timeoutMs,
    'The query took longer than its timeout. Ask for less, or give a longer timeout.',
    { cause },
  )

/** Time-out and abort for `work`; `stop` must then end the statement. */
export function inTime<T>(
  work: Promise<T>,
  { timeoutMs, signal }: Pick<GuardedOptions, 'timeoutMs' | 'signal'>,
  stop: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const interrupt = (reason: unknown): void => {
      release()
      reject(reason)
      stop()
    }
    const timer = setTimeout(() => interrupt(queryTimeout(undefined, timeoutMs)), timeoutMs)
    const onAbort = (): void => interrupt(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    const release = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    if (signal?.aborted) onAbort()
    work.then(
      (value) => {
        release()
        resolve(value)
      },
      (error) => {
        release()
        reject(isCancelled(error) ? queryTimeout(error, timeoutMs) : error)
      },
    )
  })
}

/** Calls `stop` when the signal is aborted, or if it already is. Returns the function that unsubscribes. */
export function whenAborted(signal: AbortSignal | undefined, stop: () => void): () => void {
  if (signal?.aborted) stop()
  else signal?.addEventListener('abort', stop, { once: true })
  return () => signal?.removeEventListener('abort', stop)
}

const isCancelled = (error: unknown): boolean => codeOf(error) === '57014'
