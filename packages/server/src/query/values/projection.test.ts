import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { testDatabase } from '../../../testing/database.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { projectionOf } from './projection.ts'

// One database is enough: PostGIS is only asked where places are.

let db: Db
let close: () => Promise<void>
before(async () => {
  ;({ db, close } = await testDatabase())
})
after(() => close())

async function definitionOf(srid: number): Promise<string> {
  const [row] = await db.query<{ text: string }>(
    sql`SELECT proj4text AS text FROM spatial_ref_sys WHERE srid = ${srid}::int4`,
  )
  return row?.text ?? ''
}

/** Where each system is at home: [west, south, east, north]. */
const systems: Record<number, readonly [number, number, number, number]> = {
  3857: [-179, -84, 179, 84],
  25832: [5, 46, 13, 56],
  27700: [-6, 50, 1.5, 58],
  2154: [-4, 42, 8, 51],
  4258: [-10, 35, 30, 70],
  3035: [-8, 36, 28, 68],
  2056: [6, 46, 10, 47.5],
}

for (const [srid, [west, south, east, north]] of Object.entries(systems)) {
  test(`places in ${srid} are to the centimetre where PostGIS has them`, async () => {
    const project = projectionOf(await definitionOf(Number(srid)))
    const places = Array.from({ length: 49 }, (_, index): [number, number] => [
      west + ((east - west) * (index % 7)) / 6,
      south + ((north - south) * Math.floor(index / 7)) / 6,
    ])
    const expected = await db.query<{ x: number; y: number }>(sql`
      SELECT ST_X(place) AS x, ST_Y(place) AS y FROM (
        SELECT n, ST_Transform(ST_SetSRID(ST_Point(x, y), 4326), ${Number(srid)}::int4) AS place
        FROM unnest(${places.map(([x]) => x)}::float8[], ${places.map(([, y]) => y)}::float8[]) WITH ORDINALITY AS t (x, y, n)
      ) AS moved ORDER BY n`)
    const tolerance = Number(srid) === 4258 ? 1e-6 : 0.01
    places.forEach((place, index) => {
      const [x = 0, y = 0] = project(place)
      const { x: trueX = 0, y: trueY = 0 } = expected[index] ?? {}
      const error = Math.max(Math.abs(x - trueX), Math.abs(y - trueY))
      assert.ok(error <= tolerance, `${place}: ${x} ${y}, PostGIS ${trueX} ${trueY}`)
    })
  })
}

test('heights stay; a place without an image is refused, and so is what is no definition', async () => {
  const mercator = projectionOf(await definitionOf(3857))
  assert.deepEqual(mercator([0, 0, 7]).slice(2), [7])
  const isInvalid = (error: unknown) => error instanceof ApiError && error.status === 400
  assert.throws(() => mercator([0, 90]), isInvalid)
  for (const text of ['', 'EPSG:3857', 'constructor', '+proj=nonsense', '+proj=utm', 'GEOGCS[', '{}']) {
    assert.throws(() => projectionOf(text)([1, 1]), isInvalid, text)
  }
})
