import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type TileApp, tileApp } from '../../../../testing/tiles.ts'

// One database is enough: the ACL decides before the database is asked.

let maps: TileApp
let places: string
before(async () => {
  maps = await tileApp()
  await maps.script('CREATE TABLE places (id int PRIMARY KEY, geom geometry(Point, 4326))')
  places = await maps.dataset({ source: 'places' })
})
after(() => maps.close())

const path = '/api/v1/tilesources'
const complete = { minZoom: 0, maxZoom: 5, extentLngLat: [0, 0, 1, 1], attribution: 'us' }
const call = (method: string, address: string, body?: unknown, key = maps.tenant.developer) =>
  maps.app.call(method, address, { key, body })

/** What every way of writing answers, without the id of the request. */
async function writes(source: Record<string, unknown>, key?: string) {
  const { body: record } = await call('POST', path, { type: 'dataset', source: places, ...complete })
  const address = `${path}/${record.id}`
  const replies = [
    await call('POST', path, { ...source, ...complete }, key),
    await call('PUT', address, { ...source, ...complete }, key),
    await call('PATCH', address, source, key),
  ]
  return replies.map(({ status, body }) => ({ status, detail: body.detail, errors: body.errors }))
}

test('a dataset of another tenant, an absent one, one beyond the key and text that is no id are the same 400', async () => {
  const other = await maps.app.tenant('other')
  const foreign = await maps.app.call('POST', '/api/v1/datasets', {
    key: other.developer,
    body: { type: 'sql', name: 'a', source: 'SELECT 1 AS id, ST_Point(1, 1, 4326) AS geom' },
  })
  assert.equal(foreign.status, 201, foreign.text)
  const limited = await maps.app.key(maps.tenant.id, { tiles: { '*': '*' }, datasets: { execute: [randomUUID()] } })
  const expected = await writes({ type: 'dataset', source: randomUUID() })
  for (const { status, errors } of expected) {
    assert.equal(status, 400)
    assert.equal(errors[0].path, 'body/source')
  }
  assert.deepEqual(await writes({ type: 'dataset', source: foreign.body.id }), expected)
  assert.deepEqual(await writes({ type: 'dataset', source: 'places' }), expected)
  const beyond = await maps.dataset({ source: 'places' })
  assert.deepEqual(await writes({ type: 'dataset', source: beyond }, limited), expected)
})

test('a source that stays needs no right on its dataset, unless something is to be detected of it', async () => {
  const limited = await maps.app.key(maps.tenant.id, { tiles: { '*': '*' }, datasets: { execute: [] } })
  const { body } = await call('POST', path, { type: 'dataset', source: places, ...complete })
  const change = (method: string, changes: object) => call(method, `${path}/${body.id}`, changes, limited)
  assert.equal((await change('PATCH', { maxZoom: 4 })).status, 200)
  assert.equal((await change('PATCH', { name: 'renamed', source: places, type: 'dataset' })).status, 200)
  assert.equal((await change('PUT', { name: 'renamed', source: places, type: 'dataset' })).status, 200)
  assert.equal((await change('PATCH', { extentLngLat: null })).status, 400)
})

test('a key for one tile source may change it, but not what it leads to', async () => {
  const { body } = await call('POST', path, { type: 'dataset', source: places, ...complete })
  const address = `${path}/${body.id}`
  const beyond = await maps.dataset({ source: 'places' })
  const one = await maps.app.key(maps.tenant.id, { tiles: { '*': [body.id] }, datasets: { execute: '*' } })
  assert.equal((await call('PATCH', address, { maxZoom: 4, source: places.toUpperCase() }, one)).status, 200)
  for (const method of ['PATCH', 'PUT'])
    for (const changes of [{ source: beyond }, { type: 'tilelive', source: 'mbtiles://a.mbtiles' }]) {
      const reply = await call(method, address, { ...complete, ...changes }, one)
      assert.deepEqual([reply.status, /needs what creating/.test(reply.body.detail)], [401, true])
    }
  assert.equal((await call('PATCH', address, { source: beyond })).status, 200)
})

test('an archive whose address has an unknown form is refused, whatever else is given', async () => {
  for (const source of [
    'ftp://x.example/a.mbtiles',
    'a.mbtiles',
    'mbtiles://../a.mbtiles',
    'https://x.example/a.png',
  ]) {
    for (const { status } of await writes({ type: 'tilelive', source })) assert.equal(status, 400, source)
  }
})

test('an archive that is no file of the application is refused, whatever else is given', async () => {
  for (const { status, errors } of await writes({ type: 'tilelive', source: 'mbtiles://absent.mbtiles' })) {
    assert.deepEqual([status, errors[0].path], [400, 'body/source'])
  }
})

test('a remote archive that cannot be reached is taken only with zooms and extent, and is 502 when it is used', async () => {
  // Nothing listens on port 1.
  const source = { type: 'tilelive', source: 'pmtiles://http://127.0.0.1:1/world.pmtiles' }
  const { attribution: _, ...needed } = complete
  for (const missing of Object.keys(needed)) {
    const { [missing]: __, ...rest } = needed as Record<string, unknown>
    assert.equal((await call('POST', path, { ...source, ...rest })).status, 502, missing)
  }
  const { status, body } = await call('POST', path, { ...source, ...needed })
  assert.equal(status, 201, JSON.stringify(body))
  assert.equal(body.attribution, '')
  assert.equal((await call('GET', `/tiles/${body.id}/index.json`)).status, 502)
  assert.equal((await call('GET', `/tiles/${body.id}/0/0/0.pbf`)).status, 502)
})
