import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { type Recording, type Rogue, startRecorder, startReplay } from '../../../../testing/hostile/rogue-postgres.ts'
import { mutationOf, randomOf } from '../../../../testing/hostile/wire-mutations.ts'
import { openPostgres } from '../../../kernel/db/postgres/postgres.ts'
import { raw, sql } from '../../../kernel/db/sql.ts'

// What a real server said is said again with faults. No conversation may end the process, hold it up, or be answered 500.

const skip = process.env.TEST_DATABASE_URL === undefined ? 'what is mutated was said by a PostgreSQL server' : false
const seed = Number(process.env.TEST_SEED)
const conversations = Number(process.env.TEST_CONVERSATIONS ?? (process.env.TEST_RANDOM ? 100_000 : 750))
const atOnce = 48
const msEach = 60

type Ask = (tenant: Member) => Promise<{ status: number; text: string }>
type Member = Tenant & { databaseId: string; datasets: string[] }

describe('a server whose words are mutated', { skip }, () => {
  const name = `graticule_test_fuzz_${randomUUID().replaceAll('-', '')}`
  const recording: Recording = new Map()
  let app: TestApp
  let administrator: pg.Client
  let members: Member[]
  let recorder: Rogue
  let replay: Rogue

  before(async () => {
    app = await testApp()
    const url = new URL(app.url ?? '')
    administrator = new pg.Client({ connectionString: app.adminUrl })
    await administrator.connect()
    await administrator.query(`CREATE DATABASE ${name} TEMPLATE graticule_template OWNER ${url.username}`)
    url.pathname = `/${name}`
    const inside = new pg.Client({ connectionString: url.href })
    await inside.connect()
    await inside.query(`CREATE TABLE things AS SELECT i AS id, 'thing ' || i AS name, now() AS at, ARRAY[i] AS list,
      jsonb_build_object('i', i) AS more, ST_Point(i % 90, i % 45, 4326)::geometry(Point, 4326) AS geom
      FROM generate_series(1, 3000) i; CREATE INDEX ON things USING gist (geom)`)
    await inside.end()
    recorder = await startRecorder({ host: '127.0.0.1', port: Number(url.port) }, recording)
    members = await Promise.all(['a', 'b', 'c', 'd'].map((one) => member(one, recorder.port)))
    for (const ask of asks) for (const one of members) assert.ok((await ask(one)).status < 300, (await ask(one)).text)
    await copy(recorder.port)
    replay = await startReplay(recording, (number) => mutationOf(seed * 1_000_003 + number))
    for (const one of members) await move(one, replay.port)
  })
  after(async () => {
    await recorder?.close()
    await replay?.close()
    await administrator.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await administrator.end()
    await app?.close()
  })

  async function member(title: string, port: number): Promise<Member> {
    const tenant = await app.tenant(title)
    const user = new URL(app.url ?? '').username
    const place = { type: 'postgres', name: title, host: '127.0.0.1', port, user, password: 'x', db: name }
    const made = await app.call('POST', '/api/v1/databases', { key: tenant.developer, body: place })
    assert.equal(made.status, 201, made.text)
    const one: Member = { ...tenant, databaseId: made.body.id, datasets: [] }
    for (const body of [
      { type: 'table', source: 'things' },
      { type: 'sql', source: 'SELECT * FROM things WHERE id < 500' },
    ]) {
      let reply = await create(one, body)
      // A connection is given up after ten seconds, which a busy machine may take to make one.
      while (reply.status === 502) reply = await create(one, body)
      assert.equal(reply.status, 201, reply.text)
      one.datasets.push(reply.body.id)
    }
    return one
  }

  const create = ({ developer, databaseId }: Member, body: object) =>
    app.call('POST', '/api/v1/datasets', { key: developer, body: { name: 'a', ...body, databaseId } })

  async function move({ developer, databaseId }: Member, port: number): Promise<void> {
    const body = { port, password: 'x' }
    const reply = await app.call('PATCH', `/api/v1/databases/${databaseId}`, { key: developer, body })
    assert.equal(reply.status, 200, reply.text)
  }

  /** Not parsed: what a server says is JSON may be anything. */
  const get =
    (path: string): Ask =>
    async ({ datasets, public: key }) => {
      const url = path.replace('{}', String(datasets[path.length % 2]))
      const { statusCode, body } = await app.http.inject({ method: 'GET', url, headers: { 'x-api-key': key } })
      return { status: statusCode, text: body }
    }
  const asks: Ask[] = [
    ({ databaseId, reader: key }) => app.call('POST', `/api/v1/databases/${databaseId}/test`, { key }),
    get('/api/v1/datasets/{}/query?limit=5&timeout=2000'),
    get('/api/v1/datasets/{}/query?format=geojson&timeout=2000'),
    get('/api/v1/datasets/{}/query?format=csv&attributes=id,more&timeout=2000'),
    get('/api/v1/datasets/{}/query?explain=true&timeout=2000'),
    get('/tiles/{}/2/2/1.pbf'),
    get('/tiles/{}/1/1/0.pbf'),
    get('/tiles/{}/0/0/0.geojson'),
    (who) => create(who, { type: 'table', source: 'things' }),
  ]

  async function copy(port: number): Promise<void> {
    const user = new URL(app.url ?? '').username
    const server = { host: '127.0.0.1', port, user, password: 'x', database: name, ssl: false } as const
    const db = openPostgres({ ...server, owner: 'copy', definition: 'copy', poolSize: 2, onError: () => {} })
    const lines = async function* () {
      for (let line = 0; line < 3; line++) yield `${line}\n`
    }
    try {
      await db.transaction(async (tx) => {
        await tx.query(sql`CREATE TABLE copied (id int)`)
        await tx.copyIn(sql`COPY copied FROM STDIN`, lines())
        await tx.query(raw('SELECT count(*) FROM copied'))
        await tx.query(sql`DROP TABLE copied`)
      })
    } finally {
      await db.close()
    }
  }

  test(`${conversations} conversations end in order, and the healthcheck answers throughout`, {
    timeout: 120_000 + conversations * msEach,
  }, async () => {
    const statuses = new Map<number, number>()
    const pulse = takePulse(() => app.call('GET', '/api/v1/healthcheck', { key: null }))
    const random = randomOf(seed)
    const draw = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
    const lane = async (): Promise<void> => {
      while (replay.connections < conversations) {
        if (random() < 0.05) await copy(replay.port).catch(() => undefined)
        // Half of them only try the database out, which is the quickest conversation.
        const { status, text } = await (random() < 0.5 ? (asks[0] as Ask) : draw(asks))(draw(members))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        assert.notEqual(status, 500, text)
      }
    }
    const memory = process.memoryUsage().rss
    await Promise.all(Array.from({ length: atOnce }, lane))
    const { beats, longestMs } = await pulse.stop()
    assert.ok(beats > 10 && longestMs < 60_000, `${beats} beats, the longest of ${longestMs} ms`)
    assert.ok(process.memoryUsage().rss - memory < 500 << 20, `${process.memoryUsage().rss >> 20} MB`)
    assert.deepEqual(
      [...statuses.keys()].filter((status) => ![200, 201, 204, 400, 429, 502, 503, 504].includes(status)),
      [],
    )
    if (process.env.TEST_RANDOM)
      console.log(replay.connections, 'conversations', Object.fromEntries(statuses), longestMs)
  })
})

/** Asks again and again until it is stopped, and tells how long the longest answer took. */
function takePulse(ask: () => Promise<{ status: number }>) {
  let isOver = false
  let beats = 0
  let longestMs = 0
  const done = (async () => {
    while (!isOver) {
      const started = performance.now()
      assert.equal((await ask()).status, 200)
      longestMs = Math.max(longestMs, performance.now() - started)
      beats++
      await sleep(20)
    }
  })()
  return {
    async stop() {
      isOver = true
      await done
      return { beats, longestMs: Math.round(longestMs) }
    },
  }
}
