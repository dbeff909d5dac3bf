import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'

// One database is enough: contract.test.ts reads and writes metadata of every resource on both; paths and merges are made in
// memory.

let app: TestApp
let tenant: Tenant
let path: string
before(async () => {
  app = await testApp()
  tenant = await app.tenant('metadata')
})
beforeEach(async () => {
  const body = { name: 'a', style: { version: 8, sources: {}, layers: [] }, metadata: { kept: 1 } }
  const made = await app.call('POST', '/api/v1/styles', { key: tenant.developer, body })
  path = `/api/v1/styles/${made.body.id}/metadata`
})
after(() => app.close())

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

test('a whole PUT merges at the top level and answers with all of it', async () => {
  const { status, body } = await call('PUT', path, { body: { a: { b: 1 }, n: null } })
  assert.equal(status, 200)
  assert.deepEqual(body, { kept: 1, a: { b: 1 }, n: null })
  assert.deepEqual((await call('PUT', path, { body: { a: { c: 2 } } })).body, { kept: 1, a: { c: 2 }, n: null })
  assert.deepEqual((await call('GET', path)).body, { kept: 1, a: { c: 2 }, n: null })
  for (const wrong of [[], 'text', 5, null]) assert.equal((await call('PUT', path, { body: wrong })).status, 400)
})

test('a key is set, read and deleted, dotted or literal', async () => {
  assert.deepEqual((await call('PUT', `${path}/a.b`, { body: { c: 1 } })).body, { kept: 1, a: { b: { c: 1 } } })
  assert.equal((await call('GET', `${path}/a.b.c`)).body, 1)
  await call('PUT', path, { body: { 'x.y': 'literal' } })
  assert.equal((await call('GET', `${path}/x.y`)).body, 'literal')
  assert.deepEqual((await call('DELETE', `${path}/a.b`)).body, { kept: 1, a: {}, 'x.y': 'literal' })
  for (const method of ['GET', 'DELETE']) assert.equal((await call(method, `${path}/a.b`)).status, 404)
  assert.equal((await call('PUT', `${path}/null`, { body: null })).body.null, null)
  assert.equal((await call('GET', `${path}/null`)).text, 'null')
})

test('reading needs read, writing needs write', async () => {
  assert.equal((await call('GET', path, { key: tenant.public })).status, 200)
  assert.equal((await call('PUT', path, { key: tenant.public, body: {} })).status, 401)
  assert.equal((await call('PUT', `${path}/a`, { key: tenant.public, body: 1 })).status, 401)
  assert.equal((await call('DELETE', `${path}/kept`, { key: tenant.public })).status, 401)
})

test('more than 64 KiB in all is 413, by whatever way, and changes nothing', async () => {
  const half = 'x'.repeat(40_000)
  await call('PUT', `${path}/first`, { body: half })
  for (const reply of [
    await call('PUT', `${path}/second`, { body: half }),
    await call('PUT', path, { body: { second: half } }),
    await call('PATCH', path.replace('/metadata', ''), { body: { metadata: { second: half } } }),
  ]) {
    assert.equal(reply.status, 413)
    assert.equal(reply.body.code, 'too_large')
  }
  assert.deepEqual(Object.keys((await call('GET', path)).body).sort(), ['first', 'kept'])
})

test('a change of metadata is a change of the record', async () => {
  const record = path.replace('/metadata', '')
  const before = await call('GET', record)
  const { headers } = await call('PUT', `${path}/a`, { body: 1 })
  const after = await call('GET', record)
  assert.notEqual(after.headers.etag, before.headers.etag)
  assert.equal(after.headers.etag, headers.etag)
  assert.ok(after.body.updatedAt >= before.body.updatedAt)
})
