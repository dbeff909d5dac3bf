import type pg from 'pg'
import Cursor from 'pg-cursor'
import { defaultBatchSize, type RowsOptions, untilAborted } from '../cursor.ts'
import { publicError } from '../database-error.ts'
import type { Row } from '../db.ts'
import type { Sql } from '../sql.ts'
import { encodeStatement } from '../values.ts'
import { cancelStatement } from './postgres-client.ts'
import type { LeasePool } from './postgres-pool.ts'
import { readRows } from './postgres-statements.ts'

/** Rows through a portal of the wire protocol, on a connection of their own. */
export async function* portalRows<R extends Row>(
  pool: LeasePool,
  statement: Sql,
  options: RowsOptions & { repeatable: boolean },
): AsyncGenerator<R[], void, undefined> {
  const { batchSize = defaultBatchSize, signal, repeatable } = options
  const { text, values } = encodeStatement(statement)
  signal?.throwIfAborted()
  // Works also while the reader thinks and asks for nothing.
  let stop = (): void => {}
  const onAbort = (): void => stop()
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const { lease, value } = await pool.lease(repeatable, async (leased) => {
      stop = () => {
        cancelStatement(leased.client)
        leased.giveBack(true)
      }
      const cursor = leased.client.query(new Cursor(text, values, { rowMode: 'array' }))
      return { cursor, first: await untilAborted(readBatch<R>(cursor, batchSize), signal) }
    })
    let idle = true
    try {
      for (let batch = value.first; batch.length > 0; ) {
        yield batch
        signal?.throwIfAborted()
        if (batch.length < batchSize) break
        idle = false
        batch = await untilAborted(readBatch<R>(value.cursor, batchSize), signal)
        idle = true
      }
    } finally {
      const reusable = idle && !signal?.aborted && (await closeCursor(value.cursor, lease.client))
      lease.giveBack(!reusable)
    }
  } catch (error) {
    throw publicError(error)
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

function readBatch<R extends Row>(cursor: Cursor, batchSize: number): Promise<R[]> {
  return new Promise((resolve, reject) => {
    cursor.read(batchSize, (error, rows, result) => {
      if (error) reject(error)
      else resolve(readRows<R>(result.fields, rows))
    })
  })
}

/** Tells whether the connection can be used again; one that was lost meanwhile would never answer. */
function closeCursor(cursor: Cursor, client: pg.Client): Promise<boolean> {
  return new Promise((resolve) => {
    const onEnd = (): void => resolve(false)
    client.once('end', onEnd)
    cursor
      .close()
      .then(() => resolve(true), onEnd)
      .finally(() => client.removeListener('end', onEnd))
  })
}
