import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type TileApp, tileApp } from '../../../testing/tiles.ts'

// One database is enough: the ACL decides before the database is asked.

let maps: TileApp
let dataset: string
let source: string
let style: string
const absent = '00000000-0000-4000-8000-000000000000'
before(async () => {
  maps = await tileApp()
  await maps.script(`
    CREATE TABLE places (id int PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO places VALUES (1, ST_Point(6, 50, 4326))`)
  dataset = await maps.dataset({ source: 'places' })
  source = await maps.tileSource({ source: dataset })
  const body = { name: 'a', style: { version: 8, sources: {}, layers: [] } }
  style = (await maps.app.call('POST', '/api/v1/styles', { key: maps.tenant.developer, body })).body.id
})
after(() => maps.close())

const pathsOf = (id: string) => [
  `/tiles/${id}/0/0/0.mvt`,
  `/tiles/${id}/0/0/0.geojson`,
  `/tiles/${id}/index.json`,
  `/tiles/${id}/style.json`,
]
const statuses = async (id: string, key: string | null) =>
  Promise.all(pathsOf(id).map(async (path) => (await maps.get(path, {}, key)).statusCode))
const all = (status: number) => pathsOf('').map(() => status)

describe('tiles of one application', () => {
  test("answer another's keys like absent ones", async () => {
    const stranger = await maps.app.tenant('stranger')
    assert.deepEqual(await statuses(source, maps.tenant.developer), all(200))
    for (const id of [source, dataset]) {
      assert.deepEqual(await statuses(id, stranger.developer), all(404))
      for (const path of pathsOf(id)) {
        const here = (await maps.get(path, {}, stranger.developer)).json()
        const nowhere = (await maps.get(path.replace(id, absent), {}, stranger.developer)).json()
        assert.equal(here.detail, nowhere.detail)
      }
    }
    const read = (key: string, id: string) => maps.app.call('GET', `/api/v1/tilesources/${id}`, { key })
    assert.equal((await read(stranger.developer, source)).status, 404)
    assert.equal((await maps.get(`/maps/${style}.json`, {}, stranger.developer)).statusCode, 404)
    assert.equal((await maps.get(`/maps/${style}.json`)).statusCode, 200)
  })

  test('need a key', async () => {
    for (const key of [null, 'nonsense', absent]) {
      assert.deepEqual(await statuses(source, key), all(401))
      assert.equal((await maps.get(`/maps/${style}.json`, {}, key)).statusCode, 401)
    }
  })

  test('need execute on tiles, on this very one where ids are listed', async () => {
    const key = (permissions: Parameters<typeof maps.app.key>[1]) => maps.app.key(maps.tenant.id, permissions)
    assert.deepEqual(await statuses(source, await key({ tiles: { execute: '*' } })), all(200))
    assert.deepEqual(await statuses(source, await key({ tiles: { execute: [source] } })), all(200))
    assert.deepEqual(await statuses(source, await key({ tiles: { execute: [absent] } })), all(401))
    assert.deepEqual(await statuses(source, await key({ tiles: { read: '*', write: '*' } })), all(401))
    assert.deepEqual(await statuses(source, await key({ datasets: { '*': '*' } })), all(401))
    assert.deepEqual(await statuses(absent, await key({ tiles: { execute: [source] } })), all(401))
  })

  test('of a dataset itself need execute on tiles and on the dataset', async () => {
    const key = (permissions: Parameters<typeof maps.app.key>[1]) => maps.app.key(maps.tenant.id, permissions)
    const both = { tiles: { execute: [dataset] }, datasets: { execute: [dataset] } }
    assert.deepEqual(await statuses(dataset, await key(both)), all(200))
    assert.deepEqual(await statuses(dataset, await key({ tiles: { execute: '*' } })), all(404))
    assert.deepEqual(await statuses(dataset, await key({ ...both, datasets: { execute: [absent] } })), all(404))
    assert.deepEqual(await statuses(dataset, await key({ ...both, datasets: { read: '*' } })), all(404))
    assert.deepEqual(await statuses(dataset, await key({ ...both, tiles: { execute: [source] } })), all(401))
  })

  test('of a dataset without geometry are 400', async () => {
    await maps.script('CREATE TABLE bare (id int PRIMARY KEY)')
    const bare = await maps.dataset({ source: 'bare' })
    assert.deepEqual(await statuses(bare, maps.tenant.developer), all(400))
  })
})

describe('a key that is revoked', () => {
  test('gets 401 for a tile that is cached, and for one that has not changed', async () => {
    const { body } = await maps.app.call('POST', '/api/v1/apikeys', {
      body: { type: 'app', permissions: { tiles: { execute: '*' } }, applicationId: maps.tenant.id },
    })
    const path = `/tiles/${source}/0/0/0.mvt`
    const { headers } = await maps.get(path, {}, body.id)
    const condition = { 'if-none-match': String(headers.etag) }
    assert.equal((await maps.get(path, condition, body.id)).statusCode, 304)
    assert.equal((await maps.app.call('DELETE', `/api/v1/apikeys/${body.id}`)).status, 200)
    assert.equal((await maps.get(path, {}, body.id)).statusCode, 401)
    assert.equal((await maps.get(path, condition, body.id)).statusCode, 401)
    assert.equal((await maps.get(path, { 'if-none-match': '*' }, body.id)).statusCode, 401)
  })

  test('is not remembered by the tile for the next one: each key is asked for its own ACL', async () => {
    const path = `/tiles/${source}/0/0/0.mvt`
    assert.equal((await maps.get(path)).statusCode, 200)
    const weak = await maps.app.key(maps.tenant.id, { tiles: { execute: [absent] } })
    assert.equal((await maps.get(path, {}, weak)).statusCode, 401)
  })
})

describe('a master key', () => {
  test("reaches every application's tiles, and with x-application-id only those", async () => {
    const path = `/tiles/${source}/0/0/0.mvt`
    assert.equal((await maps.get(path, {}, maps.app.master)).statusCode, 200)
    const other = await maps.app.tenant('another')
    assert.equal((await maps.get(path, { 'x-application-id': other.id }, maps.app.master)).statusCode, 404)
    assert.equal((await maps.get(path, { 'x-application-id': maps.tenant.id }, maps.app.master)).statusCode, 200)
  })
})
