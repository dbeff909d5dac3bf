import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Tenant } from '../../../testing/harness.ts'
import { type TileApp, tileApp } from '../../../testing/tiles.ts'
import { until } from '../../../testing/until.ts'
import type { Permissions } from '../../api/access/grants.ts'
import { sql } from '../../kernel/db/sql.ts'
import type { Counts } from './counters.ts'

const path = '/api/v1/usage'
const canary = 'canary-of-another-tenant'

let world: TileApp
let own: Tenant
let foreign: Tenant
let datasetId: string
before(async () => {
  world = await tileApp()
  own = world.tenant
  foreign = await world.app.tenant(canary)
  await world.script(`
    CREATE TABLE places (id int PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO places SELECT i, ST_SetSRID(ST_MakePoint(i, i), 4326) FROM generate_series(1, 20) i`)
  datasetId = await world.dataset({ source: 'places' })
  await world.app.http.listen({ port: 0, host: '127.0.0.1' })
})
after(() => world.close())

type Report = {
  applicationId: string
  name: string
  storage: { bytes: number; tableBytes: number; fileBytes: number; rows: number }
  uploads: { running: number; waiting: number }
  records: Record<string, number>
  today: Counts
  month: Counts
  periods: (Counts & { start: string })[]
}

async function reports(query = '', key: string = world.app.master): Promise<Report[]> {
  await world.app.services.usage.flush()
  const { status, body, text } = await world.app.call('GET', `${path}${query}`, { key })
  assert.equal(status, 200, text)
  return body
}

async function reportOf({ id }: Tenant, query = ''): Promise<Report> {
  const [found] = await reports(`?filter[applicationId]=${id}${query}`)
  assert.ok(found)
  return found
}

const utcDay = async (): Promise<string> =>
  String((await world.app.db.query(sql`SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date::text AS day`))[0]?.day)

/** Requests on one connection, whose received bytes are counted by the client too. */
function connection(key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { port } = world.app.http.server.address() as AddressInfo
  let socket: Socket | undefined
  return {
    get: (address: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = request(
          { port, host: '127.0.0.1', path: address, agent, headers: { 'x-api-key': key } },
          (reply) => {
            reply.resume().once('end', () => resolve(reply.statusCode ?? 0))
          },
        )
        sent.once('socket', (one) => {
          socket = one
        })
        sent.once('error', reject).end()
      }),
    received: () => socket?.bytesRead ?? 0,
    close: () => agent.destroy(),
  }
}

test('metrics have figures of the busiest applications, if the operator asks for them', async () => {
  const { app } = world
  assert.ok(!(await app.call('GET', '/metrics')).text.includes('graticule_application_'))
  const second = await app.replica({ METRICS_APPLICATIONS: '1' })
  second.services.usage.add(own.id, 'requests', 3)
  second.services.usage.add(own.id, 'mails', 2)
  second.services.usage.add(foreign.id, 'requests', 2)
  await second.services.usage.flush()
  const { text } = await second.services.metrics.read()
  assert.ok(text.includes(`graticule_application_requests_total{application="${own.id}"} 3`))
  assert.ok(text.includes(`graticule_application_mails_total{application="${own.id}"} 2`))
  assert.ok(!text.includes(foreign.id))
  await second.close()
})

describe('usage', () => {
  test('counts requests, bytes, tiles and queries of a known workload exactly', async () => {
    const client = connection(own.developer)
    // The first tile of a table makes the server watch it, which changes its version.
    assert.equal(await client.get(`/tiles/${datasetId}/1/1/0.mvt`), 200)
    await until(async () => (await reportOf(own)).today.bytesOut === client.received())
    const received = client.received()
    const before = (await reportOf(own)).today
    const tile = `/tiles/${datasetId}/0/0/0.mvt`
    for (let index = 0; index < 4; index++) assert.equal(await client.get(tile), 200)
    for (let index = 0; index < 3; index++) {
      assert.equal(await client.get(`/api/v1/datasets/${datasetId}/query?limit=5`), 200)
    }
    assert.equal(await client.get('/api/v1/styles'), 200)
    assert.equal(await client.get('/api/v1/styles/nothing'), 404)
    // The server counts an answer when it has sent it, which the client may see first.
    await until(async () => (await reportOf(own)).today.requests - before.requests >= 9)
    const { today, month, periods } = await reportOf(own)
    const grown = (name: keyof Counts) => today[name] - before[name]
    assert.deepEqual(
      [grown('requests'), grown('tilesMade'), grown('tilesCached'), grown('queries'), grown('refused')],
      [9, 1, 3, 3, 0],
    )
    assert.equal(grown('bytesOut'), client.received() - received)
    assert.ok(grown('tileSeconds') > 0 && grown('querySeconds') > 0)
    assert.equal(month.requests >= today.requests, true)
    assert.deepEqual(periods.at(-1), { start: await utcDay(), ...today })
    client.close()
  })

  test('says what an application keeps: bytes, rows, records', async () => {
    const { name, storage, records, uploads } = await reportOf(own)
    assert.equal(name, 'maps')
    assert.ok(storage.tableBytes >= 8192 && storage.bytes === storage.tableBytes + storage.fileBytes)
    assert.deepEqual([records.datasets, records.styles, uploads], [1, 0, { running: 0, waiting: 0 }])
  })

  test('of another application cannot be read', async () => {
    for (const key of [own.developer, own.reader]) {
      for (const query of ['', `?filter[applicationId]=${own.id}`, `?filter[applicationId][$ne]=${foreign.id}`]) {
        const found = await reports(query, key)
        assert.deepEqual(
          found.map(({ applicationId }) => applicationId),
          [own.id],
        )
        assert.ok(!JSON.stringify(found).includes(canary))
      }
      assert.deepEqual(await reports(`?filter[applicationId]=${foreign.id}`, key), [])
    }
    const reader = await world.app.key(own.id, { applications: { read: [own.id] } })
    const [report] = await reports('', reader)
    assert.deepEqual(report?.records, {}, 'kinds that the key may not read are not counted')
    const useless: Permissions[] = [{ datasets: { '*': '*' } }, { applications: { read: [foreign.id] } }]
    for (const permissions of useless) {
      const key = await world.app.key(own.id, permissions)
      assert.equal((await world.app.call('GET', path, { key })).status, 401)
    }
  })

  test('of all applications is for a master key, in pages', async () => {
    const all = await world.app.call('GET', path)
    const total = Number(all.headers['x-total-count'])
    assert.equal(total, all.body.length)
    const page = await world.app.call('GET', `${path}?limit=1&offset=1`)
    assert.equal(page.body[0].applicationId, all.body[1].applicationId)
    assert.match(String(page.headers.link), /rel="next"/)
    const chosen = await world.app.call('GET', path, { headers: { 'x-application-id': foreign.id } })
    assert.deepEqual([chosen.body.length, chosen.body[0].name], [1, canary])
    assert.deepEqual((await world.app.call('GET', `${path}?limit=0`)).body, [])
  })

  test('is given by day and by month between two days', async () => {
    await world.app.db.query(sql`
      INSERT INTO svc.usage (application_id, day, requests) SELECT ${foreign.id}::uuid, d::date, 5
      FROM unnest('{2020-01-30,2020-01-31,2020-02-01,2020-03-01}'::text[]) AS t(d)`)
    const starts = async (query: string) =>
      (await reportOf(foreign, query)).periods.map(({ start, requests }) => [start, requests])
    assert.deepEqual(await starts('&from=2020-01-31&to=2020-02-29'), [
      ['2020-01-31', 5],
      ['2020-02-01', 5],
    ])
    assert.deepEqual(await starts('&from=2020-01-01&to=2020-02-29&interval=month'), [
      ['2020-01-01', 10],
      ['2020-02-01', 5],
    ])
    assert.deepEqual(await starts('&to=2020-02-01'), [
      ['2020-01-30', 5],
      ['2020-01-31', 5],
      ['2020-02-01', 5],
    ])
    const wrong = [
      'from=2020-02-30',
      'from=yesterday',
      'from=2020-02-02&to=2020-02-01',
      'from=2000-01-01',
      'interval=week',
    ]
    for (const query of wrong) assert.equal((await world.app.call('GET', `${path}?${query}`)).status, 400, query)
    assert.equal((await world.app.call('GET', `${path}?filter[name]=x`)).status, 400)
  })

  test('of two replicas adds up, and a replica that stops writes what it has counted', async () => {
    const before = (await reportOf(foreign)).today.requests
    const second = await world.app.replica()
    const call = { method: 'GET', url: '/api/v1/styles', headers: { 'x-api-key': foreign.developer } } as const
    for (let index = 0; index < 3; index++) assert.equal((await second.http.inject(call)).statusCode, 200)
    for (let index = 0; index < 2; index++) assert.equal((await world.app.http.inject(call)).statusCode, 200)
    assert.equal((await reportOf(foreign)).today.requests, before + 2)
    await second.close()
    assert.equal((await reportOf(foreign)).today.requests, before + 5)
  })

  test('that cannot be written is kept for the next time, and added once', async (t) => {
    const { usage } = world.app.services
    const before = (await reportOf(foreign)).today.messages
    usage.add(foreign.id, 'messages', 2)
    const failing = t.mock.method(world.app.db, 'query', async () => Promise.reject(new Error('gone')))
    await assert.rejects(usage.flush(), /gone/)
    failing.mock.restore()
    usage.add(foreign.id, 'messages')
    assert.equal((await reportOf(foreign)).today.messages, before + 3)
  })

  test('goes with its application, and what is counted for one that is gone harms nobody', async () => {
    const gone = await world.app.tenant('gone')
    const { usage } = world.app.services
    usage.add(gone.id, 'requests')
    assert.equal((await reportOf(gone)).today.requests >= 1, true)
    assert.equal((await world.app.call('DELETE', `/api/v1/applications/${gone.id}`)).status, 200)
    const before = (await reportOf(foreign)).today.mails
    for (const id of [gone.id, randomUUID()]) usage.add(id, 'requests')
    usage.add(foreign.id, 'mails')
    assert.equal((await reportOf(foreign)).today.mails, before + 1)
    const [left] = await world.app.db.query(
      sql`SELECT count(*)::int4 AS rows FROM svc.usage WHERE application_id = ${gone.id}::uuid`,
    )
    assert.equal(left?.rows, 0)
  })
})
