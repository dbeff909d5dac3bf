import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc, { type Arbitrary } from 'fast-check'
import type { Db } from '../db/db.ts'
import { ident, joinSql, type Sql, sql } from '../db/sql.ts'
import { testDatabase } from '../testing/database.ts'
import type { Attribute, Attributes } from './attribute.ts'
import { parseFilter } from './filter.ts'
import { filterPredicate } from './filter-predicate.ts'
import { filterSql } from './filter-sql.ts'
import type { Geometry, Position } from './geojson.ts'

/** The same places in columns of several reference systems: degrees, metres of the web's maps, UTM zone 32, a sphere. */
const columns: readonly Attribute[] = [
  { name: 'degrees', type: 'geometry', srid: 4326 },
  { name: 'bare', type: 'geometry', srid: 0 },
  { name: 'mercator', type: 'geometry', srid: 3857 },
  { name: 'utm', type: 'geometry', srid: 25832 },
  { name: 'sphere', type: 'geometry', geography: true },
]
const attributes: Attributes = new Map(columns.map((attribute) => [attribute.name, attribute]))
const column = ({ name }: Attribute): Sql => ident(name)

let db: Db
let close: () => Promise<void>

before(async () => {
  ;({ db, close } = await testDatabase())
  await db.query(sql`
    CREATE TABLE places (
      id int PRIMARY KEY, degrees geometry(Geometry, 4326), bare geometry, mercator geometry(Geometry, 3857),
      utm geometry(Geometry, 25832), sphere geography)`)
  for (const { name } of columns) await db.query(sql`CREATE INDEX ON places USING gist (${ident(name)})`)
})

after(() => close())

async function store(places: readonly (Geometry | null)[]): Promise<void> {
  await db.query(sql`TRUNCATE places`)
  await db.query(sql`
    INSERT INTO places
    SELECT n, g, ST_SetSRID(g, 0), ST_Transform(g, 3857),
      CASE WHEN g && ST_MakeEnvelope(-20, 20, 40, 80, 4326) THEN ST_Transform(g, 25832) END, g::geography
    FROM (
      SELECT n, ST_SetSRID(ST_GeomFromGeoJSON(NULLIF(place, 'null')), 4326) AS g
      FROM unnest(${places.map((place) => JSON.stringify(place))}::text[]) WITH ORDINALITY AS t (place, n)
    ) AS read`)
}

/** For each filter, the answer for each place. */
async function answers(inputs: readonly unknown[]): Promise<string[][]> {
  const expressions = inputs.map((input, index) => {
    const filter = filterSql(parseFilter(input, attributes), column)
    return sql`array_agg(coalesce(${filter}::text, 'null') ORDER BY id) AS ${ident(`f${index}`)}`
  })
  const [row] = await db.transaction(async (tx) => {
    // PostgreSQL thinks that so many costly functions are worth compiling, for seconds, also for thirty rows.
    await tx.query(sql`SET LOCAL jit = off`)
    return tx.query<Record<string, string[]>>(sql`SELECT ${joinSql(expressions, ', ')} FROM places`)
  })
  return inputs.map((_, index) => row?.[`f${index}`] ?? [])
}

const point = (lon: number, lat: number): Geometry => ({ type: 'Point', coordinates: [lon, lat] })
const line = (...coordinates: Position[]): Geometry => ({ type: 'LineString', coordinates })
const polygon = (...coordinates: Position[][]): Geometry => ({ type: 'Polygon', coordinates })
const ring = (west: number, south: number, east: number, north: number): Position[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

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
  // Parts that lie apart: PostGIS joins those that overlap, and thereby moves their edges a little.
  const collection = anyGeometry.map(
    (geometry): Geometry => ({ type: 'GeometryCollection', geometries: [geometry, point(50, 50)] }),
  )
  const place = fc.option(fc.oneof({ weight: 8, arbitrary: anyGeometry }, collection), { freq: 20 })
  const places = fc.array(place, { minLength: 30, maxLength: 30 })
  const operands = fc.array(anyGeometry, { minLength: 40, maxLength: 40 })
  const property = fc.asyncProperty(places, operands, async (rows, areas) => {
    await store(rows)
    const inputs = areas.map((area) => ({ degrees: { $intersects: area } }))
    const expected = await answers(inputs)
    inputs.forEach((input, index) => {
      const predicate = filterPredicate(parseFilter(input, attributes))
      rows.forEach((degrees, id) => {
        const answer = String(predicate({ degrees }))
        assert.equal(answer, expected[index]?.[id], JSON.stringify([input, degrees]))
      })
    })
  })
  await fc.assert(property, { numRuns: 10, endOnFailure: true })
})

test('a box meets what touches it, in every reference system', async () => {
  await store([point(8, 50), point(9, 51), point(9.5, 50.5), line([7, 49], [10, 52]), null])
  for (const { name } of columns) {
    const [whole, far, world] = await answers([
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
  await store(rows)
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
    const predicate = filterPredicate(parseFilter(input, attributes))
    assert.deepEqual(
      rows.map((degrees) => String(predicate({ degrees }))),
      matches,
      JSON.stringify(box),
    )
    assert.deepEqual(await answers([input]), [matches], JSON.stringify(box))
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
  await store([point(8.7, 50.7), point(8, 50), bowTie, overlapping, collection, line([8.1, 50.1], [9.4, 51.4]), null])
  for (const { name } of columns) {
    const [around, edge, broken, meets] = await answers([
      { [name]: { $within: polygon(ring(7, 49, 10, 52)) } },
      { [name]: { $within: polygon(ring(8, 50, 10, 52)) } },
      { [name]: { $within: overlapping } },
      { [name]: { $intersects: collection } },
    ])
    assert.deepEqual(around, ['true', 'true', 'true', 'true', 'true', 'true', 'null'], name)
    assert.equal(edge?.[0], 'true', name)
    if (name === 'degrees') assert.deepEqual(edge?.[1], 'false')
    assert.deepEqual([broken?.[0], broken?.[5]], ['true', 'true'], name)
    assert.deepEqual(meets, ['true', 'true', 'true', 'true', 'true', 'true', 'null'], name)
  }
})

test('$dwithin is a distance along the ellipsoid, in metres, in every reference system', async () => {
  await store([point(9, 50), point(9, 50.01), line([8.9, 50.02], [9.1, 50.02]), point(10, 50), null])
  for (const { name } of columns) {
    const near = (distance: unknown) => ({ [name]: { $dwithin: { point: [9, 50], distance } } })
    const operand = { geometry: line([9, 50.01], [9.1, 50.01]), distance: 1200 }
    const results = await answers([near(0), near('1112'), near(1113), near(71_600), { [name]: { $dwithin: operand } }])
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
      await store(rows)
      // A geography has no boxes: it is measured as it is.
      const expected = await answers(operands.map((near) => ({ sphere: { $dwithin: near } })))
      for (const name of ['degrees', 'bare', 'mercator']) {
        const actual = await answers(operands.map((near) => ({ [name]: { $dwithin: near } })))
        actual.forEach((answer, index) => {
          const isLine = operands[index]?.geometry.type === 'LineString'
          const measured = rows.map((row) => !isLine || row.type === 'Point')
          const lost = rows.filter((_, id) => measured[id] && answer[id] !== expected[index]?.[id])
          assert.equal(JSON.stringify(lost), '[]', `${name} ${JSON.stringify([lost, operands[index]])}`)
        })
      }
    },
  )
  await fc.assert(property, { numRuns: 5, endOnFailure: true })
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
  for (const { name } of columns) {
    for (const operator of operators) {
      // A geography is compared with a shape as geometry, which its index does not serve.
      if (name === 'sphere' && !('$dwithin' in operator)) continue
      const filter = filterSql(parseFilter({ [name]: operator }, attributes), column)
      const plan = await db.transaction(async (tx) => {
        await tx.query(sql`SET LOCAL enable_seqscan = off`)
        return tx.query(sql`EXPLAIN SELECT id FROM places WHERE ${filter}`)
      })
      assert.match(JSON.stringify(plan), /Index Cond: \(\(?/, `${name} ${JSON.stringify(operator)}`)
    }
  }
})
