import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constant, retry } from '../../concurrency/retry.ts'
import { StartError } from '../../errors.ts'
import type { Db, Queryable } from '../db.ts'
import { raw, sql } from '../sql.ts'
import {
  applyFunctions,
  createFunctions,
  functionsDirectory,
  outdatedFunctions,
  readFunctions,
  type SqlFunction,
} from '../sql-functions.ts'
import { formerChecksums } from './amended-migrations.ts'
import { handOver } from './hand-over.ts'
import { hardeningText } from './hardening.ts'
import { demandOwnership, roleToTakeOn, takeOn } from './server-role.ts'

type Migration = { number: number; name: string; text: string; checksum: string }
type Applied = { number: number; name: string; checksum: string }

const migrationsDirectory = fileURLToPath(new URL('../migrations/', import.meta.url))

/** Where the texts are; without functions only the migrations are applied. */
type Directories = { readonly migrations: string; readonly functions?: string }

const programDirectories: Directories = { migrations: migrationsDirectory, functions: functionsDirectory }

/** Any number will do, as long as every version of the program takes the same. */
const lockNumber = 4_728_105

/**
 * Brings the database to the state that this program knows, and returns the numbers of the migrations that it applied.
 * Each migration is one transaction that first takes the lock, so that replicas that start together apply each one once. The functions
 * in force come with the last one: whoever sees that sees them.
 */
export async function migrate(
  db: Db,
  directories: Directories = programDirectories,
  patience: Patience = usualPatience,
): Promise<number[]> {
  const migrations = await readMigrations(directories.migrations)
  const functions = directories.functions === undefined ? [] : await readFunctions(directories.functions)
  const role = await roleToTakeOn(db)
  if (role !== undefined) {
    await handOver(db, role, (name, work) => unlessLocked(name, patience, () => locked(db, patience, work)))
  }
  const { missing, areOutdated } = await locked(db, patience, async (tx) => {
    await tx.script(extension)
    await takeOn(tx, role)
    if (db.kind === 'postgres') await demandOwnership(tx)
    await tx.script(foundation)
    const present = await check(tx, migrations)
    const missing = migrations.filter(({ number }) => !present.has(number))
    const isAsked = missing.length === 0 && functions.length > 0
    return { missing, areOutdated: isAsked && (await outdatedFunctions(tx, functions)).length > 0 }
  })
  const done: number[] = []
  // The embedded database has no other administrator than its server. Before all else, so that a crash leaves nothing open.
  if (db.kind === 'embedded' && missing.length > 0) await db.script(hardeningText)
  const attempt = <T>(name: string, work: (tx: Queryable) => Promise<T>): Promise<T> =>
    unlessLocked(name, patience, () =>
      locked(db, patience, async (tx) => {
        await takeOn(tx, role)
        return await work(tx)
      }),
    )
  const last = missing.at(-1)
  for (const migration of missing) {
    const isApplied = await attempt(`migration ${migration.name}`, async (tx) => {
      const isNew = await apply(tx, migration, { migrations, functions })
      if (migration === last) await applyFunctions(tx, functions)
      return isNew
    })
    if (isApplied) done.push(migration.number)
  }
  if (areOutdated) {
    await attempt('replacement of functions', async (tx) => {
      // A newer server may have come in between, with newer functions.
      await check(tx, migrations)
      await applyFunctions(tx, functions)
    })
  }
  return done
}

/** How long a migration waits for the lock of a table, and how often it tries again. */
type Patience = { readonly lockMs: number; readonly tries: number; readonly pauseMs: number }

/**
 * Whoever waits for an exclusive lock holds up all that come later, behind a single long query. So a migration gives up soon,
 * lets the others pass, and tries again: five minutes in all.
 */
const usualPatience: Patience = { lockMs: 2_000, tries: 50, pauseMs: 4_000 }

const isLocked = (error: unknown): boolean => (error as { code?: unknown }).code === '55P03'

function unlessLocked<T>(name: string, { tries, pauseMs }: Patience, work: () => Promise<T>): Promise<T> {
  return retry(work, { tries, pauseMs: constant(pauseMs), isPassing: isLocked }).catch((error) => {
    throw isLocked(error) ? lockedFor(name, error) : error
  })
}

const lockedFor = (name: string, cause: unknown): StartError =>
  new StartError(
    `The ${name} cannot get the lock of a table that somebody uses all the time: a long query, a backup, or a ` +
      'transaction that was left open (see pg_stat_activity). Nothing was changed. End it, and start again.',
    { cause },
  )

/**
 * Brings an empty database to the state that another one was in, which had these migrations. An error if this program does not
 * have one of them, or has another text of it.
 */
export async function migrateTo(tx: Queryable, wanted: readonly Applied[], kind: Db['kind']): Promise<void> {
  const texts = { migrations: await readMigrations(migrationsDirectory), functions: await readFunctions() }
  const migrations = texts.migrations
  checkKnown(wanted, migrations)
  await tx.script(extension)
  await tx.script(foundation)
  if (kind === 'embedded') await tx.script(hardeningText)
  const numbers = new Set(wanted.map(({ number }) => number))
  for (const migration of migrations.filter(({ number }) => numbers.has(number))) await apply(tx, migration, texts)
}

/** An error if a database with these migrations is not for this program. */
export async function checkMigrations(applied: readonly Applied[]): Promise<void> {
  checkKnown(applied, await readMigrations(migrationsDirectory))
}

const extension = 'CREATE EXTENSION IF NOT EXISTS postgis'

const foundation = `
  CREATE SCHEMA IF NOT EXISTS svc;
  CREATE TABLE IF NOT EXISTS svc.migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`

async function locked<T>(db: Db, { lockMs }: Patience, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return await db.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${lockNumber})`)
    await tx.script(`SET LOCAL lock_timeout = ${lockMs}`)
    return await work(tx)
  })
}

/** The names of the migrations that the database lacks; all of them where there is no table of migrations. Takes no lock. */
export async function missingMigrations(
  db: Pick<Queryable, 'query'>,
  directory: string = migrationsDirectory,
): Promise<string[]> {
  const present = new Set((await appliedMigrations(db)).map(({ number }) => number))
  const migrations = await readMigrations(directory)
  return migrations.filter(({ number }) => !present.has(number)).map(({ name }) => name)
}

/** The names of the migrations that this program lacks, since the database is newer. Takes no lock. */
export async function unknownMigrations(db: Pick<Queryable, 'query'>): Promise<string[]> {
  const numbers = new Set((await readMigrations(migrationsDirectory)).map(({ number }) => number))
  return (await appliedMigrations(db)).filter(({ number }) => !numbers.has(number)).map(({ name }) => name)
}

async function appliedMigrations(db: Pick<Queryable, 'query'>): Promise<Pick<Applied, 'number' | 'name'>[]> {
  const [{ exists } = { exists: false }] = await db.query<{ exists: boolean }>(
    raw(`SELECT to_regclass('svc.migrations') IS NOT NULL AS exists`),
  )
  return exists ? await db.query<Applied>(raw('SELECT number, name FROM svc.migrations ORDER BY number')) : []
}

type Texts = { readonly migrations: readonly Migration[]; readonly functions: readonly SqlFunction[] }

/** Whether it had to be applied. */
async function apply(tx: Queryable, migration: Migration, { migrations, functions }: Texts): Promise<boolean> {
  const applied = await check(tx, migrations)
  if (applied.has(migration.number)) return false
  const { number, name, checksum, text } = migration
  // What the default of a column calls, say, must be there before it.
  const needed = new Set([...text.matchAll(/^-- needs svc\.(\w+)/gm)].map(([, needs]) => needs))
  await createFunctions(
    tx,
    functions.filter((one) => needed.has(one.name)),
  )
  await tx.script(text)
  await tx.query(sql`INSERT INTO svc.migrations (number, name, checksum) VALUES (${number}, ${name}, ${checksum})`)
  return true
}

/** The numbers that the database has; an error if this program must not touch it. */
async function check(tx: Queryable, migrations: readonly Migration[]): Promise<Set<number>> {
  const rows = await tx.query<Applied>(raw('SELECT number, name, checksum FROM svc.migrations ORDER BY number'))
  checkKnown(rows, migrations)
  return new Set(rows.map((row) => row.number))
}

function checkKnown(rows: readonly Applied[], migrations: readonly Migration[]): void {
  const byNumber = new Map(migrations.map((migration) => [migration.number, migration]))
  for (const applied of rows) {
    const migration = byNumber.get(applied.number)
    if (!migration) {
      throw new StartError(
        `The database is newer than this server: it has the migration ${applied.name}. Start a newer version of the server.`,
      )
    }
    if (!isTextOf(migration, applied)) {
      throw new StartError(
        `The migration ${migration.name} was changed after it had been applied. Restore the file, and put changes in a new one.`,
      )
    }
  }
}

const isTextOf = ({ name, checksum }: Migration, applied: Applied): boolean =>
  checksum === applied.checksum || (formerChecksums[name]?.includes(applied.checksum) ?? false)

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}-.+\.sql$/.test(name)).sort()
  const migrations = await Promise.all(names.map((name) => readMigration(directory, name)))
  for (const [index, { number, name }] of migrations.entries()) {
    const previous = migrations[index - 1]
    if (previous?.number === number)
      throw new StartError(`The migrations ${previous.name} and ${name} have the same number.`)
  }
  return migrations
}

async function readMigration(directory: string, name: string): Promise<Migration> {
  // Some checkouts on Windows change the line ends.
  const text = (await readFile(join(directory, name), 'utf8')).replaceAll('\r\n', '\n')
  return { number: Number(name.slice(0, 4)), name, text, checksum: createHash('sha256').update(text).digest('hex') }
}
