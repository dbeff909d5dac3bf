import { createHash, randomUUID } from 'node:crypto'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Db } from '../src/kernel/db/db.ts'
import { openEmbedded } from '../src/kernel/db/embedded/embedded.ts'
import { cacheDirectory } from '../src/kernel/db/embedded/embedded-bundle.ts'
import { defaultLimits, type EmbeddedLimits } from '../src/kernel/db/embedded/embedded-limits.ts'
import { prepareTemplate, templateDirectory } from '../src/kernel/db/embedded/embedded-template.ts'
import { openPostgres } from '../src/kernel/db/postgres/postgres.ts'
import { hardeningText } from '../src/kernel/db/schema/hardening.ts'
import { migrate } from '../src/kernel/db/schema/migrate.ts'
import { readPlatformServer } from '../src/kernel/libpq/platform-server.ts'
import { makeDatabaseDirectory } from './database-directory.ts'

/** A database of its own for one test file. */
export type TestDatabase = {
  readonly db: Db
  /** Only on PostgreSQL: the address for the role of servers, which owns the database and is no superuser. */
  readonly url?: string
  /** The database for what needs an administrator: a superuser's connections on PostgreSQL, on the embedded one the same. */
  readonly admin: Db
  /** Only on PostgreSQL: the address of an administrator. */
  readonly adminUrl?: string
  /** Only on the embedded database: where its files are. */
  readonly directory?: string
  close(): Promise<void>
}

/**
 * A database with PostGIS and nothing else in it: on the PostgreSQL of TEST_DATABASE_URL (a superuser of a cluster that
 * may be spoiled, which lets everybody in), otherwise embedded.
 */
export async function testDatabase(): Promise<TestDatabase> {
  const cluster = process.env.TEST_DATABASE_URL
  if (cluster) return await postgresDatabase(cluster)
  await prepareTemplate()
  return await embeddedDatabase(templateDirectory())
}

/** A tenant of a test asks much and is alone: between its queries nobody else needs a pause of 250 ms. */
const forOneTenant: EmbeddedLimits = { ...defaultLimits, heavyMs: Number.POSITIVE_INFINITY }

/** With TEST_HARDENED=1 all tests run on databases that an administrator has hardened; those that need one or the other say so. */
const isHardened = process.env.TEST_HARDENED === '1'

/** A database with all migrations applied. `limits` are those of the embedded one. */
export async function migratedDatabase(limits = forOneTenant): Promise<TestDatabase> {
  const cluster = process.env.TEST_DATABASE_URL
  if (!cluster) return await embeddedDatabase(await migratedDirectory(), limits)
  return await postgresDatabase(cluster, {
    name: `graticule_${isHardened ? 'hardened' : 'migrated'}_${checksumOfMigrations()}`,
    fill: applyMigrations,
  })
}

/**
 * A PostgreSQL database with PostGIS of somebody else, also where the platform's own is embedded; undefined if no cluster is
 * running.
 */
export async function externalDatabase(): Promise<TestDatabase | undefined> {
  const cluster = process.env.TEST_EXTERNAL_URL ?? process.env.TEST_DATABASE_URL
  return cluster === undefined ? undefined : await postgresDatabase(cluster)
}

async function embeddedDatabase(template: string, limits = defaultLimits): Promise<TestDatabase> {
  const parent = await makeDatabaseDirectory('test')
  const directory = join(parent, 'database')
  // Not as a server's first start does it: nobody needs this copy after a power cut, and syncing a thousand files is slow.
  cpSync(template, directory, { recursive: true })
  const db = await openEmbedded({ directory, onError: ignore, limits })
  return {
    db,
    admin: db,
    directory,
    async close() {
      await db.close()
      await rm(parent, { recursive: true, force: true })
    },
  }
}

/** A data directory with all migrations, kept until one of them changes: applying them takes 2 s, copying it a tenth. */
async function migratedDirectory(): Promise<string> {
  const prefix = 'migrated-'
  const name = `${prefix}${checksumOfMigrations()}`
  const directory = join(cacheDirectory, name)
  if (existsSync(directory)) return directory
  await prepareTemplate()
  const parent = mkdtempSync(join(cacheDirectory, 'unfinished-'))
  const unfinished = join(parent, 'database')
  cpSync(templateDirectory(), unfinished, { recursive: true })
  const db = await openEmbedded({ directory: unfinished, onError: ignore })
  await migrate(db)
  await db.close()
  const outdated = globSync(`${prefix}*`, { cwd: cacheDirectory }).filter((other) => other !== name)
  try {
    renameSync(unfinished, directory)
    for (const other of outdated) rmSync(join(cacheDirectory, other), { recursive: true, force: true })
  } catch (error) {
    // Another test file was quicker.
    if (!existsSync(directory)) throw error
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
  return directory
}

function checksumOfMigrations(): string {
  const hash = createHash('sha256').update(templateDirectory())
  const source = join(import.meta.dirname, '../src/kernel/db')
  for (const file of [
    'schema/migrate.ts',
    'sql-functions.ts',
    ...globSync('{migrations,functions}/*.sql', { cwd: source }).sort(),
  ]) {
    hash.update(file).update(readFileSync(join(source, file)))
  }
  return hash.digest('hex').slice(0, 16)
}

/** `fill` gets the addresses for the role of servers and for an administrator. */
type Template = { name: string; fill(url: string, adminUrl: string): Promise<void> }

const onlyPostgis: Template = { name: 'graticule_template', fill: async () => {} }
const templateLock = 4_728_106

/** The role of servers, as docs/deploy.md asks for it. */
const serverRole = 'graticule'

async function postgresDatabase(cluster: string, template: Template = onlyPostgis): Promise<TestDatabase> {
  const name = `graticule_test_${randomUUID().replaceAll('-', '')}`
  await onCluster(cluster, async (client) => {
    // Whatever is copied here: some tests copy the one with PostGIS alone, by its name.
    await prepareTemplateDatabase(cluster, client, onlyPostgis)
    await prepareTemplateDatabase(cluster, client, template)
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template.name} OWNER ${serverRole} STRATEGY FILE_COPY`)
    await copyDatabaseRights(client, template.name, name)
  })
  const url = addressOf(cluster, name, serverRole)
  const adminUrl = addressOf(cluster, name)
  const db = openPostgres({ platform: readPlatformServer(url), poolSize: 10, onError: ignore })
  const admin = openPostgres({ platform: readPlatformServer(adminUrl), poolSize: 2, onError: ignore })
  return {
    db,
    url,
    admin,
    adminUrl,
    async close() {
      await Promise.all([db.close(), admin.close()])
      await onCluster(cluster, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
    },
  }
}

/** PostGIS takes a second to install and the migrations half of one; copying a database that has them takes a tenth. */
async function prepareTemplateDatabase(cluster: string, client: pg.Client, { name, fill }: Template): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [templateLock])
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 1) return
    const unfinished = `${name}_unfinished`
    await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
    await client.query(createServerRole)
    await client.query(`CREATE DATABASE ${unfinished} OWNER ${serverRole}`)
    await onCluster(addressOf(cluster, unfinished), (one) => one.query('CREATE EXTENSION postgis'))
    await fill(addressOf(cluster, unfinished, serverRole), addressOf(cluster, unfinished))
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`)
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [templateLock])
  }
}

const createServerRole = `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${serverRole}') THEN CREATE ROLE ${serverRole} LOGIN CREATEROLE; END IF;
END $$`

async function applyMigrations(url: string, adminUrl: string): Promise<void> {
  const db = openPostgres({ platform: readPlatformServer(url), poolSize: 1, onError: ignore })
  await migrate(db)
  await db.close()
  if (isHardened) await onCluster(adminUrl, (admin) => admin.query(hardeningText))
}

/** CREATE DATABASE leaves out what is said of the database itself: a migration revokes a right on it, none sets a setting. */
async function copyDatabaseRights(client: pg.Client, from: string, to: string): Promise<void> {
  await client.query(
    'UPDATE pg_database SET datacl = (SELECT datacl FROM pg_database WHERE datname = $1) WHERE datname = $2',
    [from, to],
  )
}

async function onCluster<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 60_000 })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function addressOf(cluster: string, database: string, role?: string): string {
  const url = new URL(cluster)
  url.pathname = `/${database}`
  if (role !== undefined) Object.assign(url, { username: role, password: '' })
  return url.href
}

function ignore(): void {}
