// One consistent view of the database for a backup, while the server goes on.
import { linear, retry } from '../../kernel/concurrency/retry.ts'
import { codeOf } from '../../kernel/db/database-error.ts'
import type { Db, Transaction } from '../../kernel/db/db.ts'
import { ident, joinSql, quoted, raw, sql } from '../../kernel/db/sql.ts'
import { StartError } from '../../kernel/errors.ts'
import { tablesIn } from './tenant-catalog.ts'

/** A table by its name, and by what changes when it is replaced or rewritten. */
type Table = { readonly name: string; readonly oid: number; readonly file: number }

/** The schemas of applications, each with its tables. */
type Tenants = ReadonlyMap<string, readonly Table[]>

export type Snapshot = {
  readonly tx: Transaction
  readonly schemas: readonly string[]
  /** Lets others replace and drop the tables of this schema, and of those before it in `schemas`. */
  release(schema: string): Promise<void>
}

const pace = { tries: 30, pauseMs: linear(100) }

/**
 * Runs `work` in one repeatable-read transaction. The tables are locked against removal (ACCESS SHARE) before the snapshot is
 * taken: a table that is replaced between the two would have no rows in it. Which tables there are is known only by looking, so
 * those that come in that moment are locked afterwards, and all begins anew if one of them was replaced meanwhile.
 */
export async function withSnapshot<T>(db: Db, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  let isWorking = false
  const takeOnce = async (): Promise<T> => {
    const [expected, path] = await db.transaction(async (tx) => [await listTenants(tx), await searchPath(tx)] as const)
    return db.transaction(async (tx) => {
      // After a deadlock a transaction runs again, but half a backup is written by then.
      if (isWorking) throw new StartError('The database ended the transaction of the backup. Start it again.')
      const snapshot = await lockAll(tx, expected, path)
      isWorking = true
      return work(snapshot)
    })
  }
  return retry(takeOnce, { ...pace, isPassing: (error) => !isWorking && isPassing(error) })
}

class TableReplaced extends Error {}

/** A table or its schema is gone. */
const isGone = (error: unknown): boolean => /^(42P01|3F000)$/.test(codeOf(error))

/** A lock timeout, a deadlock, or a table that was replaced. */
const isPassing = (error: unknown): boolean =>
  error instanceof TableReplaced || isGone(error) || /^(55P03|40P01)$/.test(codeOf(error))

/**
 * Each tenant has a savepoint of its own: rolling back to it gives its locks back as soon as its tables are copied, the last
 * ones locked first. Tenants with tables that came late are copied before all others.
 */
async function lockAll(tx: Transaction, expected: Tenants, path: string): Promise<Snapshot> {
  await tx.script(`
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
    SET LOCAL lock_timeout = '10s'; SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL statement_timeout = 0; SET LOCAL row_security = off; ${path}`)
  const schemas = [...expected.keys()]
  const locked = new Set<string>()
  for (const [index, schema] of [...schemas.entries()].reverse()) {
    await tx.script(`SAVEPOINT tenant_${index}`)
    await lockKnown(tx, schema, expected.get(schema) ?? [], locked)
  }
  // The first query, which takes the snapshot.
  const tenants = await listTenants(tx)
  const late = new Set<string>()
  for (const [schema, tables] of tenants) {
    const missed = tables.filter(({ name }) => !locked.has(`${schema}.${name}`))
    if (missed.length > 0 || !expected.has(schema)) late.add(schema)
    for (const table of missed) await lockLate(tx, schema, table)
  }
  return {
    tx,
    schemas: [...late, ...schemas.filter((schema) => tenants.has(schema) && !late.has(schema))],
    async release(schema) {
      if (!late.has(schema)) await tx.script(`ROLLBACK TO SAVEPOINT tenant_${schemas.indexOf(schema)}`)
    },
  }
}

const lock = (tx: Transaction, schema: string, tables: readonly Table[]) =>
  tx.query(
    sql`LOCK TABLE ${joinSql(
      tables.map(({ name }) => ident(schema, name)),
      ', ',
    )} IN ACCESS SHARE MODE`,
  )

/** All tables of a tenant at once, or those that are still there. */
async function lockKnown(
  tx: Transaction,
  schema: string,
  tables: readonly Table[],
  locked: Set<string>,
): Promise<void> {
  if (tables.length === 0) return
  await tx.script('SAVEPOINT attempt')
  try {
    await lock(tx, schema, tables)
    for (const { name } of tables) locked.add(`${schema}.${name}`)
  } catch (error) {
    if (!isGone(error)) throw error
    await tx.script('ROLLBACK TO SAVEPOINT attempt')
    if (tables.length > 1) for (const table of tables) await lockKnown(tx, schema, [table], locked)
  }
}

/** A table that the snapshot has: it must still be the same one. */
async function lockLate(tx: Transaction, schema: string, table: Table): Promise<void> {
  await lock(tx, schema, [table])
  const [row] = await tx.query<{ isSame: boolean }>(sql`
    SELECT to_regclass(${`${quoted(schema)}.${quoted(table.name)}`})::oid::int8 = ${table.oid}::int8
      AND coalesce(pg_catalog.pg_relation_filenode(${table.oid}::int8::oid), 0)::int8 = ${table.file}::int8 AS "isSame"`)
  if (!row?.isSame) throw new TableReplaced()
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
  const rows = await tx.query<{ schema: string; tables: Table[] }>(sql`
    SELECT n.nspname AS schema, coalesce((
      SELECT json_agg(json_build_object('name', c.relname, 'oid', c.oid::int8, 'file', c.relfilenode::int8) ORDER BY c.relname)
      FROM pg_catalog.pg_class c WHERE ${tablesIn(raw('n.oid'))}), '[]') AS tables
    FROM pg_catalog.pg_namespace n JOIN svc.applications a ON n.nspname = svc.tenant_name(a.id) ORDER BY n.nspname`)
  return new Map(rows.map(({ schema, tables }) => [schema, tables]))
}
