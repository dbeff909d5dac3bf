import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { testDatabase } from '../../../testing/database.ts'
import type { Db } from '../../kernel/db/db.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { planBatches } from '../execution/plan-rows.ts'
import { planSql } from '../execution/plan-sql.ts'
import { postgresSql } from '../execution/postgres-sql.ts'
import type { Attribute, Attributes } from '../values/attribute.ts'
import { type Nearest, nearestFirst } from './nearest.ts'
import { type PlanColumn, parsePlan, type QueryRequest } from './plan.ts'

// One database is enough: the order in memory is compared with that of PostGIS; datasets/differential.test.ts asks
// both for what is nearest.

let db: Db
let close: () => Promise<void>
before(async () => {
  ;({ db, close } = await testDatabase())
})
after(() => close())

const attributes: Attributes = new Map(
  [
    { name: 'id', type: 'integer' as const },
    { name: 'geom', type: 'geometry' as const, srid: 4326 },
  ].map((attribute): [string, Attribute] => [attribute.name, attribute]),
)

const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] })
const square = (x: number, y: number, size: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [x, y],
      [x + size, y],
      [x + size, y + size],
      [x, y + size],
      [x, y],
    ],
  ],
})
const rows = [
  { id: 1, geom: point(10, 50) },
  { id: 2, geom: square(10.1, 50.1, 0.2) },
  { id: 3, geom: null },
  { id: 4, geom: point(-179.99, 0) },
  { id: 5, geom: { type: 'LineString', coordinates: [point(9, 49).coordinates, point(9.5, 51).coordinates] } },
  { id: 6, geom: point(10.001, 50) },
  { id: 7, geom: point(10, 50) },
]

const planOf = (query: QueryRequest, nearest: Nearest) =>
  nearestFirst(parsePlan(query, attributes), nearest, attributes, 'body/nearest')

/** The same plan on a table and in memory. */
async function bothWays(query: QueryRequest, nearest: Nearest) {
  const plan = planOf(query, nearest)
  const from = sql`(SELECT (value->>'id')::int8 AS id, ST_SetSRID(ST_GeomFromGeoJSON(value->>'geom'), 4326) AS geom
    FROM jsonb_array_elements(${JSON.stringify(rows)}::jsonb))`
  const asText = (_: PlanColumn, value: Sql) => sql`(${value})::text`
  const relation = { from, isTable: false, key: [...attributes.values()].slice(0, 1) }
  const found = await db.query<Record<string, string | null>>(planSql(plan, relation, postgresSql, asText))
  const inMemory = [...planBatches(plan, rows, { geometry: 'geojson' })].flat()
  return { inSql: found.map((row) => plan.columns.map(({ name }) => row[name] ?? null)), inMemory }
}

const places: [string, Nearest][] = [
  ['a point', { point: [10, 50] }],
  ['a point across the antimeridian', { point: [179.99, 0] }],
  ['an area', { geometry: square(9.9, 49.9, 0.05) }],
  ['an area that holds others', { geometry: square(9, 49, 3) }],
]

for (const [name, nearest] of places) {
  test(`rows come nearest to ${name} first, the same from a table and from memory`, async () => {
    const { inSql, inMemory } = await bothWays({ attributes: ['id'], order: ['-id'] }, nearest)
    assert.deepEqual(
      inMemory.map(([id]) => id),
      inSql.map(([id]) => id),
    )
    for (const [index, [, distance]] of inSql.entries()) {
      const [, measured] = inMemory[index] ?? []
      assert.equal(measured === null, distance === null)
      assert.ok(Math.abs(Number(measured) - Number(distance)) < 0.01, `${measured} is not ${distance}`)
    }
    assert.deepEqual(inSql.at(-1), ['3', null], 'a row without geometry is nowhere, and last')
  })
}

test('what else is sorted by decides among rows that are equally near', async () => {
  const { inSql, inMemory } = await bothWays({ attributes: ['id'], order: ['-id'], limit: 2 }, { point: [10, 50] })
  assert.deepEqual(
    [inSql, inMemory.map(([id]) => id)],
    [
      [
        ['7', '0'],
        ['1', '0'],
      ],
      ['7', '1'],
    ],
  )
})

test('in memory the first rows are those that come first when all are measured', () => {
  const spread = (n: number) => [((n * 7919) % 360) - 180, ((n * 104_729) % 170) - 85] as const
  const many = Array.from({ length: 400 }, (_, n) => {
    const [x, y] = spread(n)
    return { id: n, geom: [null, point(x, y), square(x / 2, y / 2, 3), square(8 + (n % 40) / 20, 49, 0.01)][n % 4] }
  })
  const line = { type: 'LineString', coordinates: [point(170, 10).coordinates, point(180, -20).coordinates] }
  for (const nearest of [...places.map(([, one]) => one), { geometry: line }]) {
    const first = (limit: number, offset = 0) => {
      const plan = planOf({ attributes: ['id'], order: ['-id'], limit, offset }, nearest)
      return [...planBatches(plan, many, { geometry: 'geojson' })].flat()
    }
    // So many that all are measured.
    const all = first(20_000)
    assert.equal(all.length, 400)
    for (const [limit, offset] of [[1], [10], [10, 30], [200, 150]] as const) {
      assert.deepEqual(first(limit, offset), all.slice(offset ?? 0, (offset ?? 0) + limit))
    }
  }
})

test('a wrong place, name or combination is refused with what is allowed', () => {
  const wrong: [QueryRequest, Nearest, RegExp][] = [
    [{}, {}, /^body\/nearest: must have either point or geometry/],
    [{}, { point: [1, 2], geometry: point(1, 2) }, /^body\/nearest: must have either/],
    [{}, { point: [200, 0] }, /^body\/nearest\/point: /],
    [{}, { geometry: { type: 'Spot' } }, /^body\/nearest\/geometry: /],
    [{}, { point: [1, 2], attribute: 'id' }, /^body\/nearest\/attribute: must be one of geom/],
    [{}, { point: [1, 2], as: 'geom' }, /^body\/nearest\/as: must not be "geom", the name of another column/],
    [{}, { point: [1, 2], as: 'a\nb' }, /^body\/nearest\/as: must have/],
    [{ attributes: ['count(*)'] }, { point: [1, 2] }, /^body\/nearest: must not be combined with group/],
    [{ distinct: ['id'] }, { point: [1, 2] }, /^body\/nearest: must not be combined with group/],
  ]
  for (const [query, nearest, message] of wrong) {
    assert.throws(
      () => planOf(query, nearest),
      (error) => error instanceof ApiError && error.status === 400 && message.test(error.message),
      String(message),
    )
  }
})
