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
  spatialFilterSql,
  storePlaces,
} from '../../../testing/spatial-places.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { extentOf, type Geometry, type Position } from '../geometry/geojson.ts'
import { parseFilter } from './filter.ts'
import { filterPredicate } from './filter-predicate.ts'

let db: Db
let close: () => Promise<void>

before(async () => {
  ;({ db, close } = await testDatabase())
  await createPlaces(db)
})

after(() => close())

/** The embedded database has the same PostGIS: that it answers at all is seen by fewer. */
const numRuns = process.env.TEST_DATABASE_URL ? 10 : 3

const gridPosition: Arbitrary<Position> = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }))
/** Anywhere: here nothing touches, which is as well, because the last digit of a double would decide about it. */
const freeNumber = fc.noBias(fc.integer({ min: 0, max: 6e6 })).map((millionths) => millionths / 1e6)
const freePosition: Arbitrary<Position> = fc.tuple(freeNumber, freeNumber)

function anySimple(position: Arbitrary<Position>): Arbitrary<Geometry> {
  const triangle = fc
    .tuple(position, position, position)
    .filter(([a, b, c]) => Math.abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) > 1e-6)
    .map(([a, b, c]) => [a, b, c, a])
  const holed = gridPosition.map(([x, y]) =>
    polygon(ring(x - 3, y - 3, x + 3, y + 3), ring(x - 1, y - 1, x + 1, y + 1)),
  )
  return fc.oneof(
    position.map((at) => point(...at)),
    fc
      .array(position, { minLength: 1, maxLength: 3 })
      .map((coordinates) => ({ type: 'MultiPoint' as const, coordinates })),
    fc.uniqueArray(position, { minLength: 2, maxLength: 4, selector: String }).map((points) => line(...points)),
    triangle.map((corners) => polygon(corners)),
    holed,
  )
}

const anyGeometry = fc.oneof(anySimple(gridPosition), anySimple(freePosition))

test('the predicate and PostGIS agree on what intersects', async () => {
  // Without lines: PostGIS joins the parts of a collection, and splits lines where they cross, not quite on the line.
  const collection = anyGeometry
    .filter(({ type }) => type !== 'LineString')
    .map((geometry): Geometry => ({ type: 'GeometryCollection', geometries: [geometry, point(50, 50)] }))
  const place = fc.option(fc.oneof({ weight: 8, arbitrary: anyGeometry }, collection), { freq: 20 })
  const places = fc.array(place, { minLength: 30, maxLength: 30 })
  const operands = fc.array(anyGeometry, { minLength: 40, maxLength: 40 })
  const property = fc.asyncProperty(places, operands, async (rows, areas) => {
    await storePlaces(db, rows)
    const inputs = areas.map((area) => ({ degrees: { $intersects: area } }))
    const expected = await answersFor(db, inputs)
    inputs.forEach((input, index) => {
      const predicate = filterPredicate(parseFilter(input, spatialAttributes))
      rows.forEach((degrees, id) => {
        const answer = String(predicate({ degrees }))
        assert.equal(answer, expected[index]?.[id], JSON.stringify([input, degrees]))
      })
    })
  })
  await fc.assert(property, { numRuns, endOnFailure: true })
})

const isHoled = (geometry: Geometry): boolean => geometry.type === 'Polygon' && geometry.coordinates.length > 1

const multi = (a: Geometry, b: Geometry): Geometry =>
  a.type === 'Polygon' && b.type === 'Polygon'
    ? { type: 'MultiPolygon', coordinates: [a.coordinates, b.coordinates] }
    : a

test('the predicate and PostGIS agree on what is within, also of overlapping parts', async () => {
  // Collections are of areas alone: GEOS errs where a point beside an area lies on the other's corner.
  // Parts overlap at right angles alone: the corners that PostGIS makes elsewhere are not quite on the edges.
  const large = fc
    .tuple(gridPosition, gridPosition)
    .filter(([a, b]) => a[0] !== b[0] && a[1] !== b[1])
    .map((ends) => extentOf(ends))
    .map(({ west, south, east, north }) => polygon(ring(west, south, east, north)))
  const areas = fc.oneof(large, anySimple(gridPosition).filter(isHoled))
  const overlapping = fc.tuple(areas, areas).map(([a, b]) => multi(a, b))
  const collection = fc.tuple(areas, areas).map((geometries): Geometry => ({ type: 'GeometryCollection', geometries }))
  const any = fc.oneof({ weight: 4, arbitrary: anyGeometry }, large, large, overlapping, collection)
  const places = fc.array(fc.option(any, { freq: 20 }), { minLength: 40, maxLength: 40 })
  const operands = fc.array(any, { minLength: 60, maxLength: 60 })
  const found = { true: 0, false: 0, null: 0 }
  const property = fc.asyncProperty(places, operands, async (rows, shapes) => {
    await storePlaces(db, [...rows, ...shapes])
    const inputs = shapes.map((shape) => ({ degrees: { $within: shape } }))
    const expected = await answersFor(db, inputs)
    inputs.forEach((input, index) => {
      const predicate = filterPredicate(parseFilter(input, spatialAttributes))
      for (const [id, degrees] of [...rows, ...shapes].entries()) {
        const answer = String(predicate({ degrees })) as keyof typeof found
        assert.equal(answer, expected[index]?.[id], JSON.stringify([input, degrees]))
        found[answer]++
      }
    })
  })
  await fc.assert(property, { numRuns, endOnFailure: true })
  assert.ok(
    found.true > 100 * numRuns && found.false > 100 * numRuns && found.null > 10 * numRuns,
    JSON.stringify(found),
  )
})

/** Steps from one corner of a square to the other: edges in a row along the grid, and a hole along its upper side. */
function stairs(steps: number, [x, y]: Position): Geometry {
  const outer: Position[] = [[x, y]]
  for (let step = 0; step < steps; step++) outer.push([x + step + 1, y + step], [x + step + 1, y + step + 1])
  return polygon([...outer, [x, y + steps], [x, y]], ring(x + 1, y + steps - 2, x + 3, y + steps - 1))
}

/** As many corners round a middle, none two of them equally far from it. */
function jagged(corners: number, [x, y]: Position): Position[] {
  return Array.from({ length: corners }, (_, index): Position => {
    const [angle, reach] = [(2 * Math.PI * index) / corners, 3 + ((index * 7919) % corners) / corners]
    return [Number((x + reach * Math.cos(angle)).toFixed(6)), Number((y + reach * Math.sin(angle)).toFixed(6))]
  })
}

const closed = (corners: readonly Position[]): Geometry => polygon([...corners, corners[0] ?? [0, 0]])

test('the predicate and PostGIS agree on polygons of hundreds of edges, and on what shares edges with them', async () => {
  const outline = jagged(400, [5, 5])
  const stair = stairs(60, [0, 0])
  const operands = [closed(outline), stair, multi(stair, stairs(60, [-60, -60])), line(...outline)]
  const grid = [0, 1, 2, 10.5, 11, 30, 57, 58, 59, 60, 61]
  const rows: Geometry[] = [
    ...operands,
    // Slices from the middle to the outline, which share some of its edges; without the middle some are outside.
    ...[3, 40, 200].flatMap((count) => [
      closed([[5, 5], ...outline.slice(9, 9 + count)]),
      closed(outline.slice(9, 9 + count)),
    ]),
    line(...outline.slice(20, 90)),
    line([5, 5], outline[7] ?? [0, 0]),
    ...outline.slice(0, 40).map((at) => point(...at)),
    ...grid.flatMap((x) => grid.map((y) => point(x, y))),
    ...grid.flatMap((x) => grid.map((y) => polygon(ring(x, y, x + 1, y + 1)))),
    ...grid.map((x) => line([x, x], [x, 60])),
    { type: 'MultiPolygon', coordinates: grid.map((x) => [ring(x, x + 2, x + 1, x + 3)]) },
  ]
  await storePlaces(db, rows)
  const inputs = operands.flatMap((area) => [{ degrees: { $within: area } }, { degrees: { $intersects: area } }])
  const expected = await answersFor(db, inputs)
  const found = { true: 0, false: 0 }
  inputs.forEach((input, index) => {
    const predicate = filterPredicate(parseFilter(input, spatialAttributes))
    for (const [id, degrees] of rows.entries()) {
      const answer = String(predicate({ degrees })) as keyof typeof found
      assert.equal(answer, expected[index]?.[id], JSON.stringify([Object.keys(input.degrees), index, degrees]))
      found[answer]++
    }
  })
  assert.ok(found.true > 300 && found.false > 300, JSON.stringify(found))
})

test('a box meets what touches it, in every reference system', async () => {
  await storePlaces(db, [point(8, 50), point(9, 51), point(9.5, 50.5), line([7, 49], [10, 52]), null])
  for (const { name } of spatialColumns) {
    const [whole, far, world] = await answersFor(db, [
      { [name]: { $bbox: [7.99, 49.99, 9.01, 51.01] } },
      { [name]: { $bbox: '20,49,21,51' } },
      { [name]: { $bbox: '[-180,-90,180,90]' } },
    ])
    assert.deepEqual(whole, ['true', 'true', 'false', 'true', 'null'], name)
    assert.deepEqual(far, ['false', 'false', 'false', 'false', 'null'], name)
    assert.deepEqual(world, ['true', 'true', 'true', 'true', 'null'], name)
  }
})

test('a box crosses the antimeridian, and may be a line or a point', async () => {
  const rows = [point(179, 0), point(-179, 0), point(0, 0), point(180, 5)]
  await storePlaces(db, rows)
  const expected: [unknown, string[]][] = [
    [
      [170, -10, -170, 10],
      ['true', 'true', 'false', 'true'],
    ],
    [
      [170, -10, 190, 10],
      ['true', 'true', 'false', 'true'],
    ],
    [
      [-190, -10, -170, 10],
      ['true', 'true', 'false', 'true'],
    ],
    [
      [0, -10, 360, 10],
      ['true', 'true', 'true', 'true'],
    ],
    [
      [0, 0, 0, 0],
      ['false', 'false', 'true', 'false'],
    ],
    [
      [0, -1, 0, 1],
      ['false', 'false', 'true', 'false'],
    ],
    [
      [178, 0, 180, 0],
      ['true', 'false', 'false', 'false'],
    ],
  ]
  for (const [box, matches] of expected) {
    const input = { degrees: { $bbox: box } }
    const predicate = filterPredicate(parseFilter(input, spatialAttributes))
    assert.deepEqual(
      rows.map((degrees) => String(predicate({ degrees }))),
      matches,
      JSON.stringify(box),
    )
    assert.deepEqual(await answersFor(db, [input]), [matches], JSON.stringify(box))
  }
})

test('$within is inside, not on the edge; broken polygons are no error on either side', async () => {
  const bowTie = polygon([
    [8, 50],
    [9, 51],
    [9, 50],
    [8, 51],
    [8, 50],
  ])
  const overlapping: Geometry = {
    type: 'MultiPolygon',
    coordinates: [[ring(8, 50, 9, 51)], [ring(8.5, 50.5, 9.5, 51.5)]],
  }
  const collection: Geometry = { type: 'GeometryCollection', geometries: [overlapping, bowTie, line([8, 50], [9, 51])] }
  await storePlaces(db, [
    collection,
    point(8.7, 50.7),
    point(8, 50),
    bowTie,
    overlapping,
    line([8.1, 50.1], [9.4, 51.4]),
    null,
  ])
  for (const { name } of spatialColumns) {
    const [around, edge, broken, meets, box] = await answersFor(db, [
      { [name]: { $within: polygon(ring(7, 49, 10, 52)) } },
      { [name]: { $within: polygon(ring(8, 50, 10, 52)) } },
      { [name]: { $within: overlapping } },
      { [name]: { $intersects: collection } },
      { [name]: { $bbox: [8.2, 50.2, 8.9, 50.9] } },
    ])
    assert.deepEqual(around, ['true', 'true', 'true', 'true', 'true', 'true', 'null'], name)
    assert.equal(edge?.[1], 'true', name)
    if (name === 'degrees') assert.deepEqual(edge?.[2], 'false')
    assert.deepEqual([broken?.[1], broken?.[5]], ['true', 'true'], name)
    assert.deepEqual(meets, ['true', 'true', 'true', 'true', 'true', 'true', 'null'], name)
    assert.deepEqual(box, ['true', 'true', 'false', 'true', 'true', 'true', 'null'], name)
  }
})

test('the spatial operators use the index of the column', async () => {
  const area = polygon([
    [8, 50],
    [9, 50],
    [8.5, 51],
    [8, 50],
  ])
  const operators = [
    { $bbox: [8, 50, 9, 51] },
    { $intersects: area },
    { $within: area },
    { $dwithin: { geometry: area, distance: 10 } },
  ]
  for (const { name } of spatialColumns) {
    for (const operator of operators) {
      // A geography is compared with a shape as geometry, which its index does not serve.
      if (name === 'sphere' && !('$dwithin' in operator)) continue
      const filter = spatialFilterSql({ [name]: operator })
      const plan = await db.transaction(async (tx) => {
        await tx.query(sql`SET LOCAL enable_seqscan = off`)
        return tx.query(sql`EXPLAIN SELECT id FROM places WHERE ${filter}`)
      })
      assert.match(JSON.stringify(plan), /Index Cond: \(\(?/, `${name} ${JSON.stringify(operator)}`)
    }
  }
})
