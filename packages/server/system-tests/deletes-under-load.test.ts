import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { DeclaredOperation } from '../src/api/http/operation.ts'
import { sql } from '../src/kernel/db/sql.ts'
import { connectWorker, type TestWorker } from '../testing/agent-worker.ts'
import type { Reply, Tenant, TestApp } from '../testing/harness.ts'
import { inParallel } from '../testing/in-parallel.ts'
import { type HttpSink, httpSink } from '../testing/peers/http-sink.ts'
import { type UploadApp, uploadApp } from '../testing/uploads.ts'

// Records are deleted while requests and background work use them. Whatever comes first wins; nothing is a 5xx.

/** The embedded database does one thing at a time, so there is less to race with. */
const rounds = process.env.TEST_DATABASE_URL ? 3 : 1

/** The embedded database runs one transaction at a time: whatever can come between there can do so on PostgreSQL too. */
const onPostgres = { skip: process.env.TEST_DATABASE_URL ? false : 'PostgreSQL has all the orders that it has' }

let world: UploadApp
let app: TestApp
let sink: HttpSink
const workers: TestWorker[] = []
before(async () => {
  world = await uploadApp({ OVERVIEW_MIN_ROWS: '10' })
  app = world.app
  sink = await httpSink()
})
after(async () => {
  for (const worker of workers) worker.kill()
  await world.close()
  await sink.close()
})

/** Answers that no race excuses. That an agent has no worker, or lost the one that was at work, is documented as 5xx. */
function demandNoFault(what: string, { status, body, text }: Reply): void {
  assert.ok(
    status < 500 || /^agent_(unavailable|disconnected)$/.test(body?.code ?? ''),
    `${what}: ${status} ${text.slice(0, 600)}`,
  )
}

async function call(method: string, url: string, request: Parameters<TestApp['call']>[2] = {}): Promise<Reply> {
  const reply = await app.call(method, url, request)
  demandNoFault(`${method} ${url}`, reply)
  return reply
}

const repeat = (times: number, work: (index: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: times }, (_, index) => work(index)))

const isRemoval = (one: DeclaredOperation): boolean =>
  one.method === 'DELETE' && /^\/api\/v1\/[\w/]+\/\{id\}$/.test(one.path)

test(
  'reads, writes and deletes of the same records at once answer no 5xx, for every resource',
  onPostgres,
  async () => {
    const removals = app.operations.filter(isRemoval)
    const resources = removals.flatMap(({ path }) => {
      const collection = path.replace('/{id}', '')
      const make = app.operations.find((one) => one.method === 'POST' && one.path === collection && one.body)
      return make ? [{ collection, path, make }] : []
    })
    assert.ok(resources.length >= 9, `${resources.length} resources`)
    await inParallel(
      resources,
      async ({ collection, path, make }) => {
        const tenant = await app.tenant(`race ${collection}`)
        const key = collection.endsWith('/applications') ? app.master : tenant.developer
        const about = app.operations.filter(
          (one) => one.path.startsWith(path) && !/worker|stream|send|invoke/.test(one.path),
        )
        const example = exampleOf(make) as object
        for (let round = 0; round < rounds; round++) {
          const made = await Promise.all(
            Array.from({ length: 4 }, () => call('POST', collection, { key, body: unique(example) })),
          )
          const ids = made.map(({ body }) => body.id ?? tenant.id)
          await repeat(3, () => Promise.all(ids.flatMap((id) => about.map((one) => use(one, id, key)))))
        }
      },
      3,
    )
  },
)

const exampleOf = ({ body }: DeclaredOperation): unknown =>
  (body as { examples?: unknown[] } | undefined)?.examples?.[0]

const unique = (example: object): object =>
  'email' in example ? { ...example, email: `${randomUUID()}@example.org` } : example

async function use(one: DeclaredOperation, id: string, key: string): Promise<void> {
  const { method, path, body } = one
  const url = path.replace('{id}', id).replace(/\{\w+\}/g, 'key')
  await call(method, url, { key, ...(body && { body: exampleOf(one) }) })
}

test('a contact point can be deleted while its messages are being sent', onPostgres, async () => {
  const tenants = await Promise.all(Array.from({ length: 6 }, (_, at) => app.tenant(`messages ${at}`)))
  const body = { name: 'x', type: 'webhook', settings: { url: sink.url } }
  await inParallel(
    Array.from({ length: 30 * rounds }, (_, at) => at),
    async (at) => {
      const key = tenants[at % tenants.length]?.developer ?? ''
      const { body: point } = await call('POST', '/api/v1/contactpoints', { key, body })
      const url = `/api/v1/contactpoints/${point.id}`
      await repeat(4, (message) => call('POST', `${url}/send`, { key, body: { message: `m${message}` } }))
      await Promise.all([call('PATCH', url, { key, body: { name: 'y' } }), call('DELETE', url, { key })])
    },
    12,
  )
})

test('a user can be deleted while sessions begin, are renewed and end', onPostgres, async () => {
  const { id: applicationId, developer: key } = world.tenant
  await inParallel(
    Array.from({ length: 3 * rounds }),
    async () => {
      const user = await app.user(applicationId)
      const { refreshToken } = await app.login(user)
      const dataset = await call('POST', '/api/v1/datasets', { key, body: { ...oneRow, ownerId: Number(user.id) } })
      const { email, password } = user
      const url = `/api/v1/auth/users/${user.id}`
      const open = { key: null }
      await Promise.all([
        ...Array.from({ length: 4 }, () =>
          call('POST', '/api/v1/auth/refresh?rotate=true', { ...open, body: { refreshToken, applicationId } }),
        ),
        call('POST', '/api/v1/auth/login', { ...open, body: { email, password, applicationId } }),
        call('POST', '/api/v1/apikeys', { key, body: { type: 'user', userId: Number(user.id), permissions: {} } }),
        call('PATCH', `/api/v1/datasets/${dataset.body.id}`, { key, body: { name: 'z' } }),
        call('PATCH', url, { key, body: { enabled: false } }),
        call('DELETE', url, { key }),
      ])
    },
    4,
  )
})

const oneRow = { type: 'sql', name: 'One', source: 'SELECT 1 AS one, ST_Point(1, 1, 4326) AS geom' }

test('a database can be deleted while datasets in it come and go', async () => {
  const { developer: key } = world.tenant
  const internal = { type: 'internal', name: 'Second' }
  await repeat(2 * rounds, async () => {
    const { body: database } = await call('POST', '/api/v1/databases', { key, body: internal })
    await Promise.all([
      ...Array.from({ length: 4 }, async () => {
        const { body } = await call('POST', '/api/v1/datasets', { key, body: { ...oneRow, databaseId: database.id } })
        if (body.id) await call('DELETE', `/api/v1/datasets/${body.id}`, { key })
      }),
      ...Array.from({ length: 4 }, () => call('DELETE', `/api/v1/databases/${database.id}`, { key })),
    ])
  })
})

test('an agent can be deleted while it answers', async () => {
  const { developer: key } = world.tenant
  for (let round = 0; round < rounds; round++) {
    const { body: agent } = await call('POST', '/api/v1/agents', { key, body: { name: 'a', storeContent: true } })
    workers.push(await connectWorker({ url: world.address, key, agentId: agent.id }))
    const url = `/api/v1/agents/${agent.id}`
    await call('POST', `${url}/invoke`, { key, body: { input: 'x' } })
    await Promise.all([
      ...Array.from({ length: 30 }, () => call('POST', `${url}/invoke`, { key, body: { input: 'x' } })),
      call('GET', `${url}/invocations`, { key }),
      call('DELETE', url, { key }),
    ])
  }
})

/** Enough rows for overviews, so that jobs work on the dataset after it has come. */
const points = (count: number): string =>
  `lon,lat,n\n${Array.from({ length: count }, (_, at) => `${(at % 90) / 10},${(at % 70) / 10},${at}`).join('\n')}\n`

const file = { name: 'points.csv', bytes: points(300) }

async function send(tenant: Tenant): Promise<string | undefined> {
  const { status, body } = await world.send(file, {}, tenant.developer)
  assert.ok(status < 500, JSON.stringify(body))
  return body.id
}

test('what an upload makes can be deleted while it is drawn, queried and replaced', async () => {
  const { tenant } = world
  const { developer: key } = tenant
  await inParallel(
    Array.from({ length: rounds + 1 }),
    async () => {
      const upload = await world.upload(file)
      assert.equal(upload.status, 'completed', JSON.stringify(upload.error))
      const id = upload.datasetId
      const replacing = await world.send(file, { datasetId: id })
      assert.ok(replacing.status < 500, JSON.stringify(replacing.body))
      await Promise.all([
        ...Array.from({ length: 4 }, () => call('GET', `/api/v1/datasets/${id}/query`, { key })),
        ...Array.from({ length: 4 }, (_, zoom) => call('GET', `/tiles/${id}/${zoom}/0/0.mvt`, { key })),
        call('GET', `/tiles/${id}/index.json`, { key }),
        call('DELETE', `/api/v1/uploads/${replacing.body.id}`, { key }),
        call('DELETE', `/api/v1/tilesources/${id}`, { key }),
        call('DELETE', `/api/v1/datasets/${id}`, { key }),
        call('DELETE', `/api/v1/uploads/${upload.id}`, { key }),
      ])
    },
    2,
  )
})

test('an application can be deleted while everything in it is at work, and its keys meet no 5xx', async () => {
  await inParallel(
    Array.from({ length: rounds + 1 }),
    async () => {
      const tenant = await app.tenant('doomed')
      const { id: applicationId, developer: key } = tenant
      const first = await world.upload(file, {}, key)
      const { body: point } = await call('POST', '/api/v1/contactpoints', {
        key,
        body: { name: 'x', type: 'webhook', settings: { url: sink.url } },
      })
      const user = await app.user(applicationId)
      const { refreshToken } = await app.login(user)
      const { email, password } = user
      await send(tenant)
      let isGone = false
      const during = (work: () => Promise<unknown>) =>
        (async () => {
          for (let more = 3; more > 0; more -= isGone ? 1 : 0) await work()
        })()
      await Promise.all([
        during(() => send(tenant)),
        during(() => call('POST', `/api/v1/contactpoints/${point.id}/send`, { key, body: { message: 'm' } })),
        during(() => call('GET', `/api/v1/datasets/${first.datasetId}/query`, { key })),
        during(() => call('GET', `/tiles/${first.datasetId}/0/0/0.mvt`, { key })),
        during(() => call('POST', '/api/v1/datasets', { key, body: oneRow })),
        during(() => call('POST', '/api/v1/apikeys', { key, body: { type: 'app', permissions: {} } })),
        during(() => call('PUT', '/api/v1/appconfig', { key, body: { a: 1 } })),
        during(() => call('POST', '/api/v1/auth/login', { key: null, body: { email, password, applicationId } })),
        during(() => call('POST', '/api/v1/auth/refresh', { key: null, body: { refreshToken, applicationId } })),
        call('DELETE', `/api/v1/applications/${applicationId}`).then(({ status }) => {
          assert.equal(status, 200)
          isGone = true
        }),
      ])
      assert.equal((await call('GET', '/api/v1/styles', { key })).status, 401)
    },
    2,
  )
})

test('none of it was a deadlock: deletes and background work lock in the same order', {
  skip: !process.env.TEST_DATABASE_URL,
}, async () => {
  await app.db.query(sql`SELECT pg_stat_clear_snapshot()`)
  const [row] = await app.db.query<{ deadlocks: number }>(
    sql`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`,
  )
  assert.equal(Number(row?.deadlocks), 0)
})
