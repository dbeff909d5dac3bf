import { ApiError } from '../errors.ts'
import type { Cell, Column } from './values.ts'

/** How somebody else's SELECT runs: read-only, in time, and with no more than its role may do. */
export type GuardedOptions = {
  /** For the embedded database, which has one session for all; elsewhere the connection is logged in as the role. */
  readonly role?: string
  /** Where unqualified names are looked up, besides PostGIS. */
  readonly schema: string
  /** For each step: until the first rows, and between two batches. A slow reader's own time does not count. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  readonly batchSize?: number
  /** The answer is known to have no more rows than this: a few need no cursor, which costs three round trips. */
  readonly atMost?: number
  /** Nobody else wrote a word of it, so a short one runs by itself, and is prepared: one round trip. */
  readonly isOurs?: boolean
}

/** The answer, begun: its columns are known, its first rows are there. Not reading on, or aborting, ends the query. */
export type GuardedRows = {
  readonly columns: readonly Column[]
  readonly batches: AsyncIterable<Cell[][]>
  /** There is nothing beyond the first batch. */
  readonly isWhole: boolean
}

/** An answer that is there as a whole. */
export async function* inOneBatch<T>(rows: T): AsyncGenerator<T, void, undefined> {
  yield rows
}

/** What a slow reader holds is two batches; larger ones are hardly quicker. */
export const guardedBatchSize = 1_000

/** A statement that ignores its own timeout is stopped from outside this much later. */
export const graceMs = 1_000

export const queryTimeout = (cause: unknown): ApiError =>
  new ApiError('query_timeout', 'The query took longer than its timeout. Ask for less, or give a longer timeout.', {
    cause,
  })

/** Ends `work` when its time is over, or the reader leaves; `stop` must then end whatever is going on. */
export async function inTime<T>(
  work: Promise<T>,
  { timeoutMs, signal }: Pick<GuardedOptions, 'timeoutMs' | 'signal'>,
  stop: () => void,
): Promise<T> {
  let onAbort = (): void => {}
  let timer: NodeJS.Timeout | undefined
  const interrupted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal?.reason)
    timer = setTimeout(() => reject(queryTimeout(undefined)), timeoutMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
  })
  interrupted.catch(stop)
  work.catch(() => undefined)
  try {
    return await Promise.race([work, interrupted])
  } catch (error) {
    throw isCancelled(error) ? queryTimeout(error) : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Calls `stop` when the signal is aborted, also if it was before; not any more once the function returned is called. */
export function whenAborted(signal: AbortSignal | undefined, stop: () => void): () => void {
  if (signal?.aborted) stop()
  else signal?.addEventListener('abort', stop, { once: true })
  return () => signal?.removeEventListener('abort', stop)
}

const isCancelled = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '57014'
