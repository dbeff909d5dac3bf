import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { raw } from '../src/kernel/db/sql.ts'
import { until } from '../testing/agent-world.ts'
import { runCommandLine } from '../testing/command-line.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { startPgBouncer } from '../testing/peers/pgbouncer.ts'
import { startReplica } from '../testing/processes/replica-process.ts'

// One database is enough: PgBouncer stands before PostgreSQL.

// With packaging/pgbouncer.ini and .sql: only addresses, files and the name of the role are other ones.

const example = (file: string) => readFile(new URL(`../../../packaging/${file}`, import.meta.url), 'utf8')
const skip = !process.env.TEST_DATABASE_URL && 'PgBouncer needs a server of PostgreSQL'

let directory: string
let database: TestDatabase
let config: string
const role = `of_another_test_pooled_${randomUUID().slice(0, 8)}`
const master = randomUUID()

before(async () => {
  if (skip) return
  directory = await mkdtemp(join(tmpdir(), 'graticule-pooled-'))
  config = await example('pgbouncer.ini')
  database = await testDatabase()
  await database.admin.script(`CREATE ROLE ${role} LOGIN CREATEROLE PASSWORD 'a password'`)
  const name = new URL(database.url ?? '').pathname.slice(1)
  await database.admin.script(`ALTER DATABASE ${name} OWNER TO ${role}`)
  await database.admin.script((await example('pgbouncer.sql')).replaceAll('TO pgbouncer;', `TO ${role};`))
})
after(async () => {
  if (skip) return
  const statement = `DO $$ BEGIN EXECUTE 'REASSIGN OWNED BY ${role} TO ' || quote_ident(current_user); EXECUTE 'DROP OWNED BY ${role}'; END $$`
  await database.admin.script(statement)
  await database.admin.script(`DROP ROLE ${role}`)
  await database.close()
  await rm(directory, { recursive: true, force: true })
})

function pooled(mode: string) {
  const url = new URL(database.url ?? '')
  url.username = role
  url.password = 'a password'
  return startPgBouncer(url.href, config.replace(/^pool_mode = .*$/m, `pool_mode = ${mode}`))
}

const settings = (url: string) => ({
  DATABASE_URL: url,
  DATA_DIR: join(directory, 'data'),
  SECRET_KEY: 'a secret of at least 32 characters for this',
  MASTER_API_KEY: master,
})

test('a pooler that gives each transaction another connection is refused at the start, with what to set', {
  skip,
}, async () => {
  const pooler = await pooled('transaction')
  try {
    const { code, errors } = await runCommandLine(['migrate'], {
      PATH: process.env.PATH ?? '',
      ...settings(pooler.url),
    })
    assert.equal(code, 1)
    assert.match(errors, /Set its pool_mode to session/)
    assert.doesNotMatch(errors, /\n +at /)
  } finally {
    await pooler.stop()
  }
})

test('behind PgBouncer an upload is loaded, queried and drawn as its application, and a query ends in time', {
  skip,
}, async () => {
  const pooler = await pooled('session')
  const server = await startReplica(settings(pooler.url))
  const headers = { 'x-api-key': master }
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
  const json = async (path: string, init: RequestInit = {}): Promise<any> =>
    (await fetch(`${server.url}/api/v1/${path}`, { ...init, headers: { ...headers, ...init.headers } })).json()
  try {
    const form = new FormData()
    form.append('file', new Blob(['id,name,lon,lat\n1,a,13.4,52.5\n2,b,2.3,48.8\n']), 'places.csv')
    const { id } = await json('uploads', { method: 'POST', body: form })
    let upload = await json(`uploads/${id}`, { headers: { prefer: 'wait=20' } })
    await until(async () => {
      upload = await json(`uploads/${id}`, { headers: { prefer: 'wait=20' } })
      return upload.status !== 'pending' && upload.status !== 'processing'
    }, 'the upload does not end')
    assert.equal(upload.status, 'completed', JSON.stringify(upload.error))
    const { datasetId } = upload
    for (let n = 0; n < 3; n++) {
      assert.deepEqual((await json(`datasets/${datasetId}/query?filter[id]=2&attributes=name`))[0], { name: 'b' })
      const tile = await fetch(`${server.url}/tiles/${datasetId}/0/0/0.mvt?_=${n}`, { headers })
      assert.equal(tile.status, 200)
    }
    const body = JSON.stringify({ type: 'sql', name: 'slow', source: slow })
    const asJson = { 'content-type': 'application/json' }
    const { id: slowId } = await json('datasets', { method: 'POST', body, headers: asJson })
    assert.equal((await json(`datasets/${slowId}/query?timeout=500`)).code, 'query_timeout')
    await until(async () => (await running()) === 0, 'the query goes on in PostgreSQL')
  } finally {
    await server.end('SIGTERM')
    await pooler.stop()
  }
})

const slow = 'SELECT count(*) AS n FROM generate_series(1, 400000) a, generate_series(1, 100000) b'

async function running(): Promise<number> {
  const [row] = await database.admin.query<{ n: number }>(
    raw(`SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND query LIKE '%generate_series(1, 400000)%' AND pid <> pg_backend_pid()`),
  )
  return row?.n ?? 0
}
