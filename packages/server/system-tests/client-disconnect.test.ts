import assert from 'node:assert/strict'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from '../src/kernel/db/sql.ts'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'
import { until } from '../testing/until.ts'

/** Clients that close their connection in the first milliseconds of a request: nothing may run on for them. */

const isPostgres = process.env.TEST_DATABASE_URL !== undefined
const onPostgres = { skip: isPostgres ? false : 'the embedded database cannot cancel a statement' }
const clients = 30
/** Half a second on a quiet machine (faults/cases/vanishing-clients.ts); other tests use the same cores. */
const endedWithinMs = 60_000
const quietMs = 300

let app: TestApp
let tenant: Tenant
let port: number
before(async () => {
  app = await testApp()
  tenant = await app.tenant('leaving')
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  port = (app.http.server.address() as AddressInfo).port
})
after(async () => {
  await app.call('DELETE', `/api/v1/applications/${tenant.id}`)
  await app.close()
})

async function create(path: string, body: object): Promise<string> {
  const reply = await app.call('POST', `/api/v1/${path}`, { key: tenant.developer, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

const dataset = (source: string) => create('datasets', { type: 'sql', name: 'slow', source })

/** Sends a request and closes the connection after so many milliseconds; other headers and a body where there are any. */
async function askAndLeave(line: string, afterMs: number, headers: string[] = [], body = ''): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  const head = [`${line} HTTP/1.1`, 'Host: a', `X-Api-Key: ${tenant.developer}`, ...headers, ...length]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  await wait(afterMs)
  socket.destroy()
}

/** Thirty clients at once, each of which leaves within the first ten milliseconds. */
const leaveEarly = (line: (client: number) => string, headers?: (client: number) => string[], body?: string) =>
  Promise.all(
    Array.from({ length: clients }, (_, client) =>
      askAndLeave(line(client), 1 + (client % 10), headers?.(client), body),
    ),
  )

/** Statements that the roles of tenants run now. */
async function running(): Promise<number> {
  const [row] = await app.admin.query<{ n: number }>(sql`
    SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND usename LIKE 'app!_%' ESCAPE '!' AND state <> 'idle'`)
  return Number(row?.n)
}

/** No statement of a tenant is left in time, and none begins after all. */
async function nothingRuns(): Promise<void> {
  let quietSince = Number.POSITIVE_INFINITY
  await until(async () => {
    const now = performance.now()
    quietSince = (await running()) === 0 ? Math.min(quietSince, now) : Number.POSITIVE_INFINITY
    return now - quietSince > quietMs
  }, endedWithinMs + quietMs)
}

/** A place is free a moment after the query has ended, on a busy machine a longer one. */
const queriesAreFree = () =>
  until(async () => /query_streams 0$/m.test((await app.services.metrics.read()).text), endedWithinMs)

const forever = 'SELECT count(*) AS n FROM (SELECT generate_series(1, 1000000000000)) g'

describe('clients that leave in the first ten milliseconds', () => {
  for (const method of ['GET', 'POST'] as const) {
    test(
      `leave no ${method} query of a dataset behind, and its application is answered at once`,
      onPostgres,
      async () => {
        const [slow, quick] = [await dataset(forever), await dataset('SELECT 1 AS one')]
        const path = `/api/v1/datasets/${slow}/query?timeout=300000`
        await leaveEarly(() => `${method} ${path}`, undefined, method === 'POST' ? '{}' : '')
        await nothingRuns()
        await queriesAreFree()
        const reply = await app.call('GET', `/api/v1/datasets/${quick}/query`, { key: tenant.developer })
        assert.equal(reply.status, 200, reply.text)
      },
    )
  }

  test('leave no statistics of an attribute behind', onPostgres, async () => {
    const id = await dataset(forever)
    await leaveEarly(() => `GET /api/v1/datasets/${id}/attributes/n/statistics?timeout=300000`)
    await nothingRuns()
    await queriesAreFree()
  })

  test('keep no place among the running queries', async () => {
    // Long enough that no answer is there before its client leaves, short enough for a database that cannot cancel.
    const id = await dataset('SELECT count(*) AS n FROM generate_series(1, 300000) g')
    await leaveEarly(() => `GET /api/v1/datasets/${id}/query`)
    await queriesAreFree()
    const reply = await app.call('GET', `/api/v1/datasets/${id}/query`, { key: tenant.developer })
    assert.equal(reply.status, 200, reply.text)
  })

  test('leave no tile behind, nor its explanation', onPostgres, async () => {
    const point = (n: string) => `ST_SetSRID(ST_MakePoint(${n} % 180, 1), 4326) AS geom`
    // The first row is there at once, so that the dataset can be made; the second never comes.
    const id = await dataset(`SELECT 1 AS id, ${point('1')} UNION ALL SELECT n, ${point('n')} FROM (${forever}) q`)
    const source = await create('tilesources', {
      type: 'dataset',
      source: id,
      minZoom: 0,
      maxZoom: 14,
      attribution: 'a',
      extentLngLat: [-180, -85, 180, 85],
    })
    await leaveEarly((client) => `GET /tiles/${source}/5/${client}/15.mvt`)
    await nothingRuns()
    await leaveEarly((client) => `GET /tiles/${source}/5/${client}/15.mvt?explain=true`)
    await nothingRuns()
  })

  test('leave no query of a tool behind', onPostgres, async () => {
    const id = await dataset(forever)
    const call = { name: 'query_dataset', arguments: { datasetId: id } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })
    await leaveEarly(() => 'POST /api/v1/mcp', undefined, body)
    await nothingRuns()
    await queriesAreFree()
  })

  test('leave no look at a dataset behind that they wanted to make', onPostgres, async () => {
    // The look takes the first geometry, which never comes.
    const source = `SELECT ST_MakePoint(1, n) AS geom FROM (${forever}) q`
    const body = JSON.stringify({ type: 'sql', name: 'never', source })
    await leaveEarly(() => 'POST /api/v1/datasets', undefined, body)
    await nothingRuns()
  })
})
