import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type TileApp, tileApp } from '../../../../testing/tiles.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { tileSourceTypeNames } from './tile-source-types.ts'

let maps: TileApp
let places: string
before(async () => {
  maps = await tileApp()
  await maps.script(`
    CREATE TABLE places (id int PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO places VALUES (1, ST_Point(6, 50, 4326)), (2, ST_Point(13, 52, 4326));
    CREATE TABLE bare (id int PRIMARY KEY, name text);
    CREATE TABLE empty (id int PRIMARY KEY, geom geometry(Point, 4326))`)
  places = await maps.dataset({ source: 'places' })
})
after(() => maps.close())

const path = '/api/v1/tilesources'
const call = (method: string, address: string, body?: unknown, headers: Record<string, string> = {}) =>
  maps.app.call(method, address, { key: maps.tenant.developer, body, headers })
const create = (body: object) => call('POST', path, body)

test('a tile source of a type that only a later version knows is told so', async () => {
  const { body: made } = await create({ type: 'dataset', source: places })
  await maps.app.db.query(sql`UPDATE svc.tilesources SET type = 'cube' WHERE id = ${made.id}::uuid`)
  const { status, body } = await call('GET', `/tiles/${made.id}/index.json`)
  assert.equal(status, 503)
  assert.equal(body.message, 'This server does not know tile sources of type cube.')
  assert.equal((await call('GET', `${path}/${made.id}`)).body.type, 'cube')
  assert.equal((await create({ type: 'cube', source: places })).status, 400)
  assert.deepEqual((await call('GET', `${path}/drivers`)).body, tileSourceTypeNames)
})

describe('a tile source of a dataset', () => {
  test('is found out: extent with a little air around it, zooms, nothing said', async () => {
    const { status, body } = await create({ type: 'dataset', source: places })
    assert.equal(status, 201)
    assert.deepEqual(body.headers, {})
    assert.equal(body.attribution, '')
    assert.equal(body.minZoom, 0)
    assert.equal(body.maxZoom, 14)
    const [west, south, east, north] = body.extentLngLat
    assert.ok(west < 6 && west > 5.99 && south < 50 && south > 49.99)
    assert.ok(east > 13 && east < 13.01 && north > 52 && north < 52.01)
  })

  test('of an empty table is everywhere', async () => {
    const { body } = await create({ type: 'dataset', source: await maps.dataset({ source: 'empty' }) })
    assert.deepEqual(body.extentLngLat, [-180, -85.0511287798066, 180, 85.0511287798066])
  })

  test('keeps what is said of it', async () => {
    const said = {
      minZoom: 3,
      maxZoom: 9,
      extentLngLat: [0, 0, 10, 60],
      headers: { 'Cache-Control': 'public, max-age=60' },
      metadata: { a: 1 },
    }
    const { body } = await create({ type: 'dataset', source: places, attribution: 'us', ...said })
    const { body: read } = await call('GET', `${path}/${body.id}`)
    assert.deepEqual({ ...read, ...said }, read)
    assert.equal(read.attribution, 'us')
  })

  test('is credited as its dataset unless it says otherwise', async () => {
    const credited = await maps.dataset({ source: 'places', metadata: { attribution: '<b>The</b> survey' } })
    assert.equal((await create({ type: 'dataset', source: credited })).body.attribution, 'The survey')
    assert.equal((await create({ type: 'dataset', source: credited, attribution: 'us' })).body.attribution, 'us')
  })

  test('can be listed, filtered, replaced, patched and deleted, each under If-Match', async () => {
    const { body, headers } = await create({ type: 'dataset', source: places, maxZoom: 7 })
    const address = `${path}/${body.id}`
    const list = await call('GET', `${path}?filter[maxZoom]=7&fields=id`)
    assert.deepEqual(list.body, [{ id: body.id }])
    const stale = { 'if-match': String(headers.etag) }
    assert.equal((await call('PATCH', address, { maxZoom: 8 }, stale)).status, 200)
    assert.equal((await call('PATCH', address, { maxZoom: 9 }, stale)).status, 412)
    assert.equal((await call('PUT', address, { maxZoom: 9 }, stale)).status, 412)
    const { body: replaced } = await call('PUT', address, { minZoom: 2 })
    assert.equal(replaced.minZoom, 2)
    assert.equal(replaced.source, places)
    assert.equal((await call('DELETE', address, undefined, stale)).status, 412)
    assert.equal((await call('DELETE', address)).status, 200)
    assert.equal((await call('GET', address)).status, 404)
  })

  test('keeps on PUT what is not said again', async () => {
    const said = { maxZoom: 7, attribution: 'us', extentLngLat: [0, 0, 1, 1], headers: { 'cache-control': 'no-cache' } }
    const { body } = await create({ type: 'dataset', source: places, name: 'Places', ...said })
    const { body: replaced } = await call('PUT', `${path}/${body.id}`, { type: 'dataset', source: places })
    assert.deepEqual({ ...replaced, ...said }, replaced)
    assert.equal(replaced.name, '', 'a name is optional')
  })

  test('finds out anew what is not said when it gets another source', async () => {
    const { body } = await create({ type: 'dataset', source: places, maxZoom: 7, extentLngLat: [0, 0, 1, 1] })
    const other = await maps.dataset({ source: 'empty' })
    const { body: moved } = await call('PUT', `${path}/${body.id}`, { type: 'dataset', source: other })
    assert.deepEqual([moved.maxZoom, moved.extentLngLat[0]], [14, -180])
  })

  test('is called in TileJSON as it says, else as its dataset', async () => {
    const nameOf = async (id: string) => (await call('GET', `/tiles/${id}/index.json`)).body.name
    const { body } = await create({ type: 'dataset', source: places })
    assert.equal(await nameOf(body.id), (await call('GET', `/api/v1/datasets/${places}`)).body.name)
    await call('PATCH', `${path}/${body.id}`, { name: 'Where people live' })
    assert.equal(await nameOf(body.id), 'Where people live')
  })

  test('keeps on PATCH what is not said, and clears the attribution when told so', async () => {
    const { body } = await create({
      type: 'dataset',
      source: places,
      maxZoom: 7,
      attribution: 'us',
      extentLngLat: [0, 0, 1, 1],
    })
    const { body: patched } = await call('PATCH', `${path}/${body.id}`, { minZoom: 1 })
    assert.deepEqual(
      [patched.minZoom, patched.maxZoom, patched.attribution, patched.extentLngLat],
      [1, 7, 'us', [0, 0, 1, 1]],
    )
    assert.equal((await call('PATCH', `${path}/${body.id}`, { attribution: '' })).body.attribution, '')
  })

  test('has metadata like everything else', async () => {
    const { body } = await create({ type: 'dataset', source: places })
    assert.equal((await call('PUT', `${path}/${body.id}/metadata/colour`, 'red')).status, 200)
    assert.equal((await call('GET', `${path}/${body.id}/metadata/colour`)).body, 'red')
  })

  test('is refused with limits that contradict one another', async () => {
    const refused = [
      { minZoom: 5, maxZoom: 4 },
      { maxZoom: 25 },
      { minZoom: -1 },
      { minZoom: 1.5 },
      { extentLngLat: [0, 0, 1] },
      { extentLngLat: [10, 0, 0, 10] },
      { extentLngLat: [0, 50, 1, 40] },
      { extentLngLat: [0, 0, 1, 91] },
      { headers: 'x' },
      { headers: { 'x-a': 1 } },
      { metadata: { tiles: { maxFeatures: 0 } } },
      { metadata: { tiles: { nonsense: 1 } } },
      { source: '' },
      { source: 'no uuid' },
      { source: '00000000-0000-4000-8000-000000000000' },
      { type: 'wms' },
    ]
    for (const body of refused) {
      const reply = await create({ type: 'dataset', source: places, ...body })
      assert.equal(reply.status, 400, JSON.stringify(body))
    }
  })

  test('is refused for a dataset without geometry', async () => {
    const reply = await create({ type: 'dataset', source: await maps.dataset({ source: 'bare' }) })
    assert.equal(reply.status, 400)
    assert.match(reply.body.detail, /no geometry/)
  })

  test("is refused for another tenant's dataset and for one outside of the ACL exactly as for an absent one", async () => {
    const absent = await create({ type: 'dataset', source: '00000000-0000-4000-8000-000000000000' })
    const stranger = await maps.app.tenant('stranger')
    const limited = await maps.app.key(maps.tenant.id, { tiles: { '*': '*' }, datasets: { execute: [places] } })
    const other = await maps.dataset({ source: 'places' })
    const blind = await maps.app.key(maps.tenant.id, { tiles: { '*': '*' } })
    for (const [key, source] of [
      [stranger.developer, places],
      [limited, other],
      [blind, places],
    ]) {
      const reply = await maps.app.call('POST', path, { key: key ?? '', body: { type: 'dataset', source } })
      assert.equal(reply.status, 400)
      assert.deepEqual(reply.body.errors, absent.body.errors)
    }
    const allowed = await maps.app.call('POST', path, { key: limited, body: { type: 'dataset', source: places } })
    assert.equal(allowed.status, 201)
    const moved = await maps.app.call('PATCH', `${path}/${allowed.body.id}`, { key: limited, body: { source: other } })
    assert.equal(moved.status, 400)
  })

  test('answers 404 once its dataset is deleted', async () => {
    const dataset = await maps.dataset({ source: 'places' })
    const id = await maps.tileSource({ source: dataset })
    assert.equal((await maps.get(`/tiles/${id}/0/0/0.mvt`)).statusCode, 200)
    await call('DELETE', `/api/v1/datasets/${dataset}`)
    for (const rest of ['0/0/0.mvt', 'index.json', 'style.json'])
      assert.equal((await maps.get(`/tiles/${id}/${rest}`)).statusCode, 404, rest)
  })

  test('can be of two kinds', async () => {
    const reply = await call('GET', `${path}/drivers`)
    assert.deepEqual(reply.body, tileSourceTypeNames)
  })
})

describe('headers of a tile source', () => {
  test('that could change what an answer is, or split it, are refused', async () => {
    const names = [
      'set-cookie',
      'Content-Type',
      'content-encoding',
      'Content-Length',
      'transfer-encoding',
      'location',
      'etag',
      'vary',
      'access-control-allow-origin',
      'content-security-policy',
      'connection',
      'x-content-type-options',
      'x-api-key',
      'x-tile-features',
      'X-Request-Id',
      'x-frame-options',
      'x-accel-redirect',
      'x bad',
      'x-a:',
      'x-ä',
      '',
    ]
    for (const name of names) {
      const reply = await create({ type: 'dataset', source: places, headers: { [name]: 'a' } })
      assert.equal(reply.status, 400, name)
    }
    for (const value of ['a\r\nSet-Cookie: b=1', 'a\nb', 'a\0', 'ä', 'x'.repeat(1001)]) {
      const reply = await create({ type: 'dataset', source: places, headers: { 'x-a': value } })
      assert.equal(reply.status, 400, JSON.stringify(value))
    }
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, 'a']))
    assert.equal((await create({ type: 'dataset', source: places, headers: many })).status, 400)
  })

  test('are sent with each tile, whatever their case', async () => {
    const headers = { 'Cache-Control': 'public, max-age=60', 'X-Custom': 'a', 'surrogate-key': 'k' }
    const id = await maps.tileSource({ source: places, headers })
    const reply = await maps.get(`/tiles/${id}/0/0/0.mvt`)
    assert.equal(reply.headers['cache-control'], 'public, max-age=60')
    assert.equal(reply.headers['x-custom'], 'a')
    assert.equal(reply.headers['surrogate-key'], 'k')
  })
})
