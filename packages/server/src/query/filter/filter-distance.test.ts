import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc, { type Arbitrary } from 'fast-check'
import { testDatabase } from '../../../testing/database.ts'
import {
  answersFor,
  createPlaces,
  line,
  point,
  polygon,
  ring,
  spatialAttributes,
  spatialColumns,
  storePlaces,
} from '../../../testing/spatial-places.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { extentOf, type Geometry, type Position, positionsOf } from '../geometry/geojson.ts'
import { distanceFrom } from '../geometry/relation/distance.ts'
import { parseFilter } from './filter.ts'
import { filterPredicate } from './filter-predicate.ts'

// One database is enough: distances are compared with those of PostGIS, which the embedded database has too;
// datasets/differential.test.ts asks both for what is near.

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
          // What meets a line on the plane is near it, also where the great circle passes some metres beside it.
          const differs = (id: number) =>
            isLine ? answer[id] !== 'true' && expected[index]?.[id] === 'true' : answer[id] !== expected[index]?.[id]
          const lost = rows.filter((_, id) => measured[id] && differs(id))
          assert.equal(JSON.stringify(lost), '[]', `${name} ${JSON.stringify([lost, operands[index]])}`)
        })
      }
    },
  )
  await fc.assert(property, { numRuns: 3, endOnFailure: true })
})

const longitude = fc.noBias(fc.integer({ min: -180e5, max: 180e5 })).map((value) => value / 1e5)
const latitude = fc.noBias(fc.integer({ min: -89e5, max: 89e5 })).map((value) => value / 1e5)
const degree = fc.noBias(fc.integer({ min: -2e5, max: 2e5 })).map((value) => value / 1e5)
const anywhere: Arbitrary<Position> = fc.oneof(fc.tuple(longitude, latitude), fc.tuple(degree, degree))
const corners = fc.array(fc.tuple(degree, degree), { minLength: 3, maxLength: 3 })
const around = ([x, y]: Position, [dx, dy]: Position): Position => [
  Math.max(-180, Math.min(180, x + dx)),
  Math.max(-89.9, Math.min(89.9, y + dy)),
]
const triangle = fc
  .tuple(anywhere, corners)
  .map(([at, steps]) => steps.map((step) => around(at, step)))
  .filter(
    ([a = [0, 0], b = [0, 0], c = [0, 0]]) =>
      Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) > 0.1,
  )
  .map((ring) => polygon([...ring, ring[0] ?? [0, 0]]))
const holed = anywhere
  .filter(([x, y]) => Math.abs(x) < 177 && Math.abs(y) < 80)
  .map(([x, y]) => polygon(ring(x - 2, y - 2, x + 2, y + 2), ring(x - 1, y - 1, x + 1, y + 1)))
const places = fc.oneof(
  anywhere.map((at) => point(...at)),
  fc.tuple(anywhere, corners).map(([at, steps]) => line(...steps.map((step) => around(at, step)))),
  triangle,
  holed,
  fc
    .tuple(triangle, anywhere)
    .map(([area, at]): Geometry => ({ type: 'GeometryCollection', geometries: [area, point(...at)] })),
)

test('without SQL, distances are those of PostGIS: to a metre or a thousandth, inside of areas none', async () => {
  const property = fc.asyncProperty(
    fc.array(places, { minLength: 40, maxLength: 40 }),
    fc.array(places, { minLength: 20, maxLength: 20 }),
    async (rows, operands) => {
      await storePlaces(db, rows)
      for (const operand of operands) {
        const { west, south, east, north } = extentOf(positionsOf(operand))
        const size = Math.max(east - west, north - south) / 256 || 1
        const measured = await db.query<{ metres: number }>(sql`
          SELECT ST_Distance(sphere, ST_Segmentize(ST_SetSRID(ST_GeomFromGeoJSON(${JSON.stringify(operand)}::text), 4326),
            ${size}::float8)::geography) AS metres FROM places ORDER BY id`)
        const distanceTo = distanceFrom(operand)
        rows.forEach((row, index) => {
          const [actual, expected] = [distanceTo(row), measured[index]?.metres ?? Number.NaN]
          // PostGIS takes edges to meet that are at opposite ends of the earth.
          if (expected === 0 && actual > 10_000_000) return
          const difference = Math.abs(actual - expected)
          assert.ok(
            difference <= Math.max(1, expected / 1_000),
            `${actual} ${expected} ${JSON.stringify([operand, row])}`,
          )
        })
      }
    },
  )
  await fc.assert(property, { numRuns: 4, endOnFailure: true })
})

test('the predicate and PostGIS agree on what is near', async () => {
  const distance = fc.constantFrom(0, 10, 5_000, 50_000, 300_000, 2_000_000, 9_000_000)
  const operand = fc.record({ geometry: places, distance })
  const found = { true: 0, false: 0, null: 0 }
  const property = fc.asyncProperty(
    fc.array(fc.option(places, { freq: 20 }), { minLength: 100, maxLength: 100 }),
    fc.array(operand, { minLength: 40, maxLength: 40 }),
    async (rows, operands) => {
      await storePlaces(db, rows)
      const inputs = operands.map((near) => ({ degrees: { $dwithin: near } }))
      const expected = await answersFor(db, inputs)
      inputs.forEach((input, index) => {
        const predicate = filterPredicate(parseFilter(input, spatialAttributes))
        rows.forEach((degrees, id) => {
          const answer = String(predicate({ degrees })) as keyof typeof found
          assert.equal(answer, expected[index]?.[id], JSON.stringify([input, degrees]))
          found[answer]++
        })
      })
    },
  )
  await fc.assert(property, { numRuns: 5, endOnFailure: true })
  assert.ok(found.true > 1_000 && found.false > 1_000 && found.null > 100, JSON.stringify(found))
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
