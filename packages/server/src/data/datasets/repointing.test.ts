import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'

const path = '/api/v1/datasets'
const databases = '/api/v1/databases'

let app: TestApp
let tenant: Tenant
let schema: string
/** A second database record of the application, which is not the default. */
let second: string
before(async () => {
  app = await testApp()
  tenant = await app.tenant('repointing')
  schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(`
    CREATE TABLE ${schema}.reports (id int PRIMARY KEY, note text);
    CREATE TABLE ${schema}.salaries (id int PRIMARY KEY, amount int);
    CREATE TABLE ${schema}.passing (id int PRIMARY KEY);
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};`)
  second = await make(databases, { type: 'internal', name: 'second' })
})
after(() => app.close())

async function make(address: string, body: object): Promise<string> {
  const reply = await app.call('POST', address, { key: tenant.developer, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

const reports = (rest: object = {}) => make(path, { type: 'table', name: 'reports', source: 'reports', ...rest })
const statusOf = async (method: string, id: string, key: string, body: object) =>
  (await app.call(method, `${path}/${id}`, { key, body })).status

const repointings = [
  { source: 'salaries' },
  { source: 'other.salaries' },
  { type: 'sql', source: 'SELECT * FROM salaries' },
  { type: 'rest', source: 'http://127.0.0.1:1/' },
]

describe('a key for one dataset', () => {
  for (const method of ['PATCH', 'PUT'])
    test(`may ${method} its description and name, and not what it leads to`, async () => {
      const id = await reports()
      const key = await app.key(tenant.id, { datasets: { '*': [id] }, databases: { '*': '*' } })
      for (const body of [...repointings, { databaseId: second }, { source: 'absent' }]) {
        const reply = await app.call(method, `${path}/${id}`, { key, body })
        assert.deepEqual([reply.status, reply.body.code], [401, 'unauthorized'], reply.text)
        assert.match(reply.body.detail, /needs what creating datasets needs/)
      }
      const { body: stored } = await app.call('GET', `${path}/${id}`, { key })
      assert.deepEqual([stored.source, stored.type], ['reports', 'table'])
      assert.notEqual(stored.databaseId, second)
      const { type, source, databaseId } = stored
      const same = { type, source, databaseId: databaseId.toUpperCase() }
      assert.equal(await statusOf(method, id, key, { ...same, description: 'd', name: 'n' }), 200)
    })
})

describe('a key for all datasets and no database', () => {
  test('creates in the default database, and changes the source of what is there', async () => {
    const key = await app.key(tenant.id, { datasets: { '*': '*' } })
    const id = await reports()
    assert.equal(await statusOf('PATCH', id, key, { source: 'salaries' }), 200)
    assert.equal(await statusOf('PATCH', id, key, { databaseId: second }), 400)
  })

  test('changes the description of a dataset in any other, and not its source', async () => {
    const key = await app.key(tenant.id, { datasets: { '*': '*' } })
    const id = await reports({ databaseId: second })
    assert.equal(await statusOf('PATCH', id, key, { description: 'a new one' }), 200)
    assert.equal(await statusOf('PUT', id, key, { description: 'another', databaseId: second }), 200)
    for (const body of repointings) assert.equal(await statusOf('PATCH', id, key, body), 401)
    const both = await app.call('PATCH', `${path}/${id}`, { key, body: { source: 'salaries', databaseId: second } })
    assert.equal(both.status, 401)
    const reader = await app.key(tenant.id, { datasets: { '*': '*' }, databases: { read: [second] } })
    assert.equal(await statusOf('PATCH', id, reader, { source: 'salaries' }), 200)
  })
})

describe('what is not changed is not asked about', () => {
  test('a dataset whose table is gone can be renamed, but not read anew', async () => {
    const id = await reports({ source: 'passing' })
    await app.db.script(`DROP TABLE ${schema}.passing`)
    assert.equal(await statusOf('PATCH', id, tenant.developer, { name: 'gone' }), 200)
    assert.equal(await statusOf('PUT', id, tenant.developer, { name: 'gone', source: 'passing' }), 200)
    assert.equal(await statusOf('PATCH', id, tenant.developer, {}), 400)
    assert.equal(await statusOf('PATCH', id, tenant.developer, { source: 'nowhere' }), 400)
    const { body } = await app.call('GET', `${path}/${id}`, { key: tenant.developer })
    assert.deepEqual([body.name, body.attributes.length], ['gone', 1])
  })

  test('the owner stays without a right on users, as a number or as text', async () => {
    const { id: ownerId } = await app.user(tenant.id)
    const id = await reports({ ownerId })
    const key = await app.key(tenant.id, { datasets: { '*': [id] } })
    for (const same of [ownerId, Number(ownerId)]) {
      const reply = await app.call('PATCH', `${path}/${id}`, { key, body: { description: 'd', ownerId: same } })
      assert.deepEqual([reply.status, reply.body.ownerId], [200, Number(ownerId)])
    }
    const other = await app.user(tenant.id)
    assert.equal(await statusOf('PATCH', id, key, { ownerId: other.id }), 400)
  })

  test('metadata that were stored unchecked do not keep the name from being changed', async () => {
    const id = await reports()
    const metadata = { key: tenant.developer, body: { parameters: 'no list' } }
    assert.equal((await app.call('PUT', `${path}/${id}/metadata`, metadata)).status, 200)
    assert.equal(await statusOf('PATCH', id, tenant.developer, { name: 'renamed' }), 200)
    assert.equal(await statusOf('PATCH', id, tenant.developer, { metadata: { parameters: 5 } }), 400)
  })
})

test('a key for one database may change its description, and not where it leads', async () => {
  const id = await make(databases, {
    type: 'postgres',
    name: 'Elsewhere',
    host: 'a.example.org',
    port: 5432,
    user: 'u',
    password: 'p',
    db: 'd',
  })
  const key = await app.key(tenant.id, { databases: { '*': [id] } })
  const change = (method: string, body: object) => app.call(method, `${databases}/${id}`, { key, body })
  const connectionString = 'postgres://u:p@b.example.org:5432/d'
  for (const body of [{ type: 'internal' }, { host: 'b.example.org' }, { db: 'e' }, { user: 'v' }, { port: 1 }]) {
    assert.equal((await change('PATCH', { ...body, password: 'p' })).status, 401, JSON.stringify(body))
    assert.equal((await change('PUT', { ...body, password: 'p' })).status, 401, JSON.stringify(body))
  }
  assert.equal((await change('PATCH', { connectionString })).status, 401)
  assert.equal((await change('PATCH', { description: 'd', host: 'a.example.org', password: 'new' })).status, 200)
  assert.equal(
    (await app.call('PATCH', `${databases}/${id}`, { body: { type: 'internal', password: 'p' } })).status,
    200,
  )
})
