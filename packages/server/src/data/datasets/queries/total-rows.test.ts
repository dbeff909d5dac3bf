import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'

let app: TestApp
let own: Tenant
let id: string
let url: string
before(async () => {
  app = await testApp()
  own = await app.tenant('own')
  const source = 'SELECT g AS id, g % 3 AS kind, ST_Point(g, 1, 4326) AS geom FROM generate_series(1, 50) g'
  id = await create({ type: 'sql', name: 'rows', source })
  url = `/api/v1/datasets/${id}/query`
})
after(() => app.close())

async function create(body: object): Promise<string> {
  const reply = await app.call('POST', '/api/v1/datasets', { key: own.developer, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}
const get = (address: string) => app.call('GET', address, { key: own.public })
const total = (headers: Record<string, unknown>) => headers['x-total-count']

describe('count=exact', () => {
  test('says how many rows there are beyond the page, and where the other pages are', async () => {
    const { body, headers } = await get(`${url}?sort=id&limit=20&offset=20&count=exact`)
    assert.equal(body.length, 20)
    assert.equal(total(headers), '50')
    const links = Object.fromEntries(
      String(headers.link)
        .split(', ')
        .map((link) => [/rel="(\w+)"/.exec(link)?.[1], /<([^>]+)>/.exec(link)?.[1]]),
    )
    assert.deepEqual(Object.keys(links), ['first', 'prev', 'next', 'last'])
    const next = await get(String(links.next))
    assert.deepEqual(
      next.body.map((row: { id: number }) => row.id),
      [41, 42, 43, 44, 45, 46, 47, 48, 49, 50],
    )
    assert.doesNotMatch(String(next.headers.link), /rel="next"/)
  })

  test('counts what the filter lets through, in every format', async () => {
    for (const format of ['json', 'geojson', 'csv']) {
      const { headers } = await get(`${url}?filter[kind]=1&limit=1&count=exact&format=${format}`)
      assert.equal(total(headers), '17', format)
    }
    assert.equal(total((await get(`${url}?filter[kind]=7&count=exact`)).headers), '0')
    const none = await get(`${url}?limit=0&count=exact`)
    assert.deepEqual([none.body, total(none.headers)], [[], '50'])
  })

  test('counts groups and distinct rows by the advanced form', async () => {
    const post = (body: object) => app.call('POST', `${url}?count=exact`, { key: own.public, body })
    for (const body of [{ attributes: ['kind', 'count(*)'], group: ['kind'] }, { distinct: ['kind'] }]) {
      const { status, headers, text } = await post({ ...body, limit: 1 })
      assert.equal(status, 200, text)
      assert.equal(total(headers), '3')
      assert.equal(headers.link, undefined)
    }
  })

  test('is asked for by name: without it, and with another word, nothing is counted', async () => {
    assert.equal(total((await get(`${url}?limit=1`)).headers), undefined)
    const { status, body } = await get(`${url}?count=about`)
    assert.deepEqual([status, body.detail], [400, 'query/count: must be exact or estimated'])
  })
})

test('count=estimated is what the database expects, also of a table with many rows', async () => {
  const schema = `app_${own.id.replaceAll('-', '')}`
  await app.db.script(`CREATE TABLE ${schema}.many AS SELECT g AS id FROM generate_series(1, 5000) g;
    GRANT SELECT ON ${schema}.many TO ${schema}; ANALYZE ${schema}.many`)
  const many = await create({ type: 'table', name: 'many', source: 'many' })
  const { headers } = await get(`/api/v1/datasets/${many}/query?limit=10&count=estimated`)
  assert.equal(total(headers), '5000')
  assert.match(String(headers.link), /rel="next"/)
})

test('a dataset’s own parameter called count stays one', async () => {
  const source = 'SELECT g AS id FROM generate_series(1, :count::int) g'
  const parameters = [{ name: 'count', type: 'integer' }]
  const counted = await create({ type: 'sql', name: 'n', source, metadata: { parameters } })
  const { body, headers } = await get(`/api/v1/datasets/${counted}/query?count=3`)
  assert.deepEqual([body.length, total(headers)], [3, undefined])
})
