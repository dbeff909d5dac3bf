import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { about, type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'

// One database is enough: contract.test.ts reads and writes it on both; paths and merges are made in memory.

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
})
beforeEach(async () => {
  tenant = await app.tenant('config')
})
after(() => app.close())

const path = '/api/v1/appconfig'
const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

describe('the configuration', () => {
  test('is empty but for the server’s word before it is set', async () => {
    for (const url of [path, `${path}/current`]) assert.deepEqual((await call('GET', url)).body, { svc: about })
  })

  test('is set whole, and what was read can be written back', async () => {
    const config = { theme: { colour: 'red' }, list: [1, { a: null }], version: { tag: 'mine' } }
    const set = await call('PUT', path, { body: config })
    assert.equal(set.status, 200)
    assert.deepEqual(set.body, { ...config, svc: about })
    const read = (await call('GET', path)).body
    assert.deepEqual((await call('PUT', path, { body: read })).body, read)
    assert.deepEqual((await call('GET', `${path}/${tenant.id}`)).body.config, config, 'svc is not stored')
    assert.deepEqual((await call('PUT', path, { body: {} })).body, { svc: about })
  })

  test('takes merge patches', async () => {
    await call('PUT', path, { body: { a: { b: 1, c: 2 } } })
    const { status, body } = await call('PATCH', path, { body: { a: { b: null, d: 3 }, svc: {} } })
    assert.equal(status, 200)
    assert.deepEqual(body, { a: { c: 2, d: 3 }, svc: about })
  })

  test('may have any JSON under a dotted key; objects on the way are made', async () => {
    for (const value of [{ x: 1 }, 'text', 5, true, null, [], '']) {
      const set = await call('PUT', `${path}/a.b.c`, { body: value })
      assert.deepEqual(set.body, { a: { b: { c: value } }, svc: about })
      assert.deepEqual((await call('GET', `${path}/a.b.c`)).body, value)
    }
    assert.deepEqual((await call('GET', `${path}/a.b`)).body, { c: '' })
    assert.deepEqual((await call('DELETE', `${path}/a.b.c`)).body, { a: { b: {} }, svc: about })
    assert.equal((await call('GET', `${path}/a.b.c`)).status, 404)
    assert.equal((await call('DELETE', `${path}/a.b.c`)).status, 404)
  })

  test('finds a literal key before a dotted path', async () => {
    await call('PUT', path, { body: { 'a.b': 'literal', a: { b: 'nested' } } })
    assert.equal((await call('GET', `${path}/a.b`)).body, 'literal')
    await call('PUT', `${path}/a.b`, { body: 'new' })
    await call('DELETE', `${path}/a.b`)
    assert.deepEqual((await call('GET', path)).body, { a: { b: 'nested' }, svc: about })
  })

  test('reaches into lists by number, and nothing is overwritten on the way', async () => {
    await call('PUT', path, { body: { list: [{ a: 1 }], text: 'x' } })
    await call('PUT', `${path}/list.0.a`, { body: 2 })
    await call('PUT', `${path}/list.1`, { body: 'end' })
    assert.deepEqual((await call('GET', `${path}/list`)).body, [{ a: 2 }, 'end'])
    const index = (key: string) => new RegExp(`has "${key}" where there is a list of 2 items. Use an index from 0 to 2`)
    const refusals: Record<string, RegExp> = {
      'list.x': index('x'),
      'list.7': index('7'),
      'list.-7': index('-7'),
      'text.a': /has "a" below a value that is neither an object nor a list/,
      'list.0.a.b': /has "b" below a value/,
    }
    for (const [key, detail] of Object.entries(refusals)) {
      const { status, body } = await call('PUT', `${path}/${key}`, { body: 1 })
      assert.equal(status, 400, key)
      assert.match(body.detail, detail)
    }
  })

  test('refuses keys that reach a prototype, are empty or reserved', async () => {
    for (const key of ['__proto__', 'a.__proto__.x', 'constructor', 'prototype.x', 'a..b', '.', 'svc', 'svc.version']) {
      assert.equal((await call('PUT', `${path}/${key}`, { body: 1 })).status, 400, key)
    }
    assert.equal((await call('GET', `${path}/svc.version.tag`)).body, about.version.tag)
    assert.equal((await call('GET', `${path}/svc.nothing`)).status, 404)
    assert.equal(({} as Record<string, unknown>).x, undefined)
  })

  test('of more than 1 MiB is 413 and changes nothing', async () => {
    await call('PUT', path, { body: { small: 1 } })
    const reply = await call('PUT', path, { body: { big: 'x'.repeat(1_100_000) } })
    assert.equal(reply.status, 413)
    assert.equal((await call('GET', `${path}/small`)).body, 1)
  })

  test('keeps every one of 100 parallel writes of different keys', async () => {
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) => call('PUT', `${path}/group${i % 5}.key${i}`, { body: i })),
    )
    for (const { status } of replies) assert.equal(status, 200)
    const { svc, ...config } = (await call('GET', path)).body
    assert.equal(Object.values(config).flatMap((group) => Object.keys(group as object)).length, 100)
  })

  test('is the key’s own application’s, or the one a master key names', async () => {
    const other = await app.tenant('other')
    await call('PUT', path, { body: { mine: 1 } })
    assert.deepEqual((await call('GET', path, { key: other.developer })).body, { svc: about })
    const seen = await app.call('GET', path, { headers: { 'x-application-id': tenant.id } })
    assert.deepEqual(seen.body, { mine: 1, svc: about })
  })
})

describe('levels', () => {
  test('execute alone reads the current configuration, and neither records nor writes', async () => {
    const key = await app.key(tenant.id, { appconfig: { execute: '*' } })
    for (const url of [path, `${path}/current`]) assert.equal((await call('GET', url, { key })).status, 200)
    for (const url of [`${path}?limit=1`, `${path}?fields=config`, `${path}/${tenant.id}`]) {
      assert.equal((await call('GET', url, { key })).status, 401, url)
    }
    assert.equal((await call('PUT', `${path}/a`, { key, body: 1 })).status, 401)
    assert.equal((await call('DELETE', `${path}/a`, { key })).status, 401)
  })

  test('the list of ids holds applications', async () => {
    const right = await app.key(tenant.id, { appconfig: { '*': [tenant.id] } })
    const wrong = await app.key(tenant.id, { appconfig: { '*': [randomUUID()] } })
    assert.equal((await call('PUT', `${path}/a`, { key: right, body: 1 })).status, 200)
    assert.equal((await call('GET', path, { key: right })).status, 200)
    assert.equal((await call('GET', path, { key: wrong })).status, 401)
    assert.deepEqual((await call('GET', `${path}?limit=5`, { key: wrong })).body, [])
  })
})

describe('records', () => {
  test('are made, listed, read, replaced and deleted', async () => {
    const made = await call('POST', path, { body: { config: { a: 1 } } })
    assert.equal(made.status, 201)
    assert.equal(made.body.applicationId, tenant.id)
    const again = await call('POST', path, { body: { config: { b: 2, svc: {} } } })
    assert.equal(again.status, 201)
    assert.deepEqual(again.body.config, { b: 2 })
    const list = await call('GET', `${path}?sort=-updatedAt&join=application`)
    assert.deepEqual(
      list.body.map(({ config }: { config: object }) => config),
      [{ b: 2 }],
    )
    assert.equal(list.body[0].application.id, tenant.id)
    const url = `${path}/${tenant.id}`
    assert.deepEqual((await call('PUT', url, { body: { config: { c: 3 } } })).body.config, { c: 3 })
    assert.deepEqual((await call('PATCH', url, { body: { config: { c: null, d: 4 } } })).body.config, { d: 4 })
    assert.equal((await call('DELETE', url)).status, 200)
    assert.equal((await call('GET', url)).status, 404)
    assert.deepEqual((await call('GET', path)).body, { svc: about })
  })

  test('of another application are 404 by every method', async () => {
    const other = await app.tenant('other')
    await call('PUT', path, { key: other.developer, body: { theirs: 1 } })
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : { config: {} }
      assert.equal((await call(method, `${path}/${other.id}`, { body })).status, 404)
    }
    assert.deepEqual((await call('GET', path, { key: other.developer })).body, { theirs: 1, svc: about })
  })
})
