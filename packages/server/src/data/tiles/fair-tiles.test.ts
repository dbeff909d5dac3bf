import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { after, before, test } from 'node:test'
import type { Tenant } from '../../../testing/harness.ts'
import { type TileApp, tileApp } from '../../../testing/tiles.ts'

// Two tenants whose tiles are made by the same threads. What counts is the order of the answers, not their time.

let maps: TileApp
before(async () => {
  maps = await tileApp({ TILE_CACHE_MB: '0' })
})
after(() => maps.close())

const threads = availableParallelism()
/** On the embedded database the queries themselves come one after the other, and take longer. */
const points = process.env.TEST_DATABASE_URL ? 4_000 : 400
/** Points over the whole world, so that every tile of zoom 4 has some. */
const heavy = `SELECT g AS id, 'a place with the number ' || g AS name,
  ST_SetSRID(ST_MakePoint(g * 7.31 % 360 - 180, g * 3.77 % 160 - 80), 4326) AS geom FROM generate_series(1, ${points}) g`
const light = 'SELECT 1 AS id, ST_SetSRID(ST_MakePoint(6, 50), 4326) AS geom'

/** No two of them are one request. */
const floodTile = (n: number): string => `4/${n % 16}/${(n >> 4) % 16}.mvt`

test('a tenant whose map floods the tile threads does not keep the tiles of another waiting: they come in turn', async () => {
  const other: Tenant = await maps.app.tenant('other')
  const flooded = await maps.dataset({ type: 'sql', source: heavy })
  const quiet = await maps.dataset({ type: 'sql', source: light }, other.developer)
  /** As GeoJSON, which only threads make, however small it is. */
  const askOther = async (zoom: number): Promise<void> => {
    const address = `/tiles/${quiet}/${zoom}/${2 ** zoom / 2}/${2 ** zoom / 2 - 1}.geojson`
    assert.equal((await maps.get(address, {}, other.developer)).statusCode, 200)
  }
  await Promise.all(Array.from({ length: 2 * threads }, (_, n) => askOther((n % 8) + 1)))
  assert.equal((await maps.get(`/tiles/${flooded}/0/0/0.mvt`)).statusCode, 200)
  const size = Math.min(20 * threads, 256)
  let made = 0
  const flood = Array.from({ length: size }, async (_, n) => {
    const { statusCode } = await maps.get(`/tiles/${flooded}/${floodTile(n)}`)
    made++
    return statusCode
  })
  await Promise.all([9, 10, 11].map(askOther))
  // In the order of their arrival they would come after all of them.
  assert.ok(made < size * 0.9, `${made} of ${size} tiles of the flood were made before three of the other`)
  const statuses = await Promise.all(flood)
  assert.ok(statuses.every((status) => status === 200 || status === 204))
})
