import assert from 'node:assert/strict'
import { type FileHandle, open } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { PMTiles } from 'pmtiles'

let file: FileHandle
let archive: PMTiles
before(async () => {
  file = await open(new URL('../../../../../assets/basemap.pmtiles', import.meta.url))
  archive = new PMTiles({
    getKey: () => 'basemap',
    async getBytes(offset, length) {
      const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset)
      return { data: buffer.buffer.slice(0, bytesRead) as ArrayBuffer }
    },
  })
})
after(() => file.close())

async function tileAt(z: number, x: number, y: number): Promise<VectorTile> {
  const tile = await archive.getZxy(z, x, y)
  assert.ok(tile)
  return new VectorTile(new PbfReader(new Uint8Array(tile.data)))
}

const propertiesOf = (tile: VectorTile, layer: string) =>
  Array.from({ length: tile.layers[layer]?.length ?? 0 }, (_, index) => tile.layers[layer]?.feature(index).properties)

test('the base map covers the world and names all layers that its styles ask for', async () => {
  const header = await archive.getHeader()
  assert.deepEqual([header.minZoom, header.maxZoom, header.minLon, header.maxLon], [0, 6, -180, 180])
  const { vector_layers: layers, attribution } = (await archive.getMetadata()) as {
    vector_layers: { id: string }[]
    attribution: string
  }
  const scheme = ['boundaries', 'buildings', 'earth', 'landcover', 'landuse', 'places', 'pois', 'roads', 'water']
  assert.deepEqual(layers.map(({ id }) => id).sort(), scheme)
  assert.equal(attribution, 'Made with Natural Earth; places from GeoNames (CC BY 4.0)')
})

test('a tile in the Alps holds land, lakes, rivers, borders, peaks and cities with their names', async () => {
  const tile = await tileAt(6, 33, 22)
  assert.ok(propertiesOf(tile, 'earth').length > 0 && propertiesOf(tile, 'landcover').length > 0)
  const kinds = new Set(propertiesOf(tile, 'water').map((properties) => properties?.kind))
  assert.ok(kinds.has('lake') && kinds.has('river'))
  assert.ok(propertiesOf(tile, 'boundaries').some((properties) => properties?.kind_detail === 2))
  const names = propertiesOf(tile, 'places').map((properties) => properties?.name)
  for (const name of ['Zürich', 'Milan']) assert.ok(names.includes(name), name)
  assert.ok(propertiesOf(tile, 'pois').some((properties) => properties?.name === 'Mont Blanc'))
})

test('countries and large cities have names in other languages', async () => {
  const places = propertiesOf(await tileAt(5, 17, 11), 'places')
  const named = (name: string) => places.find((properties) => properties?.name === name)
  assert.equal(named('Austria')?.['name:de'], 'Österreich')
  assert.equal(named('Vienna')?.['name:de'], 'Wien')
  assert.equal(named('Vienna')?.capital, 'yes')
})

test('the open sea has no tile: the background is enough', async () => {
  assert.equal(await archive.getZxy(6, 10, 36), undefined)
})
