import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { after, before, test } from 'node:test'
import type { Tenant } from '../../testing/harness.ts'
import { type TileApp, tileApp } from '../../testing/tiles.ts'

// Two tenants whose tiles are made by the same threads. What counts is the order of the answers, not their time.

let maps: TileApp
before(async () => {
  maps = await tileApp({ TILE_CACHE_MB: '0' })
})
after(() => maps.close())

/** Points over the whole world, so that every tile of zoom 4 has some and none is the same. */
const heavy = `SELECT g AS id, 'a place with the number ' || g AS name,
  ST_SetSRID(ST_MakePoint(g * 7.31 % 360 - 180, g * 3.77 % 160 - 80), 4326) AS geom FROM generate_series(1, 4000) g`
const light = 'SELECT 1 AS id, ST_SetSRID(ST_MakePoint(6, 50), 4326) AS geom'

/** Each tile of the world at zoom 4, in turns with another attribute, so that no two requests are one. */
const tileOf = (n: number): string =>
  `4/${n % 16}/${(n >> 4) % 16}.mvt?attributes=${n % 512 < 256 ? 'id,name' : 'name,id'}`

test('a tenant whose map floods the tile threads does not keep the tiles of another waiting: they come in turn', async () => {
  const other: Tenant = await maps.app.tenant('other')
  const flooded = await maps.dataset({ type: 'sql', source: heavy })
  const quiet = await maps.dataset({ type: 'sql', source: light }, other.developer)
  assert.equal((await maps.get(`/tiles/${flooded}/0/0/0.mvt`)).statusCode, 200)
  assert.equal((await maps.get(`/tiles/${quiet}/0/0/0.mvt`, {}, other.developer)).statusCode, 200)
  const size = Math.min(20 * availableParallelism(), 500)
  let made = 0
  const flood = Array.from({ length: size }, async (_, n) => {
    const { statusCode } = await maps.get(`/tiles/${flooded}/${tileOf(n)}`)
    made++
    return statusCode
  })
  for (let n = 0; n < 3; n++) {
    const { statusCode } = await maps.get(`/tiles/${quiet}/0/0/0.mvt?attributes=id&_=${n}`, {}, other.developer)
    assert.equal(statusCode, 200)
  }
  assert.ok(made < size / 2, `${made} of ${size} tiles of the flood were made before three of the other`)
  const statuses = await Promise.all(flood)
  assert.deepEqual(new Set(statuses.map((status) => status === 200 || status === 204)), new Set([true]))
})
