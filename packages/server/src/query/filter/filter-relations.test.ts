import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc, { type Arbitrary } from 'fast-check'
import { testDatabase } from '../../../testing/database.ts'
import {
  createPlaces,
  line,
  point,
  polygon,
  ring,
  spatialAttributes,
  storePlaces,
} from '../../../testing/spatial-places.ts'
import type { Db } from '../../kernel/db/db.ts'
import { ident, joinSql, sql } from '../../kernel/db/sql.ts'
import type { Geometry, Position } from '../geometry/geojson.ts'
import type { SpatialRelation } from '../geometry/relation/relation.ts'
import type { Attribute } from '../values/attribute.ts'
import { filterPredicate } from './filter-predicate.ts'
import { filterSql } from './filter-sql.ts'
import type { Filter } from './filter-tree.ts'

// The relations that only CQL2 has; filter-spatial.test.ts is about the others.

const relations: readonly SpatialRelation[] = ['contains', 'equals', 'touches', 'crosses', 'overlaps']
const column = ({ name }: Attribute) => ident(name)
const degrees = spatialAttributes.get('degrees') as Attribute

let db: Db
let close: () => Promise<void>

before(async () => {
  ;({ db, close } = await testDatabase())
  await createPlaces(db)
})

after(() => close())

/** For each filter, the answer for each place. */
async function answersFor(filters: readonly Filter[]): Promise<string[][]> {
  const answers = filters.map(
    (filter, index) =>
      sql`array_agg(coalesce(${filterSql(filter, column)}::text, 'null') ORDER BY id) AS ${ident(`f${index}`)}`,
  )
  const [row] = await db.transaction(async (tx) => {
    await tx.query(sql`SET LOCAL jit = off`)
    return tx.query<Record<string, string[]>>(sql`SELECT ${joinSql(answers, ', ')} FROM places`)
  })
  return filters.map((_, index) => row?.[`f${index}`] ?? [])
}

/** A small grid, so that corners and sides often meet. */
const position: Arbitrary<Position> = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 }))
const box = fc
  .tuple(position, position)
  .filter(([a, b]) => a[0] < b[0] && a[1] < b[1])
  .map(([[west, south], [east, north]]) => polygon(ring(west, south, east, north)))
/** Along the grid or across its squares: where edges cross elsewhere, GEOS splits them not quite on the line. */
const points = fc.oneof(
  fc
    .tuple(position, position, position)
    .map(([a, b, c]): Position[] => [a, [b[0], a[1]], b, [c[0], b[1]]])
    .filter((corners) => new Set(corners.map(String)).size > 1),
  fc.tuple(position, fc.integer({ min: 1, max: 3 })).map(([[x, y], size]): Position[] => [
    [x, y],
    [x + size, y + size],
  ]),
)
/** Without collections: GEOS errs where a point of one lies on the other's corner. */
const anyGeometry: Arbitrary<Geometry> = fc.oneof(
  position.map((at) => point(...at)),
  fc
    .array(position, { minLength: 1, maxLength: 3 })
    .map((coordinates) => ({ type: 'MultiPoint' as const, coordinates })),
  points.map((corners) => line(...corners)),
  points.map((corners) => line(...corners)),
  fc.tuple(points, points).map((coordinates): Geometry => ({ type: 'MultiLineString', coordinates })),
  box,
  box,
  fc.constant(polygon(ring(0, 0, 4, 4), ring(1, 1, 3, 3))),
)

test('memory and PostGIS agree on what contains, equals, touches, crosses and overlaps', async () => {
  const places = fc.array(fc.option(anyGeometry, { freq: 20 }), { minLength: 40, maxLength: 40 })
  const operands = fc.array(anyGeometry, { minLength: 16, maxLength: 16 })
  const found = new Map<string, number>()
  const property = fc.asyncProperty(places, operands, async (rows, shapes) => {
    await storePlaces(db, [...rows, ...shapes])
    const filters = shapes.flatMap((geometry) =>
      relations.map((kind): Filter => ({ kind, attribute: degrees, geometry })),
    )
    const expected = await answersFor(filters)
    filters.forEach((filter, index) => {
      const holds = filterPredicate(filter)
      for (const [id, place] of [...rows, ...shapes].entries()) {
        const answer = String(holds({ degrees: place }))
        assert.equal(answer, expected[index]?.[id], JSON.stringify([filter, place]))
        const key = `${filter.kind} ${answer}`
        found.set(key, (found.get(key) ?? 0) + 1)
      }
    })
  })
  await fc.assert(property, {
    numRuns: process.env.TEST_RANDOM ? 40 : process.env.TEST_DATABASE_URL ? 4 : 1,
    endOnFailure: true,
  })
  for (const kind of relations) assert.ok((found.get(`${kind} true`) ?? 0) > 2, JSON.stringify([...found]))
})

test('a point of a collection that lies on its line is no point of its own', () => {
  const geometries = [point(1, 1), line([0, 0], [1, 1])]
  const touches = filterPredicate({
    kind: 'touches',
    attribute: degrees,
    geometry: { type: 'GeometryCollection', geometries },
  })
  assert.equal(touches({ degrees: point(1, 1) }), true)
  assert.equal(touches({ degrees: point(0.5, 0.5) }), false)
})
