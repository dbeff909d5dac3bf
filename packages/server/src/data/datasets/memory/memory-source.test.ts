import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { sql } from '../../../kernel/db/sql.ts'

// One database is enough: its rows are in memory.

// One server is both a web service and, at the path of AWS Lambda's Invoke API, a function.
const features = [
  { id: 'a', name: 'Aachen', pop: 250, at: [6.08, 50.77] },
  { id: 'b', name: 'Berlin', pop: 3700, at: [13.4, 52.52] },
  { id: 'c', name: null, pop: 1, at: null },
]
let upstream: Server
let url: string
let app: TestApp
let tenant: Tenant
let requests: IncomingMessage[] = []

before(async () => {
  upstream = createServer((request, response) => {
    requests.push(request)
    response.setHeader('content-type', 'application/json')
    if (request.url?.startsWith('/fails')) return response.writeHead(500).end('{"secret":"inside"}')
    if (request.url?.startsWith('/csv')) return response.setHeader('content-type', 'text/csv').end('id,n\na,1\nb,2\n')
    const [, answer] = Object.entries(answers).find(([start]) => request.url?.startsWith(start)) ?? []
    if (answer) return response.end(JSON.stringify(answer()))
    response.end(JSON.stringify({ data: { items: rows() }, asked: request.url }))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const credentials = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' }
  // The functions' own address is the platform's, so that tenants reach it only where it is named itself.
  const EGRESS_ALLOW = `127.0.0.1:*,${new URL(url).host}`
  app = await testApp({ LAMBDA_ENDPOINT: url, LAMBDA_FUNCTIONS: 'places', EGRESS_ALLOW, ...credentials })
  tenant = await app.tenant('services')
})
after(async () => {
  await app.close()
  upstream.close()
})

const many = () => Array.from({ length: 20_000 }, (_, n) => ({ n, name: String((n * 7919) % 20_011).padStart(6, '0') }))
const rows = () => features.map(({ id, name, pop }) => ({ id, name, pop }))
const places = () =>
  features.map(({ id, at }) => ({
    id,
    lat: at ? String(at[1]) : 'none',
    Lng: at?.[0] ?? null,
    place: { lat: at?.[1] },
  }))
const collection = () => ({
  type: 'FeatureCollection',
  features: features.map(({ id, name, pop, at }) => ({
    type: 'Feature',
    id,
    properties: { name, pop },
    geometry: at && { type: 'Point', coordinates: at },
  })),
})
const answers: Record<string, () => object> = {
  '/2015-03-31/functions/places/invocations': () => rows(),
  '/geojson': () => collection(),
  '/many': () => many(),
  '/places': () => places(),
  '/nested': () => ({ data: places() }),
  '/numbers': () => [
    { lat: 60.2, lon: 24.9 },
    { lat: 61, lon: null },
  ],
}
const path = '/api/v1/datasets'
const call: TestApp['call'] = (method, target, request = {}) =>
  app.call(method, target, { key: tenant.developer, ...request })
const create = (body: object) => call('POST', path, { body: { name: 'a', ...body } })
const query = async (id: string, text: string) => {
  const reply = await call('GET', `${path}/${id}/query?${text}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

describe('a web service', () => {
  test('is a dataset with the whole query syntax', async () => {
    const { body, status, text } = await create({ type: 'rest', source: `${url}/geojson` })
    assert.equal(status, 201, text)
    const types = Object.fromEntries(body.attributes.map(({ name, type }: Record<string, string>) => [name, type]))
    assert.deepEqual(types, { id: 'string', name: 'string', pop: 'integer', geometry: 'geometry' })
    assert.deepEqual(await query(body.id, 'attributes=id&filter[pop][$gte]=250&sort=-pop'), [{ id: 'b' }, { id: 'a' }])
    assert.deepEqual(await query(body.id, 'attributes=id&filter[geometry][$bbox]=5,50,7,52'), [{ id: 'a' }])
    const geojson = await query(body.id, 'format=geojson&attributes=name&sort=name&limit=1')
    assert.deepEqual(geojson.features[0].geometry, { type: 'Point', coordinates: [6.08, 50.77] })
    const grouped = await call('POST', `${path}/${body.id}/query`, {
      body: { attributes: ['sum(pop) as total', 'count(name)'] },
    })
    assert.deepEqual(grouped.body, [{ total: 3951, count_name: 2 }])
  })

  test('answers in other reference systems in json and csv, where the database knows them', async () => {
    const { body } = await create({ type: 'rest', source: `${url}/geojson` })
    const [row] = await query(body.id, 'attributes=geometry&filter[id]=a&srid=25832')
    const [x, y] = row.geometry.coordinates
    const [place] = await app.db.query<{ x: number; y: number }>(sql`
      SELECT ST_X(g) AS x, ST_Y(g) AS y FROM ST_Transform(ST_SetSRID(ST_Point(6.08, 50.77), 4326), 25832) AS g`)
    assert.ok(Math.hypot(x - (place?.x ?? 0), y - (place?.y ?? 0)) < 0.01, `${x} ${y}`)
    const csv = await call('GET', `${path}/${body.id}/query?attributes=geometry&filter[id]=a&srid=25832&format=csv`)
    assert.equal(csv.text, `geometry\r\nPOINT(${x} ${y})\r\n`)
    const unknown = await call('GET', `${path}/${body.id}/query?srid=999998`)
    assert.equal(unknown.status, 400)
    assert.match(unknown.text, /query\/srid: .*not 999998/)
  })

  test('is searched by what is within a shape and near one', async () => {
    const { body } = await create({ type: 'rest', source: `${url}/geojson` })
    const ids = async (filter: object) => {
      const found = await query(body.id, `attributes=id&filter=${encodeURIComponent(JSON.stringify(filter))}`)
      return found.map(({ id }: { id: string }) => id)
    }
    const corners = ['6,47', '15,47', '15,55', '6,47'].map((text) => text.split(',').map(Number))
    const germany = { type: 'Polygon', coordinates: [corners] }
    assert.deepEqual(await ids({ geometry: { $within: germany } }), ['b'])
    assert.deepEqual(await ids({ geometry: { $dwithin: { point: [6, 50.7], distance: 20_000 } } }), ['a'])
    assert.deepEqual(await ids({ geometry: { $dwithin: { geometry: germany, distance: 1_000_000 } } }), ['a', 'b'])
  })

  test('with many rows is queried beside the event loop, and its answer flows', async () => {
    const { body, status, text } = await create({ type: 'rest', source: `${url}/many` })
    assert.equal(status, 201, text)
    let turns = 0
    let isDone = false
    const counting = (async () => {
      for (; !isDone; turns++) await setImmediate()
    })()
    const found = await query(body.id, 'sort=-name&filter[n][$lt]=19000')
    isDone = true
    await counting
    assert.ok(turns > 50, String(turns))
    const expected = many().filter(({ n }) => n < 19_000)
    assert.deepEqual(
      found,
      expected.sort((a, b) => (a.name < b.name ? 1 : -1)),
    )
    const late = await call('GET', `${path}/${body.id}/query?sort=name&timeout=1`)
    assert.ok(late.status === 504 || late.status === 502, late.text)
  })

  test('takes a path to the rows, parameters in its address, and secret headers', async () => {
    const made = await create({
      type: 'rest',
      source: `${url}/items?kind={kind}`,
      secrets: { headers: { 'x-token': 'CANARY-TOKEN' } },
      metadata: { rest: { path: 'data.items' }, parameters: [{ name: 'kind', type: 'string', default: 'all' }] },
    })
    assert.equal(made.status, 201, made.text)
    requests = []
    assert.equal((await query(made.body.id, `kind=${encodeURIComponent('a&b=/../c')}`)).length, 3)
    assert.equal(requests[0]?.url, '/items?kind=a%26b%3D%2F..%2Fc')
    assert.equal(requests[0]?.headers['x-token'], 'CANARY-TOKEN')
    for (const reply of [made, await call('GET', `${path}/${made.body.id}`), await call('GET', path)]) {
      assert.ok(!reply.text.includes('CANARY-TOKEN'))
    }
  })

  test('keeps its secret headers to the origin they were given for', async () => {
    const secrets = { headers: { 'x-token': 'CANARY-TOKEN' } }
    const made = await create({ type: 'rest', source: `${url}/csv`, secrets })
    const record = `${path}/${made.body.id}`
    const elsewhere = url.replace('127.0.0.1', 'localhost')
    const change = async (method: string, body: object) => (await call(method, record, { body })).status
    requests = []
    for (const method of ['PATCH', 'PUT']) {
      assert.equal(await change(method, { source: `${elsewhere}/csv` }), 400, method)
      assert.equal(await change(method, { type: 'sql', source: 'SELECT 1 AS one' }), 200, method)
      assert.equal(await change(method, { type: 'rest', source: `${elsewhere}/csv` }), 400, method)
      assert.equal(await change(method, { type: 'rest', source: `${url}/csv`, secrets }), 200, method)
      requests = []
      assert.equal(await change(method, { name: 'b', source: `${url}/csv?x=1` }), 200, method)
      assert.equal(requests[0]?.headers['x-token'], 'CANARY-TOKEN', 'also when the source is looked at anew')
    }
    assert.equal(await change('PATCH', { source: `${elsewhere}/csv`, secrets: null }), 200)
    requests = []
    await query(made.body.id, '')
    assert.deepEqual(
      [requests[0]?.headers.host?.split(':')[0], requests[0]?.headers['x-token']],
      ['localhost', undefined],
    )
  })

  test('may answer CSV', async () => {
    const { body } = await create({ type: 'rest', source: `${url}/csv` })
    assert.deepEqual(await query(body.id, 'filter[n]=2'), [{ id: 'b', n: 2 }])
  })

  test('whose rows have latitude and longitude has points by metadata.rest.point', async () => {
    const source = `${url}/places`
    const point = { lat: 'lat', lon: 'Lng' }
    const made = await create({ type: 'rest', source, metadata: { rest: { point } } })
    assert.equal(made.status, 201, made.text)
    const geometry = made.body.attributes.find(({ name }: { name: string }) => name === 'geometry')
    assert.deepEqual(
      [geometry.type, geometry.geometryType, geometry.srid, geometry.dimension],
      ['geometry', 'Point', 4326, 2],
    )
    assert.deepEqual(await query(made.body.id, 'attributes=id&filter[geometry][$bbox]=5,50,7,52'), [{ id: 'a' }])
    const { features } = await query(made.body.id, 'format=geojson&sort=id')
    assert.deepEqual(features[0].geometry, { type: 'Point', coordinates: [6.08, 50.77] })
    assert.equal(features[2].geometry, null, 'what is no position is no point')
    const tile = await call('GET', `/tiles/${made.body.id}/0/0/0.geojson`)
    assert.equal(tile.status, 200, tile.text)
    assert.ok(tile.body.features.length > 0)
    const dotted = await create({
      type: 'rest',
      source,
      metadata: { rest: { point: { lat: 'place.lat', lon: 'Lng' } } },
    })
    assert.equal(dotted.status, 201, dotted.text)
    assert.deepEqual(await query(dotted.body.id, 'attributes=id&filter[geometry][$bbox]=5,50,7,52'), [{ id: 'a' }])
  })

  test('with wrong settings is told which, and what is allowed', async () => {
    for (const [rest, pattern] of [
      ['data', /^body\/metadata\/rest: must be an object/],
      [{ paht: 'data' }, /^body\/metadata\/rest\/paht: .*Did you mean "path"\?/],
      [{ path: 5 }, /^body\/metadata\/rest\/path: must be text/],
      [{ point: ['lat', 'lon'] }, /^body\/metadata\/rest\/point: must be an object such as/],
      [{ point: { lat: 'lat' } }, /^body\/metadata\/rest\/point\/lon: must be the name of a field/],
      [{ point: { lat: 'lat', lng: 'Lng' } }, /^body\/metadata\/rest\/point\/lng: .*Allowed: lat, lon/],
      [
        { point: { lat: 'lat', lon: 'lng ' } },
        /^body\/metadata\/rest\/point\/lon: .*Did you mean "Lng"\? Allowed: id, lat, Lng, place/,
      ],
    ] as const) {
      const reply = await create({ type: 'rest', source: `${url}/places`, metadata: { rest } })
      assert.equal(reply.status, 400, reply.text)
      assert.match(reply.body.detail, pattern)
    }
    const point = { lat: 'lat', lon: 'lon' }
    const twice = await create({ type: 'rest', source: `${url}/geojson`, metadata: { rest: { point } } })
    assert.match(twice.body.detail, /have a field called geometry already/)
  })

  test('is told where the rows probably are, and which fields are probably a point', async () => {
    const described = async (source: string, rest?: object) => {
      const { body } = await create({ type: 'rest', source: `${url}${source}`, metadata: { ...(rest && { rest }) } })
      const hints = body.attributes.filter(({ description }: { description: string }) => description !== '')
      return Object.fromEntries(hints.map((one: { name: string; description: string }) => [one.name, one.description]))
    }
    const rows = 'Looks like the rows. metadata.rest.path "data.items" makes each of its items a row.'
    assert.deepEqual(await described('/items'), { data: rows })
    assert.deepEqual(await described('/items', { path: 'data.items' }), {})
    assert.match((await described('/nested')).data ?? '', /metadata\.rest\.path "data"/)
    const coordinate =
      'Looks like a coordinate. metadata.rest.point {"lat":"lat","lon":"lon"} makes a point of each row.'
    assert.deepEqual(await described('/numbers'), { lat: coordinate, lon: coordinate })
    assert.deepEqual(await described('/numbers', { point: { lat: 'lat', lon: 'lon' } }), {})
    assert.deepEqual(await described('/geojson'), {})
  })

  test('that fails, is not there or may not be reached is 400 when stored, 502 when asked, and tells nothing', async () => {
    for (const source of [
      `${url}/fails`,
      'http://127.0.0.1:1/',
      'http://169.254.169.254/latest/meta-data/',
      'ftp://a/b',
    ]) {
      const reply = await create({ type: 'rest', source })
      assert.equal(reply.status, 400, source)
      assert.doesNotMatch(reply.text, /inside|ECONN/)
      assert.equal(reply.body.errors[0]?.path, 'body/source')
    }
  })
})

describe('a function', () => {
  test('is invoked with a signature and the parameters', async () => {
    const made = await create({
      type: 'lambda',
      source: 'places',
      metadata: { parameters: [{ name: 'kind', default: 'all' }] },
    })
    assert.equal(made.status, 201, made.text)
    requests = []
    assert.deepEqual(await query(made.body.id, 'attributes=name,pop&sort=pop&offset=1&kind=x'), [
      { name: 'Aachen', pop: 250 },
      { name: 'Berlin', pop: 3700 },
    ])
    assert.match(String(requests[0]?.headers.authorization), /^AWS4-HMAC-SHA256 Credential=key\//)
  })

  test('is refused where the installation has no credentials', async () => {
    const bare = await testApp()
    const reply = await bare.call('POST', path, { body: { name: 'a', type: 'lambda', source: 'places' } })
    assert.equal(reply.status, 400)
    await bare.close()
  })
})
