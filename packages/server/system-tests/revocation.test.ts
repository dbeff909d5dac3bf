import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { tenantSchema } from '../src/data/databases/tenant-schema.ts'
import { sql } from '../src/kernel/db/sql.ts'
import { connectWorker, type WorkerJob } from '../testing/agent-worker.ts'
import { openStream } from '../testing/event-client.ts'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'
import { runningQueries } from '../testing/processes/running-queries.ts'
import { until } from '../testing/until.ts'

/** What is open on the strength of a credential ends with it. */

const isPostgres = process.env.TEST_DATABASE_URL !== undefined
const onPostgres = { skip: isPostgres ? false : 'the embedded database has all rows before it answers' }
/** Only servers on PostgreSQL have replicas. */
const onReplicas = { skip: isPostgres ? false : 'the embedded database belongs to one server' }
/** The promise is 2 s; other tests use the same cores. Less than what is ended would take by itself. */
const endedWithinMs = 25_000
const everything = { '*': { '*': '*' } } as const

let app: TestApp
let tenant: Tenant
let port: number
let otherPort: number
let large: string
let agentId: string
before(async () => {
  app = await testApp()
  tenant = await app.tenant('revocation')
  port = await listen(app.http)
  otherPort = await listen((await app.replica()).http)
  // More than the buffers of two sockets hold.
  large = await dataset(tenant, `SELECT g AS id, repeat('x', 1000) AS t FROM generate_series(1, 40000) g`)
  agentId = (await app.call('POST', '/api/v1/agents', { key: tenant.developer, body: {} })).body.id
})
after(async () => {
  await app.call('DELETE', `/api/v1/applications/${tenant.id}`)
  await app.close()
})

async function listen(http: FastifyInstance): Promise<number> {
  await http.listen({ port: 0, host: '127.0.0.1' })
  return (http.server.address() as AddressInfo).port
}

async function dataset({ developer: key }: Tenant, source: string): Promise<string> {
  const reply = await app.call('POST', '/api/v1/datasets', { key, body: { type: 'sql', name: 'a', source } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

type Headers = Record<string, string>

function ask(path: string, headers: Headers, at = port): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ port: at, host: '127.0.0.1', path, headers, agent: false }, resolve).on('error', reject)
  })
}

/** Reads a large answer slowly, 64 KiB every tenth of a second. */
async function readSlowly(headers: Headers, { id = large, at = port } = {}) {
  const answer = await ask(`/api/v1/datasets/${id}/query`, headers, at)
  assert.equal(answer.statusCode, 200)
  const isOver = new Promise<void>((resolve) => answer.once('close', resolve).on('error', () => {}))
  let bytes = 0
  answer.on('readable', () => {})
  const reading = setInterval(() => {
    bytes += (answer.read(65_536) ?? answer.read())?.length ?? 0
  }, 100)
  return {
    bytes: () => bytes,
    /** Takes what is left in the buffers; true when that was the rest of the answer. */
    async isWhole() {
      clearInterval(reading)
      answer.removeAllListeners('readable').resume()
      await isOver
      return answer.complete
    },
    stop() {
      clearInterval(reading)
      answer.destroy()
    },
  }
}

/** Ends the credential and expects the stream to be cut in time, in the middle. */
async function expectCut(headers: Headers, revoke: () => Promise<unknown>, from: { id?: string; at?: number } = {}) {
  const reader = await readSlowly(headers, from)
  const before = (await running()) - 1
  await until(() => reader.bytes() > 0)
  const revoking = revoke()
  await until(async () => (await running()) === before, endedWithinMs)
  await revoking
  assert.equal(await reader.isWhole(), false, 'half an answer looked whole')
}

const running = (): Promise<number> => runningQueries(app.admin)

const newKey = (rest: object = {}) => app.key(tenant.id, everything, rest)
const deleteKey = (key: string) => app.call('DELETE', `/api/v1/apikeys/${key}`)
const disable = (id: string) => app.call('PATCH', `/api/v1/auth/users/${id}`, { body: { enabled: false } })

type LoggedIn = Awaited<ReturnType<typeof loggedIn>>

/** A user who is logged in, whose token stands for the tenant's key. */
async function loggedIn() {
  const user = await app.user(tenant.id)
  const session = await app.login(user)
  return { ...session, id: user.id, headers: { ...session.headers, 'x-api-key': tenant.developer } }
}

describe('a dataset stream is cut in the middle within two seconds', () => {
  test('when its key is deleted', async () => {
    const key = await newKey()
    await expectCut({ 'x-api-key': key }, () => deleteKey(key))
  })

  test('when its key is deleted on another replica', onReplicas, async () => {
    const key = await newKey()
    await expectCut({ 'x-api-key': key }, () => deleteKey(key), { at: otherPort })
  })

  test('when its key expires', async () => {
    const expiresAt = new Date(Date.now() + 8_000)
    const key = await newKey({ expiresAt: expiresAt.toISOString() })
    const reader = await readSlowly({ 'x-api-key': key })
    await until(() => Date.now() > expiresAt.getTime())
    await until(async () => (await running()) === 0, endedWithinMs)
    assert.equal(await reader.isWhole(), false)
  })

  for (const [where, at, options] of [
    ['here', () => port, {}],
    ['on another replica', () => otherPort, onReplicas],
  ] as const) {
    test(`when the user of its token is disabled ${where}`, options, async () => {
      const { headers, id } = await loggedIn()
      await expectCut(headers, () => disable(id), { at: at() })
    })

    test(`when the session of its token ends ${where}`, options, async () => {
      const { headers, refreshToken } = await loggedIn()
      const logout = () =>
        app.call('POST', '/api/v1/auth/logout', { key: tenant.developer, headers, body: { refreshToken } })
      await expectCut(headers, logout, { at: at() })
    })

    test(
      `when its application is deleted ${where}, also while it reads the application’s own table`,
      options,
      async () => {
        const gone = await app.tenant('gone')
        const schema = tenantSchema(gone.id)
        await app.db.script(`CREATE TABLE "${schema}".many AS
        SELECT g AS id, repeat('x', 1000) AS t FROM generate_series(1, 40000) g;
        GRANT SELECT ON "${schema}".many TO "${schema}"`)
        const id = await dataset(gone, 'SELECT * FROM many')
        const remove = () => app.call('DELETE', `/api/v1/applications/${gone.id}`)
        await expectCut({ 'x-api-key': gone.developer }, remove, { id, at: at() })
      },
    )
  }

  test('when the user of its key is disabled', async () => {
    const user = await app.user(tenant.id)
    const key = await newKey({ type: 'user', userId: user.id })
    const made = await app.call('PATCH', `/api/v1/datasets/${large}`, { body: { ownerId: user.id } })
    assert.equal(made.status, 200, made.text)
    await expectCut({ 'x-api-key': key }, () => disable(user.id))
  })

  test('but not those of others', async () => {
    const key = await newKey()
    const other = await readSlowly({ 'x-api-key': tenant.developer })
    await expectCut({ 'x-api-key': key }, () => deleteKey(key))
    const read = other.bytes()
    await until(() => other.bytes() > read)
    other.stop()
    await until(async () => (await running()) === 0, endedWithinMs)
  })
})

/** Revoked while it runs; the answer comes in time. */
async function revokedWhileRunning(
  answer: Promise<IncomingMessage>,
  revoke: () => Promise<unknown>,
): Promise<IncomingMessage> {
  await until(async () => (await running()) === 1)
  const start = performance.now()
  await revoke()
  const refused = await answer
  assert.ok(performance.now() - start < endedWithinMs)
  await until(async () => (await running()) === 0, endedWithinMs)
  return refused
}

const forever = 'SELECT count(*) AS n FROM (SELECT generate_series(1, 1000000000000)) g'

describe('what has not begun to answer is 401 within two seconds', onPostgres, () => {
  test('a query of a dataset whose key is deleted', async () => {
    const [key, id] = [await newKey(), await dataset(tenant, forever)]
    const query = ask(`/api/v1/datasets/${id}/query`, { 'x-api-key': key }, otherPort)
    const refused = await revokedWhileRunning(query, () => deleteKey(key))
    assert.equal(refused.statusCode, 401)
    assert.equal(JSON.parse(String(Buffer.concat(await refused.toArray()))).code, 'key_revoked')
  })

  test('a query of a dataset whose application is deleted', async () => {
    const gone = await app.tenant('gone')
    const id = await dataset(gone, forever)
    const query = ask(`/api/v1/datasets/${id}/query`, { 'x-api-key': gone.public })
    const refused = await revokedWhileRunning(query, () => app.call('DELETE', `/api/v1/applications/${gone.id}`))
    assert.equal(refused.statusCode, 401)
  })

  test('a tile, when the user of its token is disabled', async () => {
    const point = (n: string) => `ST_SetSRID(ST_MakePoint(${n} % 180, 1), 4326) AS geom`
    const source = await dataset(
      tenant,
      `SELECT 1 AS id, ${point('1')} UNION ALL SELECT n, ${point('n')} FROM (${forever}) q`,
    )
    const extentLngLat = [-180, -85, 180, 85]
    const body = { type: 'dataset', source, minZoom: 0, maxZoom: 14, attribution: 'a', extentLngLat }
    const { body: made } = await app.call('POST', '/api/v1/tilesources', { key: tenant.developer, body })
    const { headers, id } = await loggedIn()
    const refused = await revokedWhileRunning(ask(`/tiles/${made.id}/0/0/0.mvt`, headers), () => disable(id))
    assert.equal(refused.statusCode, 401)
  })

  test('a tool, when its key is deleted', async () => {
    const [key, datasetId] = [await newKey(), await dataset(tenant, forever)]
    const params = { name: 'query_dataset', arguments: { datasetId } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const call = fetch(`http://127.0.0.1:${port}/api/v1/mcp`, { method: 'POST', headers, body })
    await until(async () => (await running()) === 1)
    await deleteKey(key)
    assert.equal((await call).status, 401)
  })
})

describe('agents', () => {
  const world = () => ({ url: `http://127.0.0.1:${otherPort}`, path: `/api/v1/agents/${agentId}/stream` })
  const endless = ({ send }: WorkerJob) => {
    send({ t: 'accept' })
    send({ t: 'delta', text: 'a' })
  }

  for (const [what, revoke] of [
    ['the user is disabled', ({ id }: LoggedIn) => disable(id)],
    [
      'the session ends',
      ({ id }: LoggedIn) =>
        app.db.query(sql`
      UPDATE svc.sessions SET revoked_at = clock_timestamp() WHERE user_id = ${Number(id)}`),
    ],
  ] as const) {
    test(`a stream ends with 401 within two seconds when ${what}`, async () => {
      const { url, path } = world()
      const worker = await connectWorker({ url, key: tenant.developer, agentId, handle: endless })
      const user = await loggedIn()
      const stream = await openStream(url + path, tenant.developer, { input: 'x' }, undefined, user.headers)
      const start = performance.now()
      await revoke(user)
      await stream.over
      assert.ok(performance.now() - start < endedWithinMs)
      assert.equal(stream.last()?.event, 'error')
      assert.equal(stream.last()?.data.statusCode, 401)
      worker.close()
      await worker.closed
    })

    test(`the socket of a worker is closed within two seconds when ${what}`, async () => {
      const user = await loggedIn()
      const { url } = world()
      const worker = await connectWorker({ url, key: tenant.developer, agentId, headers: user.headers })
      const start = performance.now()
      await revoke(user)
      assert.equal((await worker.closed).code, 4401)
      assert.ok(performance.now() - start < endedWithinMs)
    })
  }
})

describe('the key of an application that is deleted', () => {
  test('is refused at once here, within a second elsewhere, and no answer in between is a 5xx', async () => {
    const gone = await app.tenant('gone')
    const id = await dataset(gone, 'SELECT 1 AS one')
    const path = `/api/v1/datasets/${id}/query`
    const statuses: { status: number; askedAt: number }[] = []
    let isDone = false
    const asking = Promise.all(
      [port, otherPort].flatMap((at) =>
        Array.from({ length: 4 }, async () => {
          while (!isDone) {
            const askedAt = performance.now()
            const answer = await ask(path, { 'x-api-key': gone.public }, at)
            await answer.toArray()
            statuses.push({ status: answer.statusCode ?? 0, askedAt })
          }
        }),
      ),
    )
    await until(() => statuses.length > 50)
    assert.equal((await app.call('DELETE', `/api/v1/applications/${gone.id}`)).status, 200)
    const deletedAt = performance.now()
    assert.equal((await ask(path, { 'x-api-key': gone.public })).statusCode, 401)
    await until(() => performance.now() - deletedAt > 1_500)
    isDone = true
    await asking
    assert.deepEqual(
      [...new Set(statuses.map(({ status }) => status))].filter((status) => status >= 500),
      [],
    )
    const late = statuses.filter(({ status, askedAt }) => status !== 401 && askedAt > deletedAt + 1_000)
    assert.deepEqual(late, [])
  })
})
