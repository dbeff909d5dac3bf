// One consistent view of the database for a backup, while the server goes on.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Transaction } from '../db/db.ts'
import { ident, joinSql, raw, sql } from '../db/sql.ts'
import { StartError } from '../errors.ts'
import { tablesIn } from './tenant-catalog.ts'

/** The schemas of applications, each with the names of its tables. */
type Tenants = ReadonlyMap<string, readonly string[]>

export type Snapshot = {
  readonly tx: Transaction
  readonly schemas: readonly string[]
  /** Lets others replace and drop the tables of this schema, and of those before it in `schemas`. */
  release(schema: string): Promise<void>
}

const tries = 30

/**
 * Runs `work` in one repeatable-read transaction. The tables are locked against removal (ACCESS SHARE) before the snapshot is
 * taken: a table that is replaced between the two would have no rows in it. Which tables there are is known only by looking, so
 * when one comes or goes in that moment all begins anew. Each tenant has a savepoint of its own: rolling back to it gives its
 * locks back as soon as its tables are copied, the last ones locked first.
 */
export async function withSnapshot<T>(db: Db, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const [expected, path] = await db.transaction(async (tx) => [await listTenants(tx), await searchPath(tx)] as const)
    let isWorking = false
    try {
      return await db.transaction(async (tx) => {
        // After a deadlock a transaction runs again, but half a backup is written by then.
        if (isWorking) throw new StartError('The database ended the transaction of the backup. Start it again.')
        const snapshot = await lockAll(tx, expected, path)
        isWorking = true
        return work(snapshot)
      })
    } catch (error) {
      if (isWorking || attempt === tries || !isPassing(error)) throw error
      await sleep(100 * attempt)
    }
  }
}

class TablesMoved extends Error {}

/** A table that is gone, a lock timeout, or tables that have come. */
const isPassing = (error: unknown): boolean =>
  error instanceof TablesMoved || /^(42P01|3F000|55P03|40P01)$/.test(String((error as { code?: unknown }).code))

async function lockAll(tx: Transaction, expected: Tenants, path: string): Promise<Snapshot> {
  await tx.script(`
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
    SET LOCAL lock_timeout = '10s'; SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL statement_timeout = 0; SET LOCAL row_security = off; ${path}`)
  const schemas = [...expected.keys()]
  for (const [index, schema] of [...schemas.entries()].reverse()) {
    await tx.script(`SAVEPOINT tenant_${index}`)
    const tables = (expected.get(schema) ?? []).map((name) => ident(schema, name))
    if (tables.length > 0) await tx.query(sql`LOCK TABLE ${joinSql(tables, ', ')} IN ACCESS SHARE MODE`)
  }
  // The first query, which takes the snapshot.
  const found = await listTenants(tx)
  if (JSON.stringify([...found]) !== JSON.stringify([...expected])) throw new TablesMoved()
  return {
    tx,
    schemas,
    release: (schema) => tx.script(`ROLLBACK TO SAVEPOINT tenant_${schemas.indexOf(schema)}`),
  }
}

/** So that names which PostGIS has are written without their schema: it may be another one elsewhere. */
export async function searchPath(tx: Transaction): Promise<string> {
  const [row] = await tx.query<{ schema: string }>(
    raw(`
    SELECT quote_ident(n.nspname) AS schema FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'postgis'`),
  )
  return `SET LOCAL search_path = ${row?.schema ?? 'public'}`
}

async function listTenants(tx: Transaction): Promise<Tenants> {
  const [platform] = await tx.query(raw(`SELECT to_regclass('svc.applications') IS NOT NULL AS "isThere"`))
  if (!platform?.isThere) throw new StartError('There is nothing to back up: the database has not been set up yet.')
  const rows = await tx.query<{ schema: string; tables: string[] }>(sql`
    SELECT n.nspname AS schema, ARRAY(
      SELECT c.relname::text FROM pg_catalog.pg_class c WHERE ${tablesIn(raw('n.oid'))} ORDER BY c.relname) AS tables
    FROM pg_catalog.pg_namespace n JOIN svc.applications a ON n.nspname = svc.tenant_name(a.id) ORDER BY n.nspname`)
  return new Map(rows.map(({ schema, tables }) => [schema, tables]))
}
