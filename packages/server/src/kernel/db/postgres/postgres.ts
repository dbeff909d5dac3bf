import type { RowsOptions } from '../cursor.ts'
import { isStaleStatement } from '../database-error.ts'
import type { Db, Row } from '../db.ts'
import { withDeadlockRetry } from '../deadlock-retry.ts'
import { compileSql, type Sql } from '../sql.ts'
import { createStatementNames } from '../statement-names.ts'
import { createTransactionScope, strayTransaction } from '../transaction-scope.ts'
import { encodeStatement } from '../values.ts'
import { copyBinary, copyText } from './postgres-copy.ts'
import { guardedOnPostgres } from './postgres-guarded.ts'
import { type ClientLease, createLeasePool, type PoolOptions } from './postgres-pool.ts'
import { portalRows } from './postgres-rows.ts'
import { execute, runScript } from './postgres-statements.ts'
import { transact } from './postgres-transaction.ts'

/** Statements that may run twice are retried when their connection turns out to be dead. */
const isRead = (text: string): boolean => /^\s*SELECT\b/i.test(text)

/** The platform's database on a PostgreSQL server. Connects when first used, and again whenever it must. */
export function openPostgres(options: PoolOptions): Db {
  const pool = createLeasePool(options)
  const names = createStatementNames()
  const scope = createTransactionScope()

  /** One statement on a connection of its own. */
  async function single<T>(repeatable: boolean, run: (lease: ClientLease) => Promise<T>): Promise<T> {
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
      return await withDeadlockRetry(() =>
        run().catch((error) => {
          if (isStaleStatement(error)) return run()
          throw error
        }),
      )
    },
    async *rows<R extends Row>(statement: Sql, rowsOptions: RowsOptions = {}) {
      scope.refuseInside()
      yield* portalRows<R>(pool, statement, { ...rowsOptions, repeatable: isRead(compileSql(statement).text) })
    },
    copyIn: (statement, chunks) =>
      single(false, (lease) => discardOnFailure(lease, copyText(lease.client, statement, chunks))),
    copyInBinary: (statement, tuples) =>
      single(false, (lease) => discardOnFailure(lease, copyBinary(lease.client, statement, tuples))),
    script: (text) => single(false, (lease) => discardOnFailure(lease, runScript(lease.client, text))),
    async transaction(work) {
      scope.refuseInside()
      return await transact(pool, scope, names, work)
    },
    guarded(statement, guardedOptions) {
      scope.refuseInside()
      return guardedOnPostgres(pool, names, statement, guardedOptions)
    },
    close: () => pool.close(),
  }
}

/** After a failed COPY or script the state of the connection is unknown. */
function discardOnFailure<T>(lease: ClientLease, work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    lease.giveBack(true)
    throw error
  })
}
