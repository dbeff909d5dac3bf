import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { unoptimized } from '../../../testing/command-line.ts'
import { type TestDatabase, testDatabase } from '../../../testing/database.ts'
import { makeDatabaseDirectory } from '../../../testing/database-directory.ts'
import { until } from '../../../testing/until.ts'
import { formOf } from '../../../testing/uploads.ts'
import { sql } from '../../kernel/db/sql.ts'

const main = fileURLToPath(new URL('../../main.ts', import.meta.url))
const hasPostgres = process.env.TEST_DATABASE_URL !== undefined
const usualRounds = process.env.TEST_RANDOM ? 10 : 3
// The embedded database takes long to start.
const rounds = Number(process.env.UPLOAD_KILLS ?? (hasPostgres ? usualRounds : 1))
const rowCount = 10_000
const key = randomUUID()
const compiled = process.env.NODE_COMPILE_CACHE
const headers = { 'x-api-key': key }

let directory: string
let database: TestDatabase | undefined
let server: { child: ChildProcess; address: string }

before(async () => {
  directory = await makeDatabaseDirectory('crash')
  if (hasPostgres) database = await testDatabase()
})
after(async () => {
  server.child.kill('SIGKILL')
  await once(server.child, 'exit').catch(() => undefined)
  await database?.close()
  await rm(directory, { recursive: true, force: true })
})

async function start(): Promise<typeof server> {
  const child = spawn(process.execPath, [...unoptimized, main, 'serve', '--empty'], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      HOST: '127.0.0.1',
      DATA_DIR: directory,
      MASTER_API_KEY: key,
      LOG_LEVEL: 'error',
      OVERVIEW_MIN_ROWS: '5000',
      ...(compiled && { NODE_COMPILE_CACHE: compiled }),
      ...(database?.url && { DATABASE_URL: database.url }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += chunk
    const [, address] = /Graticule +(http:\S+)/.exec(text) ?? []
    if (address) return { child, address }
  }
  throw new Error(`The server did not start: ${text}`)
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
const get = async (path: string): Promise<any> => (await fetch(`${server.address}${path}`, { headers })).json()

const file = (count: number) => ({
  name: 'a.csv',
  bytes: `n,text,lon,lat\n${Array.from({ length: count }, (_, n) => `${n},${'x'.repeat(100)},${n % 180},${n % 80}`).join('\n')}\n`,
})

const timeout = 280_000 + rounds * 20_000

test(`a server that is killed ${rounds} times finishes each upload once, or fails it, and leaves nothing`, {
  timeout,
}, async (t) => {
  const sent: string[] = []
  for (let round = 0; round < rounds; round++) {
    server = await start()
    const reply = await fetch(`${server.address}/api/v1/uploads`, {
      method: 'POST',
      body: formOf(file(rowCount)),
      headers,
    })
    assert.equal(reply.status, 200)
    const { id } = (await reply.json()) as { id: string }
    sent.push(id)
    await until(async () => (await get(`/api/v1/uploads/${id}`)).status !== 'pending')
    // Anywhere in its work, which takes about so long.
    await sleep(Math.random() * 1_000)
    server.child.kill('SIGKILL')
    await once(server.child, 'exit')
  }
  server = await start()
  const records = new Map<string, { id: string; status: string; datasetId: string | null }>()
  await until(async () => {
    for (const id of sent) {
      const record = await get(`/api/v1/uploads/${id}`)
      if (['completed', 'failed'].includes(record.status)) records.set(id, record)
    }
    return records.size === sent.length
  })
  const completed = [...records.values()].filter(({ status }) => status === 'completed')
  t.diagnostic(`${completed.length} of ${sent.length} completed, the rest failed`)
  const datasets = (await get('/api/v1/datasets?limit=1000')) as { id: string; source: string }[]
  const sources = (await get('/api/v1/tilesources?limit=1000')) as { id: string }[]
  const ids = completed.map(({ datasetId }) => datasetId).sort()
  assert.deepEqual(datasets.map(({ id }) => id).sort(), ids)
  assert.deepEqual(sources.map(({ id }) => id).sort(), ids)
  for (const id of ids) {
    const [row] = await get(`/api/v1/datasets/${id}/query?attributes=count(*) as n`)
    assert.equal(row.n, rowCount)
  }
  assert.ok(completed.length > 0)
  // Nobody asked for a tile: their jobs outlive the server.
  for (const { id } of completed)
    await until(async () => (await get(`/api/v1/uploads/${id}`)).overviews.status === 'built')
  // What its last act left is taken away when it starts: on the embedded database removals.test.ts shows that.
  if (hasPostgres) {
    server.child.kill('SIGKILL')
    await once(server.child, 'exit')
    server = await start()
  }
  const expected = datasets.map(({ source }) => source).sort()
  await until(async () => {
    const { files, parts, tables } = await leftovers()
    return files.length === 0 && parts.length === 0 && String(tables ?? expected) === String(expected)
  })
})

async function leftovers() {
  const tables = await database?.db.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname LIKE 'app\\_%' AND c.relkind = 'r' AND c.relname NOT LIKE 'svc\\_ov\\_%'`)
  const parts = await database?.db.query(sql`
    SELECT c.relname FROM pg_class c WHERE c.relname LIKE 'svc\\_ov\\_%' AND c.relkind = 'r'
      AND NOT EXISTS (SELECT FROM svc.datasets d WHERE d.id = substr(c.relname, 8, 32)::uuid)`)
  return {
    files: await readdir(join(directory, 'uploads')),
    tables: tables?.map(({ name }) => name).sort(),
    parts: parts ?? [],
  }
}
