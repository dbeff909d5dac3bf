import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { classifyRings } from '@mapbox/vector-tile'
import { featuresOf } from '../../../testing/tiles.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: shapes are made in memory; tiles.test.ts and tile-data.test.ts draw rows of both.

// The file that everybody draws first. Russia, Fiji and Antarctica are not valid in it, and filled whole tiles. Russia's ring jumps
// from 180 to -180 degrees and back, so between 65 and 72 degrees north it is a band around the world, as ST_MakeValid has it.

const places: [country: string | undefined, longitude: number, latitude: number][] = [
  ['Russia', 100, 62],
  ['Russia', 40, 56],
  ['Germany', 10, 51],
  ['Brazil', -55, -10],
  ['Antarctica', 0, -80],
  ['Australia', 134, -25],
  ['Canada', -110, 60],
  // The North Pacific, the Atlantic, the Indian Ocean, the North Sea, the Arctic Ocean, the South Pacific.
  [undefined, -150, 40],
  [undefined, -30, 0],
  [undefined, 80, -20],
  [undefined, 2, 58],
  [undefined, 170, 79],
  [undefined, -120, -40],
]

let uploads: UploadApp
let dataset = ''
before(async () => {
  uploads = await uploadApp()
  const bytes = await readFile(new URL('../../../../../node_modules/world-atlas/countries-50m.json', import.meta.url))
  const record = await uploads.upload({ name: 'countries-50m.json', bytes }, { layer: 'countries' })
  assert.equal(record.status, 'completed', JSON.stringify(record.error))
  dataset = record.datasetId
})
after(() => uploads.close())

for (const zoom of [0, 1, 2, 3, 5]) {
  test(`countries-50m of world-atlas are where they are at zoom ${zoom}, and the sea is free`, async () => {
    for (const [country, longitude, latitude] of places) {
      const found = await countriesAt(zoom, longitude, latitude)
      assert.deepEqual(found, country ? [country] : [], `${longitude} ${latitude}`)
    }
  })
}

async function countriesAt(zoom: number, longitude: number, latitude: number): Promise<unknown[]> {
  const x = ((longitude + 180) / 360) * 2 ** zoom
  const y = ((1 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / Math.PI) / 2) * 2 ** zoom
  const url = `${uploads.address}/tiles/${dataset}/${zoom}/${Math.floor(x)}/${Math.floor(y)}.mvt`
  const reply = await fetch(url, { headers: { 'x-api-key': uploads.tenant.developer } })
  if (reply.status === 204) return []
  assert.equal(reply.status, 200)
  const at = { x: (x % 1) * 4096, y: (y % 1) * 4096 }
  return featuresOf(new Uint8Array(await reply.arrayBuffer()))
    .filter((feature) =>
      classifyRings(feature.loadGeometry()).some(
        (rings) => rings.filter((ring) => isAround(ring, at)).length % 2 === 1,
      ),
    )
    .map(({ properties }) => properties.name)
}

function isAround(ring: { x: number; y: number }[], { x, y }: { x: number; y: number }): boolean {
  let isInside = false
  for (const [index, b] of ring.entries()) {
    const a = ring.at(index - 1) as { x: number; y: number }
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) isInside = !isInside
  }
  return isInside
}
