import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Db } from '../db/db.ts'
import { openEmbedded } from '../db/embedded.ts'
import { openPostgres } from '../db/postgres.ts'

/** A database of its own for one test file, with PostGIS and nothing else in it. */
export type TestDatabase = {
  readonly db: Db
  /** Only on PostgreSQL: the address, for a second connection. */
  readonly url?: string
  /** Only on the embedded database: where its files are. */
  readonly directory?: string
  close(): Promise<void>
}

/** On the PostgreSQL of TEST_DATABASE_URL (a superuser of a cluster that may be spoiled), otherwise embedded. */
export async function testDatabase(): Promise<TestDatabase> {
  const cluster = process.env.TEST_DATABASE_URL
  return cluster ? await postgresDatabase(cluster) : await embeddedDatabase()
}

async function embeddedDatabase(): Promise<TestDatabase> {
  const parent = await mkdtemp(join(tmpdir(), 'graticule-test-'))
  const directory = join(parent, 'database')
  const db = await openEmbedded({ directory, onError: ignore })
  return {
    db,
    directory,
    async close() {
      await db.close()
      await rm(parent, { recursive: true, force: true })
    },
  }
}

const template = 'graticule_template'
const templateLock = 4_728_106

async function postgresDatabase(cluster: string): Promise<TestDatabase> {
  const name = `graticule_test_${randomUUID().replaceAll('-', '')}`
  await onCluster(cluster, async (client) => {
    await prepareTemplateDatabase(cluster, client)
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  })
  const url = addressOf(cluster, name)
  const db = openPostgres({ url, poolSize: 10, onError: ignore })
  return {
    db,
    url,
    async close() {
      await db.close()
      await onCluster(cluster, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
    },
  }
}

/** PostGIS takes a second to install; copying a database that has it takes a tenth. */
async function prepareTemplateDatabase(cluster: string, client: pg.Client): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [templateLock])
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [template])
    if (rowCount === 1) return
    const unfinished = `${template}_unfinished`
    await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${unfinished}`)
    await onCluster(addressOf(cluster, unfinished), (inside) => inside.query('CREATE EXTENSION postgis'))
    await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`)
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [templateLock])
  }
}

async function onCluster<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function addressOf(cluster: string, database: string): string {
  const url = new URL(cluster)
  url.pathname = `/${database}`
  return url.href
}

function ignore(): void {}
