import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'

/** Six times as many as a sample has. */
const manyRows = 60_000
let upstream: Server
let service: string
let app: TestApp
let own: Tenant
let schema: string
let large: string
let types: string

before(async () => {
  upstream = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    const length = request.url?.includes('many') ? 20_000 : 4
    const rows = Array.from({ length }, (_, n) => ({ n, kind: n % 2 ? 'odd' : null, 'a/b "c"': n }))
    response.end(JSON.stringify(rows))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  service = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const credentials = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' }
  const EGRESS_ALLOW = `127.0.0.1:*,${new URL(service).host}`
  app = await testApp({ LAMBDA_ENDPOINT: service, LAMBDA_FUNCTIONS: 'places', EGRESS_ALLOW, ...credentials })
  own = await app.tenant('own')
  schema = `app_${own.id.replaceAll('-', '')}`
  await app.db.script(`
    CREATE TABLE ${schema}.large AS
      SELECT g AS id, CASE WHEN g % 10 = 0 THEN NULL ELSE g END AS n, CASE WHEN g % 4 = 0 THEN 'a' ELSE 'b' END AS kind
      FROM generate_series(1, ${manyRows}) g;
    CREATE TABLE ${schema}.types (
      i int8, f float8, d numeric, t text, b boolean, u uuid, day date, at timestamptz, local timestamp, clock time,
      j jsonb, a int[], bytes bytea, geom geometry(Point, 4326), empty text, span interval);
    INSERT INTO ${schema}.types SELECT 9223372036854775807 - g, CASE g WHEN 3 THEN 'NaN' ELSE 1.7e308 * (g - 1) END,
        1.0 + g, repeat('é', 300) || g, g = 1, 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', date '2026-01-01' + g,
        timestamptz '2026-01-01Z' + g * interval '1 h', timestamp '2026-01-01' + g * interval '1 h',
        time '01:00' + g * interval '1 h', '{"a": 1}', '{1}', 'x', ST_Point(g, g, 4326), NULL, interval '1 day'
      FROM generate_series(0, 3) g;
    INSERT INTO ${schema}.types (i) VALUES (NULL);
    CREATE TABLE ${schema}.nothing (n int, t text, geom geometry);
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema}; ANALYZE ${schema}.large`)
  large = await create({ type: 'table', source: 'large' })
  types = await create({ type: 'table', source: 'types' })
})
after(async () => {
  await app.close()
  upstream.close()
})

const path = '/api/v1/datasets'
async function create(body: object): Promise<string> {
  const reply = await app.call('POST', path, { key: own.developer, body: { name: 'a', ...body } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}
const ask = (id: string, name: string, query = '', key = own.public) =>
  app.call('GET', `${path}/${id}/attributes/${encodeURIComponent(name)}/statistics?${query}`, { key })
async function statistics(id: string, name: string, query = '') {
  const reply = await ask(id, name, query)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const about = (actual: number, expected: number, within: number) =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is about ${expected}`)

describe('a small dataset', () => {
  test('has exact figures', async () => {
    const source = 'SELECT g AS n FROM generate_series(1, 100) g UNION ALL SELECT NULL UNION ALL SELECT 7'
    const id = await create({ type: 'sql', source })
    const { histogram, quantiles, frequent, ...rest } = await statistics(id, 'n', 'quantiles=4&bins=10')
    assert.deepEqual(rest, {
      attribute: 'n',
      type: 'integer',
      rows: { count: 102, isEstimate: false },
      count: 101,
      nulls: 1,
      distinct: 100,
      min: 1,
      max: 100,
      mean: 5057 / 101,
      sampled: false,
      sampleSize: 102,
    })
    assert.deepEqual(quantiles, [
      { p: 0, value: 1 },
      { p: 0.25, value: 25 },
      { p: 0.5, value: 50 },
      { p: 0.75, value: 75 },
      { p: 1, value: 100 },
    ])
    assert.deepEqual(
      [histogram[0], histogram.at(-1)],
      [
        { from: 1, to: 11, count: 11 },
        { from: 91, to: 100, count: 10 },
      ],
    )
    assert.equal(frequent.length, 20)
    assert.deepEqual(frequent.slice(0, 2), [
      { value: 7, count: 2 },
      { value: 1, count: 1 },
    ])
  })

  test('with a filter has the figures of the rows that it lets through', async () => {
    const { rows, count, min, sampled } = await statistics(large, 'n', 'filter[id][$lte]=100&filter[n][$gt]=50')
    assert.deepEqual([rows, count, min, sampled], [{ count: 45, isEstimate: false }, 45, 51, false])
    const wrong = await ask(large, 'n', 'filter[idd]=1')
    assert.deepEqual([wrong.status, wrong.body.errors[0].path], [400, 'query/filter/idd'])
  })

  test('takes its own parameters, and no others', async () => {
    const source = 'SELECT g AS n FROM generate_series(1, :last::int) g'
    const id = await create({ type: 'sql', source, metadata: { parameters: [{ name: 'last', type: 'integer' }] } })
    assert.equal((await statistics(id, 'n', 'last=5')).max, 5)
    assert.equal((await ask(id, 'n', 'lst=5')).status, 400)
  })

  test('without rows has no figures, and none that are wrong', async () => {
    const id = await create({ type: 'table', source: 'nothing' })
    for (const name of ['n', 't', 'geom']) {
      const { attribute, type, distinct, ...rest } = await statistics(id, name)
      assert.deepEqual([attribute, distinct], [name, type === 'geometry' ? null : 0])
      assert.deepEqual(rest, {
        rows: { count: 0, isEstimate: false },
        count: 0,
        nulls: 0,
        min: null,
        max: null,
        mean: null,
        quantiles: [],
        histogram: [],
        frequent: [],
        sampled: false,
        sampleSize: 0,
      })
    }
  })
})

describe('a large table', () => {
  test('is counted, and the rest comes of a sample, marked so', async () => {
    const found = await statistics(large, 'n', 'quantiles=100&bins=10')
    assert.deepEqual([found.rows.count, found.count, found.nulls], [manyRows, manyRows * 0.9, manyRows * 0.1])
    assert.deepEqual([found.min, found.max, found.sampled], [1, manyRows - 1, true])
    assert.ok(found.sampleSize > 8_000 && found.sampleSize <= 10_000)
    about(found.mean, manyRows / 2, manyRows / 20)
    assert.equal(found.quantiles.length, 101)
    for (const { p, value } of found.quantiles) about(value, p * manyRows, manyRows / 20)
    about(found.distinct, manyRows * 0.9, manyRows / 10)
    assert.deepEqual([found.histogram.length, found.histogram.at(-1).to], [10, manyRows - 1])
    for (const { count } of found.histogram) about(count, found.sampleSize * 0.09, found.sampleSize * 0.03)
  })

  test('has the shares of its frequent values', async () => {
    const { frequent, distinct, sampleSize } = await statistics(large, 'kind')
    assert.deepEqual([distinct, frequent.map(({ value }: { value: string }) => value)], [2, ['b', 'a']])
    about(frequent[0].count / sampleSize, 0.75, 0.05)
  })

  test('gives its slot back', async () => {
    for (let time = 0; time < 20; time++) await statistics(large, 'kind', 'filter[id]=1')
  })
})

test('beyond two million rows all figures come of a sample', async () => {
  const source = 'SELECT a * 1500 + b AS n FROM generate_series(0, 1499) a, generate_series(0, 1499) b'
  const found = await statistics(await create({ type: 'sql', source }), 'n')
  assert.deepEqual([found.rows, found.sampled], [{ count: 2_250_000, isEstimate: true }, true])
  about(found.quantiles[5].value, 1_125_000, 100_000)
})

test('rows are counted where the planner expects millions and there are a few', async () => {
  const letters = `regexp_split_to_table('x', '')`
  const source = `SELECT a AS t, ST_Point(1, 2) AS geom FROM ${letters} a, ${letters} b, ${letters} c`
  const id = await create({ type: 'sql', source })
  for (const name of ['t', 'geom']) {
    const { rows, count, sampled } = await statistics(id, name)
    assert.deepEqual([rows, count, sampled], [{ count: 1, isEstimate: false }, 1, false])
  }
  const { headers } = await app.call('GET', `${path}/${id}/query?count=estimated`, { key: own.public })
  assert.ok(Number(headers['x-total-count']) > 2_000_000)
})

describe('every type', () => {
  test('of numbers has statistics, as text where a double would lose digits', async () => {
    const i = await statistics(types, 'i')
    assert.deepEqual([i.min, i.max, i.nulls, i.distinct], ['9223372036854775804', '9223372036854775807', 1, 4])
    assert.equal(i.quantiles[5].value, '9223372036854775805')
    assert.equal(i.histogram.at(-1).to, '9223372036854775807')
    const f = await statistics(types, 'f', 'bins=2')
    assert.deepEqual([f.min, f.max, f.mean], [-1.7e308, 'NaN', 0])
    assert.deepEqual(f.histogram, [
      { from: -1.7e308, to: 0, count: 1 },
      { from: 0, to: 1.7e308, count: 2 },
    ])
    assert.deepEqual((await statistics(types, 'd')).quantiles[10], { p: 1, value: 4 })
  })

  test('of dates and times has a minimum, a maximum and a histogram', async () => {
    const day = await statistics(types, 'day', 'bins=4&quantiles=1')
    assert.deepEqual([day.min, day.max, day.mean], ['2026-01-01', '2026-01-04', null])
    assert.deepEqual(
      day.histogram,
      [1, 2, 3, 4].map((n) => ({ from: `2026-01-0${n}`, to: `2026-01-0${n + 1}`, count: 1 })),
    )
    const at = await statistics(types, 'at', 'bins=3&quantiles=2')
    assert.deepEqual(at.quantiles[1], { p: 0.5, value: '2026-01-01T01:00:00Z' })
    const threeHours = [
      { from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T03:00:00.000Z', count: 3 },
      { from: '2026-01-01T03:00:00.000Z', to: '2026-01-01T06:00:00.000Z', count: 1 },
    ]
    assert.deepEqual(at.histogram, threeHours)
    assert.deepEqual((await statistics(types, 'local', 'bins=3')).histogram, threeHours)
    const clock = await statistics(types, 'clock')
    assert.deepEqual([clock.min, clock.histogram, clock.quantiles[10].value], ['01:00:00', [], '04:00:00'])
  })

  test('of dates and times has bins of the interval that is asked for, and only these have one', async () => {
    const year = await statistics(types, 'day', 'interval=year')
    assert.deepEqual(year.histogram, [{ from: '2026-01-01', to: '2027-01-01', count: 4 }])
    assert.equal(
      (await statistics(types, 'at', 'interval=hour&filter[i][$gt]=9223372036854775805')).histogram.length,
      2,
    )
    const refused = await ask(types, 'i', 'interval=year')
    assert.equal(refused.status, 400)
    assert.match(refused.text, /query\/interval: is only for attributes of type date or datetime/)
  })

  test('of rows of a period is of these alone', async () => {
    const id = await create({ type: 'table', source: 'types', metadata: { time: 'at' } })
    const { count, min, max } = await statistics(id, 'day', 'time=2026-01-01T01/2026-01-01T02')
    assert.deepEqual([count, min, max], [2, '2026-01-02', '2026-01-03'])
  })

  test('of texts has its most frequent values, shortened but counted separately', async () => {
    const t = await statistics(types, 't')
    assert.deepEqual([t.distinct, t.quantiles, t.frequent.length], [4, [], 4])
    assert.deepEqual([t.min, t.frequent[0]], [`${'é'.repeat(200)}…`, { value: `${'é'.repeat(200)}…`, count: 1 }])
    assert.deepEqual((await statistics(types, 'span')).frequent, [{ value: '1 day', count: 4 }])
  })

  test('of booleans and UUIDs has the counts of its values', async () => {
    const b = await statistics(types, 'b')
    assert.deepEqual(b.frequent, [
      { value: false, count: 3 },
      { value: true, count: 1 },
    ])
    assert.deepEqual([b.min, (await statistics(types, 'u')).distinct], [null, 1])
  })

  test('without statistics of its own has the number of nulls', async () => {
    for (const name of ['j', 'a', 'bytes', 'geom']) {
      const { count, nulls, distinct, frequent, sampleSize } = await statistics(types, name)
      assert.deepEqual([count, nulls, distinct, frequent, sampleSize], [4, 1, null, [], 5], name)
    }
  })

  test('with nulls only has empty statistics', async () => {
    const { count, nulls, distinct, min, frequent } = await statistics(types, 'empty')
    assert.deepEqual([count, nulls, distinct, min, frequent], [0, 5, 0, null, []])
  })
})

test('web services and functions are described like tables', async () => {
  const lambda = await create({ type: 'lambda', source: 'places' })
  const rest = await create({ type: 'rest', source: `${service}/few` })
  for (const id of [rest, lambda]) {
    const { rows, mean, min, max, sampled } = await statistics(id, 'n')
    assert.deepEqual([rows, mean, min, max, sampled], [{ count: 4, isEstimate: false }, 1.5, 0, 3, false])
    assert.deepEqual((await statistics(id, 'kind')).frequent, [{ value: 'odd', count: 2 }])
    assert.equal((await statistics(id, 'n', 'filter[kind]=odd')).min, 1)
  }
  const many = await statistics(await create({ type: 'rest', source: `${service}/many` }), 'n')
  assert.deepEqual(
    [many.rows.count, many.min, many.max, many.sampled, many.sampleSize],
    [20_000, 0, 19_999, true, 10_000],
  )
  about(many.quantiles[5].value, 10_000, 1_000)
})

describe('an attribute', () => {
  test('that is not there is 404 and named with the nearest', async () => {
    const { status, body } = await ask(large, 'kindd')
    assert.deepEqual([status, body.code], [404, 'not_found'])
    assert.match(body.detail, /"kindd" is not an attribute\. Did you mean "kind"\?/)
    for (const name of ['count(*)', 'n as m', '__proto__', "n' OR '1'='1", 'a\nb', 'x'.repeat(5_000)]) {
      assert.equal((await ask(large, name)).status, 404, name)
    }
  })

  test('may have any name', async () => {
    const names = ['a/b', 'a"b', "a' --", 'count(*)', 'n as m', '%', 'ü', '$1', ':n', '.', ' ']
    const columns = names.map((name, index) => `${index} AS "${name.replaceAll('"', '""')}"`)
    await app.db.script(`CREATE TABLE ${schema}.odd AS SELECT ${columns.join(', ')};
      GRANT SELECT ON ${schema}.odd TO ${schema}`)
    const id = await create({ type: 'table', source: 'odd' })
    // "." alone is a segment that addresses do without.
    for (const [index, name] of names.entries()) {
      if (name !== '.') assert.equal((await statistics(id, name)).max, index, name)
    }
    const rest = await create({ type: 'rest', source: `${service}/few` })
    assert.equal((await statistics(rest, 'a/b "c"')).max, 3)
  })

  test('is described only to those who may query the dataset', async () => {
    const reader = await app.key(own.id, { datasets: { read: '*' } })
    assert.equal((await ask(large, 'n', '', reader)).status, 401)
    const other = await app.tenant('other')
    const [foreign, absent] = [await ask(large, 'n', '', other.developer), await ask(large, 'x', '', other.developer)]
    assert.deepEqual([foreign.status, absent.status, foreign.body.detail], [404, 404, absent.body.detail])
  })
})

test('statistics that take too long are stopped', async () => {
  const source =
    'SELECT a.n FROM generate_series(1, 100000) AS a(n), generate_series(1, 100000) AS b(m) WHERE a.n % 7 <> b.m % 7'
  const id = await create({ type: 'sql', source })
  const { status, body } = await ask(id, 'n', 'timeout=200')
  assert.deepEqual([status, body.code], [504, 'query_timeout'])
})
