import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ExternalServer, startExternalServer } from '../../../../testing/peers/external-server.ts'
import { makeRealWorld, realTables } from '../../../../testing/thinning/real-world.ts'
import { centresOf, seeNoSeams } from '../../../../testing/thinning/zoom-tiles.ts'
import { type TileApp, tileApp } from '../../../../testing/tiles.ts'
import { ident, raw } from '../../../kernel/db/sql.ts'

// As seams.test.ts, over towns, borders and areas of the real world, in a database on another server: there are no overviews, and rates
// follow from a sample.

const hasCluster = (process.env.TEST_FOREIGN_URL ?? process.env.TEST_DATABASE_URL) !== undefined
const zooms = [0, 1, 2, 3, 4, 6]

describe('the real world in a database on another server', {
  skip: hasCluster ? false : 'needs a PostgreSQL server',
}, () => {
  let server: ExternalServer
  let maps: TileApp
  let databaseId: string
  before(async () => {
    server = (await startExternalServer()) as ExternalServer
    maps = await tileApp({ TILE_MAX_BYTES: '60000' })
    databaseId = await server.register(maps.app, maps.tenant.developer)
    await server.db.transaction(makeRealWorld)
  })
  after(async () => {
    await maps?.close()
    await server?.close()
  })

  for (const table of realTables) {
    for (const [what, query, where] of [
      ['', '', 'true'],
      [' with a filter', '&filter[n][$lt]=7', 'n < 7'],
    ] as const) {
      test(`tiles of ${table}${what} show no seams, lose no row while zooming in, and stand for all rows`, async () => {
        const id = await maps.dataset({ source: table, databaseId })
        const places = await centresOf(server.db, ident(table), raw(where))
        const { thinnedZooms, compared } = await seeNoSeams(maps.get, { id, query, zooms }, places)
        assert.ok(thinnedZooms >= 2, String(thinnedZooms))
        assert.ok(compared >= 10, `${compared} borders were compared`)
      })
    }
  }
})
