import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { linkOf, type OgcWorld, ogcWorld } from '../../../testing/ogc-world.ts'

let world: OgcWorld
before(async () => {
  world = await ogcWorld()
})
after(() => world.close())

const relation = (name: string) => `http://www.opengis.net/def/rel/ogc/1.0/${name}`
const tileset = '/collections/cities/tiles/WebMercatorQuad'

const layerOf = async (path: string) => {
  const reply = await fetch(`${world.root}${path}`, { headers: { 'x-api-key': world.own.public } })
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'application/vnd.mapbox-vector-tile')
  return new VectorTile(new PbfReader(new Uint8Array(await reply.arrayBuffer()))).layers.geometry
}

test('a collection leads to its tileset, the tile matrix set and a template of tiles, whose row comes before the column', async () => {
  const { body: collection } = await world.get('/collections/cities')
  const { body: list } = await world.get(linkOf(collection.links, relation('tilesets-vector'))?.href ?? '')
  const [listed] = list.tilesets
  assert.equal(listed.tileMatrixSetURI, 'http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad')
  const { body } = await world.get(linkOf(listed.links, 'self')?.href ?? '')
  assert.deepEqual([body.dataType, body.tileMatrixSetId], ['vector', 'WebMercatorQuad'])
  assert.equal(body.layers[0].geometryDimension, 0)
  assert.equal(body.layers[0].propertiesSchema.properties.pop.type, 'integer')
  const template = linkOf(body.links, 'item', 'application/vnd.mapbox-vector-tile')
  assert.match(template?.href ?? '', /\/tiles\/WebMercatorQuad\/\{tileMatrix\}\/\{tileRow\}\/\{tileCol\}$/)
  const { body: matrices } = await world.get(linkOf(body.links, relation('tiling-scheme'))?.href ?? '')
  assert.equal(matrices.tileMatrices[0].scaleDenominator.toFixed(3), '559082264.029')
  assert.equal(matrices.tileMatrices[3].matrixWidth, 8)
  // Suva is in the south-east: row 1, column 1.
  const names = (layer: Awaited<ReturnType<typeof layerOf>>) =>
    Array.from({ length: layer?.length ?? 0 }, (_, index) => layer?.feature(index).properties.name)
  assert.ok(names(await layerOf(`${tileset}/1/1/1`)).includes('Suva'))
  assert.ok(!names(await layerOf(`${tileset}/1/0/1`)).includes('Suva'))
})

test('limits are what they say: within them a tile is there or empty, beyond them there is none', async () => {
  const { body } = await world.get(tileset)
  for (const { tileMatrix, minTileRow, maxTileRow, minTileCol, maxTileCol } of body.tileMatrixSetLimits.slice(0, 6)) {
    const status = async (row: number, column: number) =>
      (await world.get(`${tileset}/${tileMatrix}/${row}/${column}`)).status
    assert.ok([200, 204].includes(await status(maxTileRow, minTileCol)), tileMatrix)
    assert.ok([400, 404].includes(await status(maxTileRow + 1, minTileCol)), tileMatrix)
    if (minTileRow > 0) assert.equal(await status(minTileRow - 1, maxTileCol), 404)
  }
  const highest = Number(body.tileMatrixSetLimits.at(-1).tileMatrix)
  for (const path of [`${highest + 1}/0/0`, 'x/0/0', '0/-1/0', '0/1/0']) {
    assert.ok([400, 404].includes((await world.get(`${tileset}/${path}`)).status), path)
  }
  const empty = body.tileMatrixSetLimits.find(({ tileMatrix }: { tileMatrix: string }) => tileMatrix === '8')
  assert.equal((await world.get(`${tileset}/8/${empty.minTileRow}/${empty.minTileCol}`)).status, 204)
})

test('TileJSON has the same tiles', async () => {
  const { body } = await world.get(`${tileset}?f=tilejson`)
  assert.equal(body.tilejson, '3.0.0')
  const [template = ''] = body.tiles
  const address = template.replace('{z}', '1').replace('{y}', '1').replace('{x}', '1')
  const { status, headers } = await world.get(address)
  assert.equal(status, 200)
  const etag = headers.get('etag') ?? ''
  assert.equal((await world.get(address, { 'if-none-match': etag })).status, 304)
  assert.equal(body.vector_layers[0].id, 'geometry')
})

test('a collection without a geometry has no tiles, nor is there another tile matrix set', async () => {
  for (const path of [
    `${world.ids.plain}/tiles`,
    `${world.ids.plain}/tiles/WebMercatorQuad/0/0/0`,
    'cities/tiles/Other',
  ]) {
    assert.equal((await world.get(`/collections/${path}`)).status, 404, path)
  }
  const { body } = await world.get(`/collections/${world.ids.plain}`)
  assert.equal(linkOf(body.links, relation('tilesets-vector')), undefined)
  const limited = await world.app.key(world.own.id, { datasets: { read: [], execute: '*' } })
  assert.equal((await world.get(`${tileset}/0/0/0`, { 'x-api-key': limited })).status, 401)
})
