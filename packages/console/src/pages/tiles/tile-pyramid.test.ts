import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTile, tileAt, tileBounds, tileKey, tilesInView, tileZoom } from './tile-pyramid.ts'

const vector = { minZoom: 2, maxZoom: 14, tileSize: 512 }

test('the zoom of tiles follows the map within the range of the source', () => {
  assert.equal(tileZoom(1.9, vector), undefined)
  assert.equal(tileZoom(2, vector), 2)
  assert.equal(tileZoom(5.99, vector), 5)
  assert.equal(tileZoom(18, vector), 14)
  assert.equal(tileZoom(4.4, { minZoom: 0, maxZoom: 20, tileSize: 256 }), 5)
})

test('a view needs the tiles that it touches, in each copy of the world', () => {
  const keys = (view: Parameters<typeof tilesInView>[0], z: number) =>
    tilesInView(view, z).map((tile) => `${tileKey(tile)}@${tile.copy}`)
  assert.deepEqual(keys({ west: -180, south: -85, east: 180, north: 85 }, 1), [
    '1/0/0@0',
    '1/1/0@0',
    '1/0/1@0',
    '1/1/1@0',
  ])
  assert.deepEqual(keys({ west: 170, south: 10, east: 190, north: 20 }, 2), ['2/3/1@0', '2/0/1@1'])
  assert.equal(tilesInView({ west: -180, south: -85, east: 180, north: 85 }, 10).length, 200)
})

test('a tile lies where it is found', () => {
  const tile = tileAt(8.54, 47.37, 12)
  assert.equal(tileKey(tile), '12/2145/1434')
  const [west, south, east, north] = tileBounds(tile)
  assert.ok(west <= 8.54 && east > 8.54 && south < 47.37 && north >= 47.37)
  assert.equal(tileKey(tileAt(190, 15, 2)), '2/0/1')
  assert.deepEqual(tileBounds({ z: 0, x: 0, y: 0 }).map(Math.round), [-180, -85, 180, 85])
})

test('an address of a tile is read only if there is such a tile', () => {
  assert.deepEqual(parseTile('2/2/1'), { z: 2, x: 2, y: 1 })
  for (const text of [undefined, '', '2/4/1', '99/0/0', '2/1', 'a/b/c']) assert.equal(parseTile(text), undefined)
})
