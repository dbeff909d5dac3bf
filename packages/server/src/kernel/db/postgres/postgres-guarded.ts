import { isStaleStatement, publicError } from '../database-error.ts'
import { type GuardedOptions, type GuardedRows, graceMs, guardedBatchSize, inTime, whenAborted } from '../guarded.ts'
import { quoted, type Sql } from '../sql.ts'
import type { StatementNames } from '../statement-names.ts'
import { encodeStatement, type ResultCell } from '../values.ts'
import { cancelStatement } from './postgres-client.ts'
import type { ClientLease, LeasePool } from './postgres-pool.ts'
import { type RowStream, type StreamedBatch, type StreamedStatement, streamRows } from './postgres-stream.ts'

/** Upper limit for any answer. */
const longestStreamMs = 3_600_000

/** How long a statement of a tenant waits for somebody who has locked a table. */
const lockTimeoutMs = 2_000

/**
 * For the sessions of tenants. Parallel workers take milliseconds to start, and PostGIS says that its functions cost tens of
 * times what they do, so PostgreSQL would start them for a page of a box that one process finds in a millisecond. Statements
 * that may read many rows get back the server's own setting.
 */
const withoutWorkers = 'SET max_parallel_workers_per_gather = 0'
/** What sessions of tenants begin with. */
export const guardedSession = `${withoutWorkers}; SET lock_timeout = ${lockTimeoutMs}`
const withWorkers = 'SET LOCAL max_parallel_workers_per_gather TO DEFAULT'

/** Guarded queries on PostgreSQL: on a separate connection, in a read-only transaction that is always rolled back. */
export async function guardedOnPostgres(
  pool: LeasePool,
  names: StatementNames,
  statement: Sql,
  options: GuardedOptions,
): Promise<GuardedRows> {
  const encoded = encodeStatement(statement)
  options.signal?.throwIfAborted()
  const isShort = options.atMost !== undefined && options.atMost <= (options.batchSize ?? guardedBatchSize)
  const isLookUp = isShort && options.isTrusted && options.reads !== undefined
  try {
    if (isLookUp && !options.inTransaction) return await lookUp(pool, names, encoded, options)
    const inTransaction = { ...encoded, before: prologue(options, isShort), after: ['ROLLBACK'] }
    return await (isShort ? answerShort(pool, inTransaction, options) : answerStream(pool, inTransaction, options))
  } catch (error) {
    throw publicError(error)
  }
}

/**
 * Without a transaction: the roles of applications are read-only by default, and the text has no way to change that.
 * PostgreSQL plans a prepared statement anew for each execution, but only until the plan for unknown values looks cheaper,
 * and it takes any unknown box for a tiny one: that plan sorts all rows of a box that holds half the table.
 */
async function lookUp(
  pool: LeasePool,
  names: StatementNames,
  statement: StreamedStatement,
  options: GuardedOptions,
): Promise<GuardedRows> {
  if (options.reads === 'page') return answerShort(pool, statement, options)
  const attempt = () => answerShort(pool, { ...statement, name: names.nameOf(statement.text) }, options)
  return attempt().catch((error) => {
    if (!isStaleStatement(error)) throw error
    names.forget(statement.text)
    return attempt()
  })
}

/** Collects the rows, so that the connection is free before anybody reads them. */
async function answerShort(
  pool: LeasePool,
  statement: StreamedStatement,
  options: GuardedOptions,
): Promise<GuardedRows> {
  const limits = withGrace(options)
  const { lease, value } = await begin(pool, { ...statement, isShort: true }, options, (stream, stop) =>
    inTime(collect(stream), limits, stop),
  )
  lease.giveBack(false)
  return { columns: value.columns, batches: [value.rows] }
}

async function answerStream(
  pool: LeasePool,
  statement: StreamedStatement,
  options: GuardedOptions,
): Promise<GuardedRows> {
  const { lease, value } = await begin(pool, statement, options, async (stream, stop) => {
    const next = (): Promise<StreamedBatch> => inTime(stream.next(), options, stop)
    return { first: await next(), next, stop }
  })
  const { first, next, stop } = value
  if (first.isLast) {
    lease.giveBack(false)
    return { columns: first.columns, batches: [first.rows] }
  }
  // Also for the reader who leaves before asking for the first batch: a generator not begun cleans nothing up.
  const release = whenAborted(options.signal, stop)
  return { columns: first.columns, batches: readOn(lease, first, next, stop, release) }
}

/**
 * Sends the statement on a leased connection. If it fails in a transaction, the connection is closed, and the transaction
 * with it.
 */
function begin<T>(
  pool: LeasePool,
  statement: StreamedStatement,
  { signal, batchSize = guardedBatchSize }: GuardedOptions,
  read: (stream: RowStream, stop: () => void) => Promise<T>,
): Promise<{ lease: ClientLease; value: T }> {
  const first = async (lease: ClientLease): Promise<T> => {
    // A client that disconnected while waiting has started nothing; a cancel request could overtake its statement.
    signal?.throwIfAborted()
    let isStopped = false
    const stop = (): void => {
      if (isStopped) return
      isStopped = true
      cancelStatement(lease.client)
      lease.giveBack(true)
    }
    try {
      return await read(streamRows(lease.client, statement, batchSize), stop)
    } catch (error) {
      if (statement.before) lease.giveBack(true)
      throw error
    }
  }
  return pool.lease(true, first, signal)
}

async function collect(stream: RowStream): Promise<StreamedBatch> {
  const first = await stream.next()
  if (first.isLast) return first
  const rows = first.rows
  for (;;) {
    const batch = await stream.next()
    for (const cells of batch.rows) rows.push(cells)
    if (batch.isLast) return { ...batch, rows }
  }
}

/** The server itself ends a short statement in time. */
const withGrace = (options: GuardedOptions): GuardedOptions => ({ ...options, timeoutMs: options.timeoutMs + graceMs })

/** The server cannot tell a stream's own time from its reader's, so that one is watched from here. */
function prologue({ timeoutMs, schema, isTrusted, reads }: GuardedOptions, isShort: boolean): string[] {
  const limitMs = isShort ? Math.ceil(timeoutMs) : longestStreamMs
  return [
    'BEGIN READ ONLY',
    `SET LOCAL statement_timeout = ${limitMs}`,
    `SET LOCAL lock_timeout = ${lockTimeoutMs}`,
    `SET LOCAL search_path = ${quoted(schema)}, public`,
    ...(isTrusted && reads ? [] : [withWorkers]),
  ]
}

async function* readOn(
  lease: ClientLease,
  first: StreamedBatch,
  next: () => Promise<StreamedBatch>,
  stop: () => void,
  release: () => void,
): AsyncGenerator<ResultCell[][], void, undefined> {
  let isOver = false
  try {
    for (let batch = first; ; batch = await next()) {
      if (batch.rows.length > 0) yield batch.rows
      if (batch.isLast) break
    }
    // From here on another caller may use the connection.
    release()
    lease.giveBack(false)
    isOver = true
  } catch (error) {
    throw publicError(error)
  } finally {
    release()
    // A client that disconnects in the middle ends the query with the connection.
    if (!isOver) stop()
  }
}
