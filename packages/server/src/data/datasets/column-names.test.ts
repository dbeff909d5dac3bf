import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'

// One database is enough: names are quoted alike for both; db.test.ts and tile-data.test.ts have such columns on both.

// Names that every object of JavaScript has already.
const rows = [
  { id: 1, constructor: 'a', prototype: 10 },
  { id: 2, constructor: 'b', prototype: 20 },
  { id: 3, constructor: null, prototype: null },
]
const service = createServer((_request, response) => {
  // The last has neither.
  const sparse = [...rows.slice(0, 2), { id: 3 }]
  response.setHeader('content-type', 'application/json').end(JSON.stringify(sparse))
})
let app: TestApp
let tenant: Tenant
before(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  app = await testApp()
  tenant = await app.tenant('names')
})
after(async () => {
  await app.call('DELETE', `/api/v1/applications/${tenant.id}`)
  await app.close()
  service.close()
  service.closeAllConnections()
})

const sources = {
  sql: () => `SELECT * FROM (VALUES (1, 'a', 10), (2, 'b', 20), (3, NULL, NULL)) AS v (id, "constructor", "prototype")`,
  rest: () => `http://127.0.0.1:${(service.address() as AddressInfo).port}/`,
}

for (const [type, source] of Object.entries(sources)) {
  describe(`a column of a ${type} dataset called constructor or prototype`, () => {
    let url: string
    before(async () => {
      const body = { type, name: 'a', source: source() }
      const made = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
      assert.equal(made.status, 201, made.text)
      url = `/api/v1/datasets/${made.body.id}/query`
    })
    const get = (query: string) => app.call('GET', `${url}?${query}`, { key: tenant.developer })
    const post = (body: object) => app.call('POST', url, { key: tenant.developer, body })
    const ids = ({ status, text, body }: Awaited<ReturnType<typeof get>>) => {
      assert.equal(status, 200, text)
      return body.map(({ id }: { id: number }) => id)
    }

    test('is filtered by', async () => {
      assert.deepEqual(ids(await get('filter[constructor]=b')), [2])
      assert.deepEqual(ids(await get('filter[prototype][$gte]=10&sort=id')), [1, 2])
      assert.deepEqual(ids(await get(`filter=${encodeURIComponent('{"constructor":"b"}')}`)), [2])
      assert.deepEqual(ids(await post({ where: { constructor: 'b' } })), [2])
      assert.deepEqual(ids(await post({ where: { prototype: { $gte: 10 } }, order: ['id'] })), [1, 2])
      const either: { $or: object[] } = { $or: [{ constructor: 'a' }, { $not: { prototype: { $lt: 20 } } }] }
      assert.deepEqual(ids(await post({ where: either, order: ['id'] })), [1, 2])
      assert.deepEqual(ids(await post({ where: { constructor: null } })), [3])
    })

    test('is answered, sorted and grouped by', async () => {
      assert.deepEqual((await post({ order: ['id'] })).body, rows)
      assert.deepEqual((await post({ order: ['-constructor'], where: { prototype: 20 } })).body, [rows[1]])
      const grouped = await post({ attributes: ['constructor', 'sum(prototype) as n'], group: ['constructor'] })
      assert.equal(grouped.status, 200, grouped.text)
      assert.equal(grouped.body.length, 3)
    })

    test('is the only place for such a key', async () => {
      const bodies = ['{"constructor":1}', '{"where":{"__proto__":1}}', '{"sample":{"percentage":1,"prototype":1}}']
      for (const raw of bodies) {
        assert.equal((await app.call('POST', url, { key: tenant.developer, raw })).status, 400, raw)
      }
      assert.equal((await post({ where: { id: { constructor: 1 } } })).status, 400)
      assert.equal((await post({ where: { toString: 1 } })).status, 400)
      assert.equal((await get('filter[__proto__]=1')).status, 400)
      const metadata = { metadata: { constructor: 1 } }
      const request = { key: tenant.developer, body: { type, name: 'a', source: source(), ...metadata } }
      assert.equal((await app.call('POST', '/api/v1/datasets', request)).status, 400)
    })
  })
}
