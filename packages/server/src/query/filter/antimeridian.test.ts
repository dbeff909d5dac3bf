import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc, { type Arbitrary } from 'fast-check'
import { testDatabase } from '../../../testing/database.ts'
import type { Db } from '../../kernel/db/db.ts'
import { ident, sql } from '../../kernel/db/sql.ts'
import { wrapExtent, wrapGeometry } from '../geometry/antimeridian.ts'
import { extentOf, type Geometry, type Position, positionsOf } from '../geometry/geojson.ts'
import type { Attribute } from '../values/attribute.ts'
import { filterPredicate } from './filter-predicate.ts'
import { filterSql } from './filter-sql.ts'
import type { Filter } from './filter-tree.ts'

let db: Db
let close: () => Promise<void>
before(async () => {
  ;({ db, close } = await testDatabase())
  await db.query(sql`CREATE TABLE far (id int PRIMARY KEY, geom geometry(Geometry, 4326))`)
})
after(() => close())

const geom: Attribute = { name: 'geom', type: 'geometry', srid: 4326, period: 360 }
/** Nothing is on the edge of anything else, because the last digit of a double would decide about it. */
const degrees = (low: number, high: number) =>
  fc.noBias(fc.integer({ min: low * 1e6, max: high * 1e6 })).map((millionths) => millionths / 1e6)

function shapesAt(position: Arbitrary<Position>): Arbitrary<Geometry> {
  const offsets = fc.array(fc.tuple(degrees(-20, 20), degrees(-10, 10)), { minLength: 2, maxLength: 5 })
  const line = fc
    .tuple(position, offsets)
    .map(([[x, y], rest]) => [[x, y], ...rest.map(([dx, dy]): Position => [x + dx, y + dy])] as Position[])
  const triangle = fc.tuple(position, degrees(2, 20), degrees(2, 10)).map(
    ([[x, y], w, h]) =>
      [
        [x, y],
        [x + w, y],
        [x + w / 3, y + h],
        [x, y],
      ] as Position[],
  )
  return fc.oneof(
    position.map((coordinates): Geometry => ({ type: 'Point', coordinates })),
    line.map((coordinates): Geometry => ({ type: 'LineString', coordinates })),
    triangle.map((ring): Geometry => ({ type: 'Polygon', coordinates: [ring] })),
    fc
      .tuple(triangle, triangle)
      .map((rings): Geometry => ({ type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) })),
    fc.tuple(triangle, line).map(
      ([ring, coordinates]): Geometry => ({
        type: 'GeometryCollection',
        geometries: [
          { type: 'Polygon', coordinates: [ring] },
          { type: 'LineString', coordinates },
        ],
      }),
    ),
  )
}

const anywhere = shapesAt(
  fc.tuple(fc.oneof(degrees(-520, 520), degrees(-200, -160), degrees(160, 200)), degrees(-60, 60)),
)
const operand = shapesAt(
  fc.tuple(fc.oneof(degrees(-160, 160), degrees(-160, -155), degrees(155, 160)), degrees(-60, 60)),
)
/** GEOS errs in relations of collections. */
const single = (shape: Arbitrary<Geometry>) => shape.filter(({ type }) => type !== 'GeometryCollection')
const kinds = ['intersects', 'within', 'contains', 'equals', 'touches', 'crosses', 'overlaps'] as const

test('of rows beyond ±180 the database and memory say the same, for all relations, and for points distances', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(single(anywhere), { minLength: 40, maxLength: 40 }),
      fc.array(single(operand), { minLength: 4, maxLength: 4 }),
      async (rows, operands) => {
        await db.query(sql`TRUNCATE far`)
        await db.query(sql`INSERT INTO far SELECT n, ST_SetSRID(ST_GeomFromGeoJSON(shape), 4326)
        FROM unnest(${rows.map((row) => JSON.stringify(row))}::text[]) WITH ORDINALITY AS t (shape, n)`)
        const filters = operands.flatMap((geometry): Filter[] => [
          ...kinds.map((kind) => ({ kind, attribute: geom, geometry })),
          { kind: 'dwithin', attribute: geom, geometry, distanceMetres: 500_000 },
        ])
        const found = await db.transaction(async (tx) => {
          // PostgreSQL thinks that so many costly functions are worth compiling, for seconds, also for forty rows.
          await tx.query(sql`SET LOCAL jit = off`)
          const answers: { id: number }[][] = []
          for (const filter of filters) {
            answers.push(
              await tx.query<{ id: number }>(sql`
              SELECT id FROM far WHERE ${filterSql(filter, ({ name }) => ident(name))} ORDER BY id`),
            )
          }
          return answers
        })
        filters.forEach((filter, at) => {
          const holds = filterPredicate(filter)
          // Long edges are cut in the database before they are taken for great circles.
          const isCompared = (id: number): boolean => filter.kind !== 'dwithin' || rows[id - 1]?.type === 'Point'
          const ids = rows.map((_, index) => index + 1).filter(isCompared)
          assert.deepEqual(
            found[at]?.map(({ id }) => id).filter(isCompared),
            ids.filter((id) => holds({ geom: rows[id - 1] })),
            JSON.stringify(filter),
          )
        })
      },
    ),
    { numRuns: process.env.TEST_DATABASE_URL ? 5 : 2, endOnFailure: true },
  )
})

test('a wrapped geometry lies within ±180 and has the area that it had', () => {
  fc.assert(
    fc.property(anywhere, (geometry) => {
      const wrapped = wrapGeometry(geometry)
      for (const [x] of positionsOf(wrapped)) assert.ok(Math.abs(x) <= 180, String(x))
      assert.ok(Math.abs(areaOf(wrapped) - areaOf(geometry)) < 1e-6)
    }),
  )
})

function areaOf(geometry: Geometry): number {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.reduce((sum, one) => sum + areaOf(one), 0)
  if (geometry.type === 'Polygon') return geometry.coordinates.reduce((sum, ring) => sum + ringArea(ring), 0)
  if (geometry.type === 'MultiPolygon')
    return geometry.coordinates.flat().reduce((sum, ring) => sum + ringArea(ring), 0)
  return 0
}

const ringArea = (ring: readonly Position[]): number =>
  Math.abs(
    ring
      .slice(1)
      .reduce((sum, [x2, y2], index) => sum + (ring[index]?.[0] ?? 0) * y2 - x2 * (ring[index]?.[1] ?? 0), 0),
  ) / 2

test('an extent beyond ±180 is moved, crosses the antimeridian, or is the whole width', () => {
  const cases: [west: number, east: number, expected: [number, number]][] = [
    [10, 20, [10, 20]],
    [-180, 180, [-180, 180]],
    [190, 200, [-170, -160]],
    [-200, -190, [160, 170]],
    [170, 190, [170, -170]],
    [-190, -170, [170, -170]],
    [0, 359.75, [-180, 180]],
    [190, 530, [-170, 170]],
    [-400, 400, [-180, 180]],
  ]
  for (const [west, east, expected] of cases) {
    const box = wrapExtent({ west, east, south: 0, north: 1 })
    assert.deepEqual([box.west, box.east], expected)
  }
  assert.deepEqual(wrapExtent(extentOf([])), extentOf([]))
})
