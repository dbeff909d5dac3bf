import { isStaleStatement, publicError } from './database-error.ts'
import {
  type GuardedOptions,
  type GuardedRows,
  graceMs,
  guardedBatchSize,
  inOneBatch,
  inTime,
  whenAborted,
} from './guarded.ts'
import { cancelStatement } from './postgres-client.ts'
import type { Lease, LeasePool } from './postgres-pool.ts'
import { columnsOf } from './postgres-statements.ts'
import { type StreamedBatch, streamRows } from './postgres-stream.ts'
import { quoted, type Sql } from './sql.ts'
import type { StatementNames } from './statement-names.ts'
import { type Cell, type Column, encodeStatement } from './values.ts'

type Batch = { rows: Cell[][]; columns: Column[] }

/** Upper limit for any answer. */
const longestStreamMs = 3_600_000

/** A healthy server rolls back at once. */
const rollBackMs = 5_000

/** Guarded queries on PostgreSQL: on a separate connection, in a read-only transaction that is always rolled back. */
export async function guardedOnPostgres(
  pool: LeasePool,
  names: StatementNames,
  statement: Sql,
  options: GuardedOptions,
): Promise<GuardedRows> {
  const { text, values } = encodeStatement(statement)
  const batchSize = options.batchSize ?? guardedBatchSize
  options.signal?.throwIfAborted()
  const isShort = options.atMost !== undefined && options.atMost <= batchSize
  if (isShort && options.isOurs) return answerAtOnce(pool, names, { text, values }, options)
  const begin = prologue(options, isShort)
  const { lease } = await pool.lease(
    true,
    (leased) => {
      // A client that disconnected while waiting has started nothing; a cancel request could overtake its statement.
      options.signal?.throwIfAborted()
      return inTime(leased.client.query(begin), options, () => leased.giveBack(true))
    },
    options.signal,
  )
  let isStopped = false
  const stop = (): void => {
    if (isStopped) return
    isStopped = true
    cancelStatement(lease.client)
    lease.giveBack(true)
  }
  try {
    options.signal?.throwIfAborted()
    if (isShort) {
      const batch = await inTime(readAll(lease, text, values), withGrace(options), stop)
      rollBack(lease)
      return { columns: batch.columns, batches: inOneBatch(batch.rows), isWhole: true }
    }
    const stream = streamRows(lease.client, text, values, batchSize)
    const next = (): Promise<StreamedBatch> => inTime(stream.next(), options, stop)
    const first = await next()
    // Also for the reader who leaves before asking for the first batch: a generator not begun cleans nothing up.
    const release = whenAborted(options.signal, stop)
    return { columns: first.columns, batches: readOn(lease, first, next, stop, release), isWhole: first.isLast }
  } catch (error) {
    lease.giveBack(true)
    throw publicError(error)
  }
}

/** Without a transaction: the roles of applications are read-only by default, and the text has no way to change that. */
async function answerAtOnce(
  pool: LeasePool,
  names: StatementNames,
  { text, values }: { text: string; values: Cell[] },
  options: GuardedOptions,
): Promise<GuardedRows> {
  const attempt = async (): Promise<GuardedRows> => {
    const read = async (leased: Lease): Promise<Batch> => {
      options.signal?.throwIfAborted()
      const stop = (): void => {
        cancelStatement(leased.client)
        leased.giveBack(true)
      }
      return inTime(readAll(leased, text, values, names.nameOf(text)), withGrace(options), stop)
    }
    const { lease, value } = await pool.lease(true, read, options.signal)
    lease.giveBack(false)
    return { columns: value.columns, batches: inOneBatch(value.rows), isWhole: true }
  }
  try {
    return await attempt().catch((error) => {
      if (!isStaleStatement(error)) throw error
      names.forget(text)
      return attempt()
    })
  } catch (error) {
    throw publicError(error)
  }
}

/** The server itself ends a short statement in time. */
const withGrace = (options: GuardedOptions): GuardedOptions => ({ ...options, timeoutMs: options.timeoutMs + graceMs })

/** The server cannot tell a stream's own time from its reader's, so that one is watched from here. */
function prologue({ timeoutMs, schema }: GuardedOptions, isShort: boolean): string {
  const limitMs = isShort ? Math.ceil(timeoutMs) : longestStreamMs
  return `BEGIN READ ONLY; SET LOCAL statement_timeout = ${limitMs}; SET LOCAL lock_timeout = 2000;
    SET LOCAL search_path = ${quoted(schema)}, public`
}

async function* readOn(
  lease: Lease,
  first: StreamedBatch,
  next: () => Promise<StreamedBatch>,
  stop: () => void,
  release: () => void,
): AsyncGenerator<Cell[][], void, undefined> {
  let isOver = false
  try {
    for (let batch = first; ; batch = await next()) {
      if (batch.rows.length > 0) yield batch.rows
      if (batch.isLast) break
    }
    // From here on another caller may use the connection.
    release()
    rollBack(lease)
    isOver = true
  } catch (error) {
    throw publicError(error)
  } finally {
    release()
    // A client that disconnects in the middle ends the query with the connection.
    if (!isOver) stop()
  }
}

/** Not awaited: the connection goes back to the pool once the rollback is done, if that is soon. */
function rollBack(lease: Lease): void {
  const timer = setTimeout(() => lease.giveBack(true), rollBackMs)
  lease.client
    .query('ROLLBACK')
    .then(
      () => lease.giveBack(false),
      () => lease.giveBack(true),
    )
    .finally(() => clearTimeout(timer))
}

async function readAll({ client }: Lease, text: string, values: Cell[], name?: string): Promise<Batch> {
  const query = { text, values, name, rowMode: 'array' as const, queryMode: 'extended' }
  const { rows, fields } = await client.query<Cell[], Cell[]>(query)
  return { rows, columns: columnsOf(fields) }
}
