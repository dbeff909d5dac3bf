import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PMTiles, tileIdToZxy } from 'pmtiles'
import { pmtiles } from './pmtiles-writer.ts'

const options = {
  metadata: { name: 'test' },
  minZoom: 0,
  maxZoom: 8,
  bounds: [-180, -85, 180, 85],
  center: [1, 2, 3],
} as const

const reader = (bytes: Buffer): PMTiles =>
  new PMTiles({
    getKey: () => 'test',
    getBytes: async (offset, length) => ({ data: Uint8Array.from(bytes.subarray(offset, offset + length)).buffer }),
  })

test('every tile that was written is read back, also when there are too many for one directory', async () => {
  const texts = new Map(Array.from({ length: 20_000 }, (_, id) => [id, id % 7 === 0 ? 'same' : `tile ${id * 7919}`]))
  const tiles = [...texts].map(([id, text]) => ({ id, bytes: Buffer.from(text) }))
  const archive = reader(pmtiles(tiles.toReversed(), options))
  for (const id of [0, 1, 2, 7, 4095, 4096, 4097, 12_345, 19_998, 19_999]) {
    const [z, x, y] = tileIdToZxy(id)
    assert.equal(
      Buffer.from((await archive.getZxy(z, x, y))?.data ?? new ArrayBuffer()).toString(),
      texts.get(id),
      `${id}`,
    )
  }
  assert.equal(await archive.getZxy(...tileIdToZxy(20_000)), undefined)
  assert.deepEqual(await archive.getMetadata(), { name: 'test' })
  const { centerLon, centerLat, centerZoom, numTileContents } = await archive.getHeader()
  assert.deepEqual([centerLon, centerLat, centerZoom, numTileContents], [1, 2, 3, 17_143])
})

test('equal tiles are stored once and in a row', () => {
  const many = Array.from({ length: 1000 }, (_, id) => ({ id, bytes: Buffer.from('water') }))
  assert.ok(pmtiles(many, options).length < 300)
})

test('the same tiles give the same bytes', () => {
  const tiles = [3, 1, 2].map((id) => ({ id, bytes: Buffer.from(`${id}`) }))
  assert.deepEqual(pmtiles(tiles, options), pmtiles(tiles.toReversed(), options))
})
