import type { Row } from './db.ts'
import type { Sql } from './sql.ts'
import { encodeStatement, type ResultCell } from './values.ts'

export type RowsOptions = { batchSize?: number; signal?: AbortSignal }

export const defaultBatchSize = 500

let cursorsMade = 0

/**
 * The rows of a SELECT through an SQL cursor, so that other statements can run on the same session between two batches.
 * With `hold` the cursor outlives its transaction: the server keeps the whole result, on disk when it is large.
 */
export async function* cursorRows<R extends Row>(
  run: (text: string, values: ResultCell[]) => Promise<R[]>,
  statement: Sql,
  options: RowsOptions & { hold: boolean },
): AsyncGenerator<R[], void, undefined> {
  const { batchSize = defaultBatchSize, signal, hold } = options
  const { text, values } = encodeStatement(statement)
  const name = `graticule_rows_${++cursorsMade}`
  signal?.throwIfAborted()
  let closing: Promise<unknown> | undefined
  const close = (): Promise<unknown> => {
    // A cursor that cannot be closed is gone already: its transaction failed or its session ended.
    closing ??= run(`CLOSE ${name}`, []).catch(() => undefined)
    return closing
  }
  const onAbort = (): void => void close()
  const declared = run(`DECLARE ${name} NO SCROLL CURSOR ${hold ? 'WITH HOLD ' : ''}FOR ${text}`, values)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    await untilAborted(declared, signal)
    for (;;) {
      signal?.throwIfAborted()
      const batch = await untilAborted(run(`FETCH ${batchSize} FROM ${name}`, []), signal)
      if (batch.length > 0) yield batch
      if (batch.length < batchSize) return
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    if (signal?.aborted) void close()
    else if (await succeeded(declared)) await close()
  }
}

const succeeded = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

/** A reader that aborts does not wait for the running statement. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
