import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import type { Permissions } from '../../../api/access/grants.ts'

let app: TestApp
let own: Tenant
let other: Tenant
before(async () => {
  app = await testApp()
  own = await app.tenant('own')
  other = await app.tenant('other')
})
after(() => app.close())

async function databaseOf({ developer }: Tenant): Promise<string> {
  const { body } = await app.call('GET', '/api/v1/databases', { key: developer })
  return body[0].id
}

const run = async (body: object, key = own.developer) =>
  app.call('POST', `/api/v1/databases/${await databaseOf(own)}/query`, { key, body })

const rows = "SELECT g AS id, 'n' || g AS name, ST_Point(g, 1, 4326) AS geom FROM generate_series(1, 50) AS g"

describe('SQL that is stored nowhere', () => {
  test('is answered with its attributes and rows, as many as are asked for', async () => {
    const { status, body, text } = await run({ sql: rows, limit: 2 })
    assert.equal(status, 200, text)
    assert.deepEqual(
      body.attributes.map(({ name, type }: Record<string, string>) => [name, type]),
      [
        ['id', 'integer'],
        ['name', 'string'],
        ['geom', 'geometry'],
      ],
    )
    assert.deepEqual(body.rows[1], { id: 2, name: 'n2', geom: { type: 'Point', coordinates: [2, 1] } })
    assert.equal(body.rows.length, 2)
    const { body: datasets } = await app.call('GET', '/api/v1/datasets', { key: own.developer })
    assert.deepEqual(datasets, [])
  })

  test('is explained in place of being run', async () => {
    const { status, body, text } = await run({ sql: rows, explain: true })
    assert.equal(status, 200, text)
    assert.match(JSON.stringify(body.plan), /Function Scan/)
    assert.equal(body.rows, undefined)
  })

  test('is refused at its place where it is wrong, writes, or reads what is the server’s own', async () => {
    for (const sql of ['SELECT nothing', 'DROP TABLE x', 'SELECT * FROM svc.apikeys', 'SELECT 1; SELECT 2']) {
      const { status, body } = await run({ sql })
      assert.equal(status, 400, sql)
      assert.equal(body.errors[0].path, 'body/sql', JSON.stringify(body))
    }
  })

  test('needs what making and reading a dataset of it needs', async () => {
    const full: Permissions = { datasets: { write: '*', execute: '*' }, databases: { read: '*', execute: '*' } }
    const status = async (permissions: Permissions) =>
      (await run({ sql: rows }, await app.key(own.id, permissions))).status
    assert.equal(await status(full), 200)
    assert.equal(await status({ ...full, datasets: { write: '*' } }), 401)
    assert.equal(await status({ ...full, datasets: { execute: '*' } }), 401)
    assert.equal(await status({ ...full, datasets: { write: ['a'], execute: '*' } }), 401)
    assert.equal(await status({ ...full, databases: { execute: '*' } }), 401)
    assert.equal(await status({ ...full, databases: { read: '*' } }), 401)
    assert.equal((await run({ sql: rows }, own.public)).status, 401)
    assert.equal((await run({ sql: rows }, other.developer)).status, 404)
  })
})

describe('a kept query', () => {
  test('belongs to the application, and names only its databases', async () => {
    const keep = async (databaseId: string | null, key = own.developer) =>
      app.call('POST', '/api/v1/queries', { key, body: { name: 'Places', sql: rows, databaseId } })
    const { status, body, text } = await keep(await databaseOf(own))
    assert.equal(status, 201, text)
    assert.equal((await keep(null)).status, 201)
    assert.equal((await keep(await databaseOf(other))).status, 400)
    assert.equal((await keep(null, own.public)).status, 401)
    const { status: theirs } = await app.call('GET', `/api/v1/queries/${body.id}`, { key: other.developer })
    assert.equal(theirs, 404)
  })
})
