import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc, { type Arbitrary } from 'fast-check'
import type { Db } from '../db/db.ts'
import { testDatabase } from '../testing/database.ts'
import type { Position } from './geojson.ts'
import { answersFor, createPlaces, line, point, spatialColumns, storePlaces } from './spatial-places.ts'

let db: Db
let close: () => Promise<void>

before(async () => {
  ;({ db, close } = await testDatabase())
  await createPlaces(db)
})

after(() => close())

test('$dwithin is a distance along the ellipsoid, in metres, in every reference system', async () => {
  await storePlaces(db, [point(9, 50), point(9, 50.01), line([8.9, 50.02], [9.1, 50.02]), point(10, 50), null])
  for (const { name } of spatialColumns) {
    const near = (distance: unknown) => ({ [name]: { $dwithin: { point: [9, 50], distance } } })
    const operand = { geometry: line([9, 50.01], [9.1, 50.01]), distance: 1200 }
    const results = await answersFor(db, [
      near(0),
      near('1112'),
      near(1113),
      near(71_600),
      { [name]: { $dwithin: operand } },
    ])
    assert.deepEqual(
      results,
      [
        ['true', 'false', 'false', 'false', 'null'],
        ['true', 'false', 'false', 'false', 'null'],
        ['true', 'true', 'false', 'false', 'null'],
        ['true', 'true', 'true', 'false', 'null'],
        ['true', 'true', 'true', 'false', 'null'],
      ],
      name,
    )
  }
})

test('the boxes of $dwithin leave out nothing that is near, not at the poles nor across the antimeridian', async () => {
  // Lines are not measured against lines: PostGIS takes two to meet that are at opposite ends of the earth.
  const longitude = fc.integer({ min: -1800, max: 1800 }).map((tenths) => tenths / 10)
  const latitude = fc
    .oneof(fc.integer({ min: -899, max: 899 }), fc.constantFrom(895, 899, -890))
    .map((tenths) => tenths / 10)
  const start: Arbitrary<Position> = fc.tuple(longitude, latitude)
  const step = fc.tuple(fc.integer({ min: -5, max: 5 }), fc.integer({ min: -3, max: 3 }))
  const clamp = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value))
  const path = fc
    .tuple(start, step)
    .map(([[x, y], [dx, dy]]) => line([x, y], [clamp(x + dx, 180), clamp(y + dy, 89.9)]))
  const geometry = fc.oneof(
    start.map((at) => point(...at)),
    path,
  )
  const distance = fc.constantFrom(0, 10, 5_000, 300_000, 2_000_000, 9_000_000, 15_000_000, 1e9)
  const operand = fc.record({ geometry, distance })
  const property = fc.asyncProperty(
    fc.array(geometry, { minLength: 100, maxLength: 100 }),
    fc.array(operand, { minLength: 40, maxLength: 40 }),
    async (places, operands) => {
      const rows = [...places, ...operands.map((near) => near.geometry)]
      await storePlaces(db, rows)
      // A geography has no boxes: it is measured as it is.
      const expected = await answersFor(
        db,
        operands.map((near) => ({ sphere: { $dwithin: near } })),
      )
      for (const name of ['degrees', 'bare', 'mercator']) {
        const actual = await answersFor(
          db,
          operands.map((near) => ({ [name]: { $dwithin: near } })),
        )
        actual.forEach((answer, index) => {
          const isLine = operands[index]?.geometry.type === 'LineString'
          const measured = rows.map((row) => !isLine || row.type === 'Point')
          const lost = rows.filter((_, id) => measured[id] && answer[id] !== expected[index]?.[id])
          assert.equal(JSON.stringify(lost), '[]', `${name} ${JSON.stringify([lost, operands[index]])}`)
        })
      }
    },
  )
  await fc.assert(property, { numRuns: 3, endOnFailure: true })
})

test('the boxes of $dwithin allow for narrow meridians and for edges that follow great circles', async () => {
  await storePlaces(db, [point(1.7, 60), line([5, 60], [10, 60]), point(180, 89.5)])
  const near = (at: Position, distance: number) => ({ degrees: { $dwithin: { point: at, distance } } })
  const results = await answersFor(db, [near([0, 60], 95_000), near([7.5, 60.024], 300), near([0, 89.5], 112_000)])
  const expected = [
    ['true', 'false', 'false'],
    ['false', 'true', 'false'],
    ['false', 'false', 'true'],
  ]
  assert.deepEqual(results, expected)
})
