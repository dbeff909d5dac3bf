import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Reply, type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { cursorOf, linkOf, walkPages } from '../../../../testing/requests/page-walk.ts'

type Row = { id: number; pop: number | null; name: string | null }

let app: TestApp
let own: Tenant
const tenants: Tenant[] = []
let schema: string
let id: string
let url: string
before(async () => {
  app = await testApp()
  own = await app.tenant('own')
  tenants.push(own)
  schema = `app_${own.id.replaceAll('-', '')}`
  await table(
    'rows',
    `CREATE TABLE {schema}.rows (id int4 PRIMARY KEY, pop int4, name text, geom geometry(Point, 4326));
     INSERT INTO {schema}.rows SELECT g, nullif(g % 7, 0), 'row ' || g % 5, ST_Point(g % 90, 1, 4326)
     FROM generate_series(1, 50) g`,
  )
  id = await create({ type: 'table', name: 'rows', source: 'rows' })
  url = `/api/v1/datasets/${id}/query`
})
after(async () => {
  // Their roles outlive the database that they were made for.
  for (const { id } of tenants) await app.call('DELETE', `/api/v1/applications/${id}`)
  await app.close()
})

async function table(name: string, text: string): Promise<void> {
  await app.db.script(`${text.replaceAll('{schema}', schema)};
    GRANT SELECT ON ${schema}.${name} TO ${schema}; ANALYZE ${schema}.${name}`)
}

async function create(body: object): Promise<string> {
  const reply = await app.call('POST', '/api/v1/datasets', { key: own.developer, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

const get = (address: string): Promise<Reply> => app.call('GET', address, { key: own.public })
const post = (address: string, body: object): Promise<Reply> => app.call('POST', address, { key: own.public, body })
const idsOf = (rows: readonly Row[]): number[] => rows.map((row) => row.id)
const upTo = (last: number, first = 1): number[] => Array.from({ length: last - first + 1 }, (_, n) => first + n)

describe('a page of a dataset with a primary key', () => {
  test('has a link to the next page just when there are more rows', async () => {
    for (const [limit, sizes] of [
      [20, [20, 20, 10]],
      [25, [25, 25]],
      [50, [50]],
      [49, [49, 1]],
      [1000, [50]],
    ] as const) {
      const pages = await walkPages<Row>(get, `${url}?limit=${limit}`)
      assert.deepEqual(
        pages.map((page) => page.length),
        sizes,
      )
      assert.deepEqual(idsOf(pages.flat()), upTo(50))
    }
    const none = await get(`${url}?limit=5&filter[id]=0`)
    assert.deepEqual([none.body, none.headers.link], [[], undefined])
  })

  test('keeps the rest of its address, and begins where an offset says', async () => {
    const reply = await get(`${url}?limit=10&offset=15&sort=-id&attributes=name&filter[id][$lte]=40`)
    const next = linkOf(reply) ?? ''
    const { searchParams } = new URL(next, 'http://localhost')
    assert.deepEqual([...searchParams.keys()].sort(), ['attributes', 'cursor', 'filter[id][$lte]', 'limit', 'sort'])
    assert.deepEqual(
      (await get(next)).body,
      upTo(15, 6)
        .reverse()
        .map((n) => ({ name: `row ${n % 5}` })),
    )
  })

  test('is walked in csv and GeoJSON too, and its link is seen by HEAD', async () => {
    const csv = await get(`${url}?limit=45&format=csv&attributes=id&sort=pop`)
    assert.equal(csv.text.split('\r\n').length, 47)
    assert.equal((await get(linkOf(csv) ?? '')).text.split('\r\n').length, 7)
    const features = await get(`${url}?limit=45&format=geojson&attributes=name&sort=pop`)
    assert.deepEqual(Object.keys(features.body.features[0].properties), ['name'])
    assert.equal((await get(linkOf(features) ?? '')).body.features.length, 5)
    const head = await app.call('HEAD', `${url}?limit=45&sort=pop`, { key: own.public })
    assert.deepEqual([head.status, head.text], [200, ''])
    assert.equal((await get(linkOf(head) ?? '')).body.length, 5)
  })

  test('of the advanced form is asked for by the cursor with the same body, in the address or in the body', async () => {
    const body = { order: ['-pop', 'name'], where: { id: { $gt: 10 } }, limit: 15 }
    const whole = await post(url, { ...body, limit: 5000 })
    assert.equal(whole.headers.link, undefined)
    const pages = await walkPages<Row>((address) => post(address, body), `${url}?timeout=9000`)
    assert.deepEqual(pages.flat(), whole.body)
    assert.equal(pages.length, 3)
    const cursor = cursorOf(await post(url, body))
    assert.deepEqual((await post(url, { ...body, cursor })).body, whole.body.slice(15, 30))
    const twice = await post(`${url}?cursor=${cursor}`, { ...body, cursor })
    assert.deepEqual([twice.status, twice.body.errors[0].path], [400, 'body/cursor'])
  })

  test('nearest first is walked by distance', async () => {
    const body = { nearest: { point: [25, 1] }, attributes: ['id'], limit: 7 }
    const whole = await post(url, { ...body, limit: 5000 })
    const pages = await walkPages<Row>((address) => post(address, body), url)
    assert.deepEqual(pages.flat(), whole.body)
  })

  test('is 1 000 rows long when only a cursor is given', async () => {
    await table(
      'long',
      `CREATE TABLE {schema}.long (id int8 PRIMARY KEY);
       INSERT INTO {schema}.long SELECT generate_series(1, 2500)`,
    )
    const long = await create({ type: 'table', name: 'long', source: 'long' })
    const pages = await walkPages<Row>(get, `/api/v1/datasets/${long}/query?cursor=`)
    assert.deepEqual(
      pages.map((page) => page.length),
      [1000, 1000, 500],
    )
    assert.equal((await get(`/api/v1/datasets/${long}/query`)).body.length, 2500, 'without a page all rows come')
  })

  test('says by count how many rows there are, and where the first, previous and last pages are', async () => {
    const first = await get(`${url}?limit=20&sort=name&count=exact`)
    const second = await get(linkOf(first) ?? '')
    assert.equal(second.headers['x-total-count'], '50')
    const third = await get(linkOf(second) ?? '')
    assert.equal(linkOf(third), undefined)
    assert.deepEqual((await get(linkOf(third, 'prev') ?? '')).body, second.body)
    assert.deepEqual((await get(linkOf(second, 'first') ?? '')).body, first.body)
    assert.deepEqual((await get(linkOf(first, 'last') ?? '')).body, third.body)
  })
})

describe('a query without pages by key', () => {
  test('has no link, and whoever gives a cursor is told why', async () => {
    const source = 'SELECT g AS id FROM generate_series(1, 50) g'
    const keyless = `/api/v1/datasets/${await create({ type: 'sql', name: 'keyless', source })}/query`
    const cases: [string, object, RegExp][] = [
      [keyless, {}, /no primary key/],
      [url, { attributes: ['pop', 'count(*)'], group: ['pop'] }, /group/],
      [url, { attributes: ['count(*)'] }, /aggregates/],
      [url, { distinct: ['pop'] }, /distinct/],
      [url, { sample: { percentage: 100, seed: 1 } }, /sample/],
      [url, { limit: 1001 }, /limit of 1 to 1000/],
      [url, { limit: 0 }, /limit of 1 to 1000/],
    ]
    for (const [address, body, reason] of cases) {
      const { status, headers, text } = await post(address, { limit: 2, ...body })
      assert.deepEqual([status, headers.link], [200, undefined], text)
      const refused = await post(address, { limit: 2, ...body, cursor: '' })
      assert.equal(refused.status, 400)
      assert.equal(refused.body.errors[0].path, 'body/cursor')
      assert.match(refused.body.detail, reason)
    }
  })

  test('may have a parameter of its own called cursor', async () => {
    const source = 'SELECT g AS id FROM generate_series(1, :cursor::int) g'
    const parameters = [{ name: 'cursor', type: 'integer' }]
    const counted = await create({ type: 'sql', name: 'n', source, metadata: { parameters } })
    assert.equal((await get(`/api/v1/datasets/${counted}/query?cursor=3&limit=50`)).body.length, 3)
  })
})

describe('a cursor', () => {
  test('is refused with another order, filter or dataset, and with an offset', async () => {
    const other = await create({ type: 'table', name: 'other', source: 'rows' })
    const cursor = cursorOf(await get(`${url}?limit=10&sort=pop&filter[id][$gt]=1`))
    assert.ok(cursor)
    const same = `limit=10&cursor=${cursor}`
    const cases: [string, RegExp][] = [
      [`${url}?${same}&sort=-pop&filter[id][$gt]=1`, /same sort/],
      [`${url}?${same}&filter[id][$gt]=1`, /same sort/],
      [`${url}?${same}&sort=pop,name&filter[id][$gt]=1`, /same sort/],
      [`${url}?${same}&sort=pop&filter[id][$gt]=2`, /same filter/],
      [`${url}?${same}&sort=pop`, /same filter/],
      [`/api/v1/datasets/${other}/query?${same}&sort=pop&filter[id][$gt]=1`, /dataset that it came from/],
      [`${url}?${same}&sort=pop&filter[id][$gt]=1&offset=10`, /offset/],
    ]
    for (const [address, message] of cases) {
      const { status, body } = await get(address)
      assert.deepEqual([status, body.errors[0].path], [400, 'query/cursor'], address)
      assert.match(body.detail, message)
    }
    const page = await get(`${url}?limit=3&attributes=name&cursor=${cursor}&sort=pop&filter[id][$gt]=1`)
    assert.equal(page.body.length, 3, 'what is shown, and how much of it, may change')
  })

  test('that nobody gave is 400, whatever it holds', async () => {
    const given = cursorOf(await get(`${url}?limit=10&sort=pop,name`)) ?? ''
    const content: unknown[] = JSON.parse(Buffer.from(given, 'base64url').toString())
    const forged = (values: unknown, passed: unknown = 10) =>
      Buffer.from(JSON.stringify([...content.slice(0, 4), passed, values])).toString('base64url')
    const position = content[5] as string[]
    assert.equal(position.length, 3)
    const hostile = [
      ...[
        'x',
        '0',
        '%00',
        '!!!!',
        'a'.repeat(2_001),
        'a'.repeat(5_000),
        given.slice(1),
        `${given}AAAA`,
        'bnVsbA',
        'W10',
        'e30',
      ],
      Buffer.from(JSON.stringify([2, ...content.slice(1)])).toString('base64url'),
      ...[-1, 1.5, '10', null, 1e300].map((passed) => forged(position, passed)),
      ...[{}, 'x', 7, [], ['1'], [...position, '1'], [[1], 'a', '1']].map((values) => forged(values)),
      ...['', 'x', '1; DROP TABLE rows', "1' OR '1'='1", '99999999999999999999', '1e3', '0x10', 1, true, {}].map(
        (pop) => forged([pop, 'a', '1']),
      ),
      ...['\u0000', '\ud800', 5, [], {}].map((name) => forged(['1', name, '1'])),
      ...[null, '', 'NaN', '1::int8)) OR TRUE --'].map((key) => forged(['1', 'a', key])),
    ]
    for (const cursor of hostile) {
      const { status, body } = await get(`${url}?limit=10&sort=pop,name&cursor=${cursor}`)
      assert.equal(status, 400, cursor.slice(0, 200))
      assert.ok(body.detail.length < 300, body.detail)
      const advanced = await post(url, { limit: 10, order: ['pop', 'name'], cursor: decodeURIComponent(cursor) })
      assert.equal(advanced.status, 400, cursor.slice(0, 200))
    }
    // These are of the right form, and beyond what the column can hold: the database knows no such row, or says so.
    for (const values of [
      ['9999999999', "'; --", '1'],
      ['9223372036854775808', 'a', '1'],
    ]) {
      const { status, text } = await get(`${url}?limit=10&sort=pop,name&cursor=${forged(values)}`)
      assert.ok(status === 200 || status === 400, text)
    }
    const none = await get(`${url}?limit=10&sort=pop,name&cursor=${forged(null, Number.MAX_SAFE_INTEGER)}`)
    assert.deepEqual([none.status, none.body], [200, []])
  })

  test('is no way around the right to query', async () => {
    const next = linkOf(await get(`${url}?limit=10`)) ?? ''
    const stranger = await app.tenant('stranger')
    tenants.push(stranger)
    assert.equal((await app.call('GET', next, { key: stranger.public })).status, 404)
    const blind = await app.key(own.id, { datasets: { read: '*' } })
    assert.equal((await app.call('GET', next, { key: blind })).status, 401)
  })
})
