import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import Cursor from 'pg-cursor'
import { cursorRows, defaultBatchSize, type RowsOptions, untilAborted } from './cursor.ts'
import { isStaleStatement, publicError } from './database-error.ts'
import type { Db, Queryable, Row } from './db.ts'
import { cancelStatement, createLeasePool, type Lease, type LeasePool, type PoolOptions } from './postgres-pool.ts'
import type { Sql } from './sql.ts'
import { createStatementNames, type StatementNames } from './statement-names.ts'
import {
  assertCommitted,
  assertOpen,
  createTransactionScope,
  type OpenTransaction,
  strayTransaction,
} from './transaction-scope.ts'
import { type Cell, encodeStatement, rowReader } from './values.ts'

const isRead = (text: string): boolean => /^\s*SELECT\b/i.test(text)

/** The platform's database on a PostgreSQL server. Connects when first used, and again whenever it must. */
export function openPostgres(options: PoolOptions): Db {
  const pool = createLeasePool(options)
  const names = createStatementNames()
  const scope = createTransactionScope()

  /** One statement on a connection of its own. */
  async function single<T>(repeatable: boolean, run: (lease: Lease) => Promise<T>): Promise<T> {
    scope.refuseInside()
    const { lease, value } = await pool.lease(repeatable, run)
    const stray = lease.client.getTransactionStatus() !== 'I'
    lease.giveBack(stray)
    if (stray) throw strayTransaction()
    return value
  }

  return {
    kind: 'postgres',
    async query<R extends Row>(statement: Sql) {
      const { text, values } = encodeStatement(statement)
      const run = (): Promise<R[]> => single(isRead(text), ({ client }) => execute<R>(client, text, values, names))
      try {
        return await run()
      } catch (error) {
        if (!isStaleStatement(error)) throw error
        return await run()
      }
    },
    async *rows<R extends Row>(statement: Sql, rowsOptions: RowsOptions = {}) {
      scope.refuseInside()
      yield* portalRows<R>(pool, statement, rowsOptions)
    },
    copyIn: (statement, chunks) =>
      single(false, (lease) => discardOnFailure(lease, copy(lease.client, statement, chunks))),
    script: (text) => single(false, (lease) => discardOnFailure(lease, runScript(lease.client, text))),
    async transaction(work) {
      scope.refuseInside()
      return await transact(pool, scope, names, work)
    },
    close: () => pool.close(),
  }
}

/** After a failed COPY or script nobody knows in what state the connection is. */
function discardOnFailure<T>(lease: Lease, work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    lease.giveBack(true)
    throw error
  })
}

async function execute<R extends Row>(
  client: pg.PoolClient,
  text: string,
  values: Cell[],
  names?: StatementNames,
): Promise<R[]> {
  // Without queryMode a text with no values would go by the simple protocol, which takes several statements.
  const query: pg.QueryArrayConfig & { queryMode: 'extended' } = {
    text,
    values,
    name: names?.nameOf(text),
    rowMode: 'array',
    queryMode: 'extended',
  }
  try {
    const result = await client.query<Cell[]>(query)
    return readRows<R>(result.fields, result.rows)
  } catch (error) {
    if (isStaleStatement(error)) names?.forget(text)
    throw error
  }
}

function readRows<R extends Row>(fields: pg.FieldDef[], rows: Cell[][]): R[] {
  return rows.map(rowReader<R>(fields.map((field) => ({ name: field.name, type: field.dataTypeID }))))
}

async function runScript(client: pg.PoolClient, text: string): Promise<void> {
  await client.query(text)
}

async function copy(client: pg.PoolClient, statement: Sql, chunks: AsyncIterable<string>): Promise<number> {
  const { text, values } = encodeStatement(statement)
  if (values.length > 0) throw new Error('COPY takes no values')
  const stream = client.query(copyFrom(text))
  await pipeline(chunks, stream)
  return stream.rowCount
}

/** Rows through a portal of the wire protocol, on a connection of their own. */
async function* portalRows<R extends Row>(
  pool: LeasePool,
  statement: Sql,
  { batchSize = defaultBatchSize, signal }: RowsOptions,
): AsyncGenerator<R[], void, undefined> {
  const { text, values } = encodeStatement(statement)
  signal?.throwIfAborted()
  const { lease, value: portal } = await pool.lease(isRead(text), (leased) =>
    openPortal<R>(leased, text, values, batchSize, signal),
  )
  let healthy = false
  try {
    for (let batch = portal.first; batch.length > 0; batch = await portal.read()) {
      healthy = true
      yield batch
      healthy = false
      signal?.throwIfAborted()
      if (batch.length < batchSize) break
    }
    healthy = true
  } catch (error) {
    throw publicError(error)
  } finally {
    lease.giveBack(!(healthy && (await portal.close())))
  }
}

type Portal<R> = { first: R[]; read(): Promise<R[]>; close(): Promise<boolean> }

async function openPortal<R extends Row>(
  lease: Lease,
  text: string,
  values: Cell[],
  batchSize: number,
  signal: AbortSignal | undefined,
): Promise<Portal<R>> {
  const { client } = lease
  // The listener works also while the reader thinks and asks for nothing.
  const onAbort = (): void => {
    cancelStatement(client)
    lease.giveBack(true)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  const cursor = client.query(new Cursor(text, values, { rowMode: 'array' }))
  const read = (): Promise<R[]> => untilAborted(readBatch<R>(cursor, batchSize), signal)
  try {
    return {
      first: await read(),
      read,
      close() {
        signal?.removeEventListener('abort', onAbort)
        return closeCursor(cursor, client)
      },
    }
  } catch (error) {
    signal?.removeEventListener('abort', onAbort)
    throw error
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
function closeCursor(cursor: Cursor, client: pg.PoolClient): Promise<boolean> {
  return new Promise((resolve) => {
    const onEnd = (): void => resolve(false)
    client.once('end', onEnd)
    cursor
      .close()
      .then(() => resolve(true), onEnd)
      .finally(() => client.removeListener('end', onEnd))
  })
}

type TransactionState = OpenTransaction & { cancelled: boolean }

async function transact<T>(
  pool: LeasePool,
  scope: TransactionScope,
  names: StatementNames,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const { lease } = await pool.lease(true, ({ client }) => client.query('BEGIN'))
  const connection = createConnection(lease.client, names)
  try {
    const result = await scope.run((transaction) => work(createTransaction(connection, transaction)))
    assertCommitted(await connection.inOrder(() => lease.client.query('COMMIT').then(({ command }) => command)))
    lease.giveBack(connection.cancelled)
    return result
  } catch (error) {
    const rolledBack = connection.cancelled || connection.inOrder(() => lease.client.query('ROLLBACK'))
    await Promise.resolve(rolledBack).then(
      () => lease.giveBack(connection.cancelled),
      () => lease.giveBack(true),
    )
    throw error
  }
}
