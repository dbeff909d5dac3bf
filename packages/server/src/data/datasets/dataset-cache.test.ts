import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { later } from '../../../testing/processes/clock.ts'

// One database is enough: it is about what the process remembers.

let app: TestApp
let tenant: Tenant
let id: string
before(async () => {
  app = await testApp()
  tenant = await app.tenant('known')
  const body = { type: 'sql', name: 'one', source: 'SELECT 1 AS one' }
  id = (await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })).body.id
})
after(() => app.close())

const query = (key: string) => app.call('GET', `/api/v1/datasets/${id}/query`, { key })

test('a dataset that was just queried is not reached by a key that may not', async () => {
  assert.equal((await query(tenant.developer)).status, 200)
  const stranger = await app.tenant('stranger')
  const confined = await app.key(tenant.id, { datasets: { execute: ['00000000-0000-4000-8000-000000000000'] } })
  assert.equal((await query(stranger.developer)).status, 404)
  assert.equal((await query(confined)).status, 401)
  const allowed = await app.key(tenant.id, { datasets: { execute: [id] } })
  assert.equal((await query(allowed)).status, 200)
})

test('a change is seen by the next query', async () => {
  for (const column of ['two', 'three', 'four']) {
    const body = { source: `SELECT 1 AS ${column}` }
    assert.equal((await app.call('PATCH', `/api/v1/datasets/${id}`, { key: tenant.developer, body })).status, 200)
    assert.deepEqual((await query(tenant.developer)).body, [{ [column]: 1 }])
  }
})

test('a change that another replica made is seen within a second', async () => {
  assert.equal((await query(tenant.developer)).status, 200)
  await app.db.script(`UPDATE svc.datasets SET source = 'SELECT 2 AS four' WHERE id = '${id}'`)
  later(1_000)
  assert.deepEqual((await query(tenant.developer)).body, [{ four: 2 }])
})

test('a deleted dataset is gone at once', async () => {
  assert.equal((await query(tenant.developer)).status, 200)
  await app.call('DELETE', `/api/v1/datasets/${id}`, { key: tenant.developer })
  assert.equal((await query(tenant.developer)).status, 404)
})
