import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { TileType } from 'pmtiles'
import { pmtilesOf, pyramid } from '../../../../testing/tile-archives.ts'
import { type TileApp, tileApp, valuesOf } from '../../../../testing/tiles.ts'
import { until } from '../../../../testing/until.ts'

// One database is enough: contract.test.ts describes tile sources of both; this is about what TileJSON says.

let maps: TileApp
const ids = new Map<string, string>()
before(async () => {
  maps = await tileApp({ BASE_URL: 'https://maps.example.org/' })
  for (const [kind, value] of [
    ['point', 'ST_Point(10, 50, 4326)'],
    ['linestring', "'SRID=4326;LINESTRING(0 0, 10 10)'"],
    ['polygon', 'ST_MakeEnvelope(0, 0, 10, 20, 4326)'],
  ]) {
    await maps.script(`
      CREATE TABLE ${kind}s (id int PRIMARY KEY, name text, open bool, bytes bytea, geom geometry(${kind}, 4326));
      INSERT INTO ${kind}s VALUES (1, 'a', true, NULL, ${value})`)
    ids.set(`${kind}`, await maps.dataset({ source: `${kind}s`, name: `My ${kind}` }))
  }
  const files = join(maps.directory, 'files', maps.tenant.id)
  await mkdir(files, { recursive: true })
  await writeFile(join(files, 'images.pmtiles'), pmtilesOf(pyramid(2), { type: TileType.Png }))
  ids.set('raster', await maps.tileSource({ type: 'tilelive', source: 'pmtiles://images.pmtiles' }))
})
after(() => maps.close())

const described = async (kind: string, query = '', key?: string | null) =>
  (await maps.get(`/tiles/${ids.get(kind)}/index.json${query}`, {}, key)).json()

/** What TileJSON 3.0.0 says of each field. */
function checkTileJson(json: Record<string, unknown>): void {
  assert.equal(json.tilejson, '3.0.0')
  const tiles = json.tiles as string[]
  assert.ok(tiles.length > 0 && tiles.every((url) => /^https:\/\/.*\{z\}.*\{x\}.*\{y\}/.test(url)), String(tiles))
  const [minzoom, maxzoom] = [Number(json.minzoom), Number(json.maxzoom)]
  assert.ok(minzoom >= 0 && maxzoom <= 30 && minzoom <= maxzoom)
  const [west = 0, south = 0, east = 0, north = 0] = json.bounds as number[]
  assert.ok(west >= -180 && east <= 180 && west < east && south >= -90 && north <= 90 && south < north)
  const [lon = 0, lat = 0, zoom = -1] = json.center as number[]
  assert.ok(lon >= west && lon <= east && lat >= south && lat <= north && zoom >= minzoom && zoom <= maxzoom)
  assert.match(String(json.version), /^\d+\.\d+\.\d+$/)
  assert.equal(json.scheme, 'xyz')
  for (const layer of (json.vector_layers ?? []) as { id: unknown; fields: unknown }[]) {
    assert.equal(typeof layer.id, 'string')
    assert.equal(typeof layer.fields, 'object')
  }
}

describe('the description of a tile source', () => {
  for (const kind of ['point', 'linestring', 'polygon', 'raster']) {
    test(`is TileJSON 3.0.0 (${kind})`, async () => checkTileJson(await described(kind)))
  }

  test('has width and height even of a single point', async () => {
    const { bounds } = await described('point')
    assert.ok(bounds[2] - bounds[0] > 1e-6 && bounds[3] - bounds[1] > 1e-6)
  })

  test('names the layer of its tiles and their attributes', async () => {
    const { vector_layers: layers, name } = await described('polygon')
    assert.equal(name, 'My polygon')
    assert.deepEqual(
      layers.map(({ id, fields }: { id: string; fields: object }) => [id, fields]),
      [['geometry', { id: 'Number', name: 'String', open: 'Boolean' }]],
    )
  })

  test('names the dataset that its tiles are made from, and an archive none', async () => {
    const dataset = { id: ids.get('point') }
    ids.set('explicit', await maps.tileSource({ source: ids.get('point') ?? '' }))
    for (const kind of ['point', 'explicit']) assert.deepEqual((await described(kind)).dataset, dataset, kind)
    assert.ok(!('dataset' in (await described('raster'))))
  })

  test('carries the key into addresses when it came by address, and never one that came by header', async () => {
    const { developer } = maps.tenant
    const [byHeader] = (await described('point')).tiles
    assert.ok(!byHeader.includes(developer) && !byHeader.includes('api-key'))
    const [byAddress] = (await described('point', `?api-key=${developer}`, null)).tiles
    assert.equal(new URL(byAddress).searchParams.get('api-key'), developer)
    const { pathname, search } = new URL(byAddress.replace('{z}/{x}/{y}', '0/0/0'))
    const reply = await maps.get(`${pathname}${search}`, {}, null)
    assert.equal(reply.statusCode, 200)
    assert.deepEqual(valuesOf(reply), [1])
  })

  test('hands its filter on to the tiles, and nothing that would make them something else', async () => {
    const [address] = (await described('point', `?filter[name]=b&tile-version=old&api%2Dkey=${maps.tenant.developer}`))
      .tiles
    const url = new URL(address)
    assert.equal(url.searchParams.get('filter[name]'), 'b')
    assert.notEqual(url.searchParams.get('tile-version'), 'old')
    assert.equal(url.searchParams.getAll('tile-version').length, 1)
    assert.equal(url.searchParams.getAll('api-key').length, 1)
    assert.equal((await maps.get(`/tiles/${ids.get('point')}/index.json?explain=true`)).statusCode, 400)
  })

  test('has the address of this service, whatever Host says', async () => {
    const reply = await maps.get(`/tiles/${ids.get('point')}/index.json`, {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'gopher',
    })
    assert.match(reply.json().tiles[0], /^https:\/\/maps\.example\.org\/tiles\//)
    assert.ok(!reply.body.includes('evil'))
  })

  for (const path of ['index.json', 'style.json', 'basemap'])
    test(`${path === 'basemap' ? 'of the base map' : `as ${path}`} is not sent again to whoever has it`, async () => {
      const address = path === 'basemap' ? '/tiles/basemap/index.json' : `/tiles/${ids.get('point')}/${path}`
      const { headers, statusCode } = await maps.get(address)
      assert.equal(statusCode, 200)
      assert.match(String(headers['cache-control']), /no-cache/)
      const again = await maps.get(address, { 'if-none-match': String(headers.etag) })
      assert.equal(again.statusCode, 304)
      assert.equal(again.headers.etag, headers.etag)
      assert.equal((await maps.get(address, { 'if-none-match': '"other"' })).statusCode, 200)
    })

  test('changes its version with the data, so that maps ask anew', async () => {
    await maps.script('CREATE TABLE versions AS SELECT * FROM points')
    const id = await maps.dataset({ source: 'versions' })
    const version = async () =>
      new URL((await maps.get(`/tiles/${id}/index.json`)).json().tiles[0]).searchParams.get('tile-version')
    const before = await version()
    assert.equal(await version(), before)
    await maps.script('UPDATE versions SET name = name')
    await until(async () => (await version()) !== before)
  })
})

describe('the preview of a tile source', () => {
  for (const kind of ['point', 'linestring', 'polygon', 'raster']) {
    test(`is a style without faults (${kind})`, async () => {
      const style = (await maps.get(`/tiles/${ids.get(kind)}/style.json`)).json()
      assert.deepEqual(validateStyleMin(style), [])
      assert.match(style.glyphs, /^https:\/\/maps\.example\.org\/fonts\/\{fontstack\}\/\{range\}\.pbf$/)
      assert.match(style.sources.tiles.url, /^https:\/\/maps\.example\.org\/tiles\/.*\/index\.json$/)
      assert.ok(style.layers.length > 1)
      const { center } = (await maps.get(`/tiles/${ids.get(kind)}/index.json`)).json()
      assert.deepEqual([...style.center, style.zoom], center)
    })
  }

  test('carries the key only where it came by address and only where it is needed', async () => {
    const path = `/tiles/${ids.get('point')}/style.json`
    assert.ok(!(await maps.get(path)).body.includes(maps.tenant.developer))
    const style = (await maps.get(`${path}?api-key=${maps.tenant.developer}`, {}, null)).json()
    assert.match(style.sources.tiles.url, /\?api-key=/)
    assert.ok(!style.glyphs.includes('api-key'))
  })
})
