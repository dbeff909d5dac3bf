import type { Readable } from 'node:stream'
import type pg from 'pg'
import { cursorRows, type RowsOptions } from '../cursor.ts'
import { publicError } from '../database-error.ts'
import type { Row, Transaction } from '../db.ts'
import { withDeadlockRetry } from '../deadlock-retry.ts'
import type { Sql } from '../sql.ts'
import type { StatementNames } from '../statement-names.ts'
import { assertCommitted, assertOpen, type OpenTransaction, type TransactionScope } from '../transaction-scope.ts'
import { encodeStatement, type ResultCell } from '../values.ts'
import { cancelStatement } from './postgres-client.ts'
import { copyBinary, copyText } from './postgres-copy.ts'
import { copyOut } from './postgres-copy-out.ts'
import type { LeasePool } from './postgres-pool.ts'
import { execute, runScript } from './postgres-statements.ts'

/** The connection of a transaction: its statements run one after the other, in the order in which they were asked for. */
type Connection = {
  readonly client: pg.Client
  inOrder<T>(work: () => Promise<T>): Promise<T>
  /** A cancel request may still be on its way: the connection must not be used again. */
  cancelled: boolean
  /** A stream was read into it, which cannot be read again. */
  hasReadStream: boolean
}

export async function transact<T>(
  pool: LeasePool,
  scope: TransactionScope,
  names: StatementNames,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let last: Connection | undefined
  return withDeadlockRetry(
    () =>
      transactOnce(pool, scope, names, work, (connection) => {
        last = connection
      }),
    () => last?.hasReadStream === false,
  )
}

async function transactOnce<T>(
  pool: LeasePool,
  scope: TransactionScope,
  names: StatementNames,
  work: (tx: Transaction) => Promise<T>,
  onBegin: (connection: Connection) => void,
): Promise<T> {
  const { lease } = await pool.lease(true, ({ client }) => client.query('BEGIN'))
  const connection = createConnection(lease.client)
  onBegin(connection)
  const command = (text: string): Promise<string> =>
    connection.inOrder(() => lease.client.query(text).then((result) => result.command))
  try {
    const result = await scope.run((transaction) => work(createTransaction(connection, transaction, names)))
    assertCommitted(await command('COMMIT'))
    lease.giveBack(connection.cancelled)
    return result
  } catch (error) {
    const rolledBack = !connection.cancelled && (await command('ROLLBACK').catch(() => undefined))
    lease.giveBack(!rolledBack)
    throw error
  }
}

function createConnection(client: pg.Client): Connection {
  let last: Promise<unknown> = Promise.resolve()
  return {
    client,
    cancelled: false,
    hasReadStream: false,
    async inOrder(work) {
      const result = last.then(work)
      last = result.catch(() => undefined)
      return await result.catch((error) => {
        throw publicError(error)
      })
    },
  }
}

function createTransaction(connection: Connection, transaction: OpenTransaction, names: StatementNames): Transaction {
  const { client } = connection
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    assertOpen(transaction)
    return await connection.inOrder(work)
  }
  const runOnce = <T>(work: () => Promise<T>): Promise<T> => {
    connection.hasReadStream = true
    return run(work)
  }
  return {
    query: async <R extends Row>(statement: Sql) => {
      const { text, values } = encodeStatement(statement)
      return await run(() => execute<R>(client, text, values, names))
    },
    cancellable: <R extends Row>(statement: Sql, signal: AbortSignal) =>
      cancellableStatement<R>(connection, run, statement, signal),
    rows: <R extends Row>(statement: Sql, options: RowsOptions = {}) =>
      cancellableRows<R>(connection, run, statement, options),
    copyIn: (statement, chunks) => runOnce(() => copyText(client, statement, chunks)),
    copyInBinary: (statement, tuples) => runOnce(() => copyBinary(client, statement, tuples)),
    script: (text) => run(() => runScript(client, text)),
    copyOut: (statement) => cancellableCopy(connection, run, statement),
  }
}

/** Ends with the rows, or by a cancel request when the reader leaves before. */
async function* cancellableCopy(
  connection: Connection,
  run: <T>(work: () => Promise<T>) => Promise<T>,
  statement: Sql,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { client } = connection
  const started = Promise.withResolvers<Readable>()
  const ended = run(() => copyOut(client, statement, started.resolve))
  ended.catch(started.reject)
  let isRead = false
  try {
    yield* await started.promise
    isRead = true
  } finally {
    if (!isRead) {
      connection.cancelled = true
      cancelStatement(client)
    }
    await ended.catch(() => undefined)
  }
  await ended
}

async function cancellableStatement<R extends Row>(
  connection: Connection,
  run: <T>(work: () => Promise<T>) => Promise<T>,
  statement: Sql,
  signal: AbortSignal,
): Promise<R[]> {
  const { client } = connection
  const { text, values } = encodeStatement(statement)
  const onAbort = (): void => {
    connection.cancelled = true
    cancelStatement(client)
  }
  try {
    return await run(async () => {
      signal.throwIfAborted()
      signal.addEventListener('abort', onAbort, { once: true })
      return await execute<R>(client, text, values).finally(() => signal.removeEventListener('abort', onAbort))
    })
  } finally {
    signal.throwIfAborted()
  }
}

async function* cancellableRows<R extends Row>(
  connection: Connection,
  run: <T>(work: () => Promise<T>) => Promise<T>,
  statement: Sql,
  options: RowsOptions,
): AsyncGenerator<R[], void, undefined> {
  const { client } = connection
  let busy = false
  const step = (text: string, values: ResultCell[]): Promise<R[]> =>
    run(async () => {
      busy = true
      return await execute<R>(client, text, values).finally(() => {
        busy = false
      })
    })
  const onAbort = (): void => {
    if (!busy) return
    connection.cancelled = true
    cancelStatement(client)
  }
  options.signal?.addEventListener('abort', onAbort, { once: true })
  try {
    yield* cursorRows<R>(step, statement, { ...options, hold: false })
  } finally {
    options.signal?.removeEventListener('abort', onAbort)
  }
}
