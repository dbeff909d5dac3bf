import Cursor from 'pg-cursor'
import { isStaleStatement, publicError } from './database-error.ts'
import { type GuardedOptions, type GuardedRows, guardedBatchSize, inOneBatch, inTime, whenAborted } from './guarded.ts'
import { cancelStatement, type Lease, type LeasePool } from './postgres-pool.ts'
import { columnsOf } from './postgres-statements.ts'
import { quoted, type Sql } from './sql.ts'
import type { StatementNames } from './statement-names.ts'
import { type Cell, type Column, encodeStatement } from './values.ts'

type Batch = { rows: Cell[][]; columns: Column[] }

/** On a connection of its own, in a read-only transaction that is always rolled back. */
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
  const { lease } = await pool.lease(true, ({ client }) => client.query(prologue(options)))
  let isStopped = false
  const stop = (): void => {
    if (isStopped) return
    isStopped = true
    cancelStatement(lease.client)
    lease.giveBack(true)
  }
  try {
    if (isShort) {
      const batch = await inTime(readAll(lease, text, values), options, stop)
      rollBack(lease)
      return { columns: batch.columns, batches: inOneBatch(batch.rows), isWhole: true }
    }
    const cursor = lease.client.query(new Cursor(text, values, { rowMode: 'array' }))
    const next = (): Promise<Batch> => inTime(read(cursor, batchSize), options, stop)
    const first = await next()
    // Also for the reader who leaves before asking for the first batch: a generator not begun cleans nothing up.
    const release = whenAborted(options.signal, stop)
    const isWhole = first.rows.length < batchSize
    return { columns: first.columns, batches: readOn(lease, first, batchSize, next, stop, release), isWhole }
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
    const { lease, value } = await pool.lease(true, (leased) => {
      const stop = (): void => {
        cancelStatement(leased.client)
        leased.giveBack(true)
      }
      return inTime(readAll(leased, text, values, names.nameOf(text)), options, stop)
    })
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

function prologue({ timeoutMs, schema }: GuardedOptions): string {
  return `BEGIN READ ONLY; SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}; SET LOCAL lock_timeout = 2000;
    SET LOCAL search_path = ${quoted(schema)}, public`
}

async function* readOn(
  lease: Lease,
  first: Batch,
  batchSize: number,
  next: () => Promise<Batch>,
  stop: () => void,
  release: () => void,
): AsyncGenerator<Cell[][], void, undefined> {
  let isOver = false
  try {
    for (let batch: Batch | undefined = first; batch; ) {
      // The next rows are on their way while these are being written: neither side waits for the other.
      const following: Promise<Batch> | undefined = batch.rows.length < batchSize ? undefined : next()
      following?.catch(() => undefined)
      if (batch.rows.length > 0) yield batch.rows
      batch = await following
    }
    // From here on the connection is somebody else's.
    release()
    rollBack(lease)
    isOver = true
  } catch (error) {
    throw publicError(error)
  } finally {
    release()
    // Whoever leaves in the middle ends the query with the connection.
    if (!isOver) stop()
  }
}

/** Nobody waits for it: the connection goes back to the pool once it is done. */
function rollBack(lease: Lease): void {
  lease.client.query('ROLLBACK').then(
    () => lease.giveBack(false),
    () => lease.giveBack(true),
  )
}

async function readAll({ client }: Lease, text: string, values: Cell[], name?: string): Promise<Batch> {
  const query = { text, values, name, rowMode: 'array' as const, queryMode: 'extended' }
  const { rows, fields } = await client.query<Cell[], Cell[]>(query)
  return { rows, columns: columnsOf(fields) }
}

function read(cursor: Cursor, batchSize: number): Promise<Batch> {
  return new Promise((resolve, reject) => {
    cursor.read(batchSize, (error, rows, result) => {
      if (error) reject(error)
      else resolve({ rows, columns: columnsOf(result.fields) })
    })
  })
}
