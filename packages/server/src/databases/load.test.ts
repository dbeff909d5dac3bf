import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../db/sql.ts'
import type { Connection } from '../query/connection.ts'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'
import { type Connections, createConnections } from './connection.ts'

let app: TestApp
let tenant: Tenant
let connections: Connections
let places: { name: string; connection: Connection }[]
before(async () => {
  app = await testApp()
  tenant = await app.tenant('loader')
  const { db, secrets, url } = app
  connections = createConnections({
    db,
    secrets,
    platformUrl: url,
    maxConnections: 10,
    poolSize: 2,
    resolve: async ({ host }) => host,
  })
  const internal = await connections.lookUp(tenant.id, undefined)
  assert.ok(internal)
  places = [{ name: 'internal', connection: await connections.open(internal) }]
  if (!url) return
  const { hostname, port, username, pathname } = new URL(url)
  const body = {
    type: 'postgres',
    name: 'out',
    host: hostname,
    port: Number(port),
    user: username,
    db: pathname.slice(1),
  }
  const { body: made } = await app.call('POST', '/api/v1/databases', { key: tenant.developer, body })
  const external = await connections.lookUp(tenant.id, made.id)
  assert.ok(external)
  places.push({ name: 'postgres', connection: await connections.open(external) })
})
after(async () => {
  await connections.close()
  await app.close()
})

const columns = [
  { name: 'id', type: 'bigint' },
  { name: 'a "name"', type: 'text' },
  { name: 'geom', type: 'geometry(Point,4326)' },
]
async function* lines() {
  for (let id = 0; id < 5_000; id++) yield `${id}\tname ${id}\\n\tSRID=4326;POINT(${id % 180} 1)\n`
}

test('rows are loaded into a new table, and can be read by the application', async () => {
  for (const { name, connection } of places) {
    assert.equal(await connection.load({ name: 'loaded', columns }, lines()), 5_000, name)
    const statement = sql`SELECT count(*), max("a ""name""") FROM loaded`
    const { batches } = await connection.select(statement, { timeoutMs: 5_000 })
    assert.deepEqual((await Array.fromAsync(batches)).flat(), [['5000', 'name 999\n']], name)
  }
})

test('a row that does not fit leaves no table', async () => {
  for (const { name, connection } of places) {
    const broken = async function* () {
      yield* lines()
      yield 'no number\tx\tPOINT(0 0)\n'
    }
    await assert.rejects(connection.load({ name: 'broken', columns }, broken()), name)
    const missing = connection.select(sql`SELECT 1 FROM broken`, { timeoutMs: 5_000 })
    await assert.rejects(missing, /does not exist/, name)
  }
})

test('a type is one of a list', async () => {
  const [place] = places
  const odd = [{ name: 'a', type: 'text); DROP SCHEMA svc CASCADE; --' }]
  await assert.rejects(async () => place?.connection.load({ name: 'odd', columns: odd }, lines()), /cannot be of type/)
})
