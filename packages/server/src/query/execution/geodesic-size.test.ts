import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { testDatabase } from '../../../testing/database.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { parsePlan } from '../plan/plan.ts'
import type { Attribute, Attributes } from '../values/attribute.ts'
import { planBatches } from './plan-rows.ts'
import { planSql } from './plan-sql.ts'
import { postgresSql } from './postgres-sql.ts'

// One database is enough: sizes in memory are compared with those of PostGIS; datasets/differential.test.ts asks both
// for sizes.

let db: Db
let close: () => Promise<void>
before(async () => {
  ;({ db, close } = await testDatabase())
})
after(() => close())

const box = (west: number, south: number, east: number, north: number) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
const line = [
  [13.4, 52.5, 0],
  [11.6, 48.1, 9_000],
]
const shapes: Record<string, object> = {
  degree: { type: 'Polygon', coordinates: [box(0, 0, 1, 1)] },
  clockwise: { type: 'Polygon', coordinates: [box(5, 50, 6, 51).toReversed()] },
  hole: { type: 'Polygon', coordinates: [box(10, 40, 14, 44), box(11, 41, 12, 42)] },
  antimeridian: { type: 'Polygon', coordinates: [box(179, -20, 181, -18)] },
  pole: { type: 'Polygon', coordinates: [box(-170, 80, 170, 89)] },
  'beyond the pole': { type: 'Polygon', coordinates: [box(3, 80, 9, 95)] },
  parts: { type: 'MultiPolygon', coordinates: [[box(0, 0, 1, 1)], [box(3, 3, 4, 4)]] },
  line: { type: 'LineString', coordinates: line },
  lines: { type: 'MultiLineString', coordinates: [line, line] },
  point: { type: 'Point', coordinates: [1, 2] },
  empty: { type: 'MultiPolygon', coordinates: [] },
  collection: {
    type: 'GeometryCollection',
    geometries: [
      { type: 'Polygon', coordinates: [box(0, 0, 1, 1)] },
      { type: 'LineString', coordinates: line },
      { type: 'Point', coordinates: [1, 2] },
    ],
  },
}
const columns: readonly Attribute[] = [
  { name: 'geom', type: 'geometry', srid: 4326 },
  { name: 'round', type: 'geometry', srid: 4326, geography: true },
  { name: 'bare', type: 'geometry', srid: 0 },
]
const attributes: Attributes = new Map([...columns, { name: 'id', type: 'integer' } as const].map((a) => [a.name, a]))
const query = { attributes: columns.flatMap(({ name }) => [`area(${name})`, `length(${name})`]) }

/** The area and the length of each column, by SQL. */
async function bySql(geometries: readonly (object | null)[]): Promise<(number | null)[]> {
  const from = sql`(
    SELECT g AS geom, g::geography AS round, ST_SetSRID(g, 0) AS bare
    FROM unnest(${geometries.map((one) => one && JSON.stringify(one))}::text[]) AS text, ST_GeomFromGeoJSON(text) AS g)`
  const plan = parsePlan(query, attributes)
  const [row = {}] = await db.query(planSql(plan, { from, isTable: false, key: [] }, postgresSql, (_, value) => value))
  return plan.columns.map(({ name }) => row[name] as number | null)
}

function inMemory(geometries: readonly (object | null)[]): (number | null)[] {
  const rows = geometries.map((geom) => ({ geom, round: geom, bare: geom }))
  const [cells = []] = [...planBatches(parsePlan(query, attributes), rows, { geometry: 'geojson' })].flat()
  return cells.map((cell) => (cell === null ? null : Number(cell)))
}

const isNear = (a: number | null, b: number | null): boolean =>
  a === b || (a !== null && b !== null && Math.abs(a - b) <= 1e-8 * Math.max(a, b))

test('area and length are metres along the ellipsoid, in SQL and in memory alike', async () => {
  for (const [name, shape] of Object.entries(shapes)) {
    const [expected, actual] = [await bySql([shape]), inMemory([shape])]
    assert.ok(
      expected.every((size, index) => isNear(size, actual[index] ?? null)),
      `${name}: ${expected} in SQL, ${actual} in memory`,
    )
  }
  const [area = 0, length = 0] = inMemory([shapes.degree ?? null, shapes.line ?? null])
  assert.equal(Math.round(Number(area) / 1e6), 12_309)
  assert.equal(Math.round(Number(length) / 1e3), 506)
})

test('sizes add up; what is null has none, and of nothing there is none', async () => {
  const all = [...Object.values(shapes), null]
  const [expected, actual] = [await bySql(all), inMemory(all)]
  assert.ok(expected.every((size, index) => isNear(size, actual[index] ?? null)))
  for (const sizes of [await bySql([null]), inMemory([null]), inMemory([])])
    assert.deepEqual(sizes, Array(6).fill(null))
})

test('only a geometry has an area or a length', () => {
  for (const text of ['area(id)', 'length(id)', 'area(*)', 'length(distinct geom)']) {
    assert.throws(() => parsePlan({ attributes: [text] }, attributes), ApiError, text)
  }
})
