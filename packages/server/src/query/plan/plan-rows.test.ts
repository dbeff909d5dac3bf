import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { testDatabase } from '../../../testing/database.ts'
import type { Db } from '../../kernel/db/db.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { maxRows, planBatches } from '../execution/plan-rows.ts'
import { planSql } from '../execution/plan-sql.ts'
import { postgresSql } from '../execution/postgres-sql.ts'
import type { ValueRow } from '../filter/expression-value.ts'
import type { Attribute, Attributes } from '../values/attribute.ts'
import { type PlanColumn, parsePlan, type QueryRequest } from './plan.ts'

// One database is enough: plans in memory are compared with their SQL; datasets/differential.test.ts sends plans to both.

const list: readonly Attribute[] = [
  { name: 'id', type: 'integer' },
  { name: 'name', type: 'string' },
  { name: 'kind', type: 'string' },
  { name: 'pop', type: 'integer' },
  { name: 'area', type: 'number' },
  { name: 'open', type: 'boolean' },
  { name: 'at', type: 'datetime' },
  { name: 'tags', type: 'array' },
  { name: 'more', type: 'json' },
  { name: 'geometry', type: 'geometry' },
]
const attributes: Attributes = new Map(list.map((attribute) => [attribute.name, attribute]))
const cellsOf = (...given: Parameters<typeof planBatches>) => [...planBatches(...given)].flat()
const run = (query: QueryRequest, rows: Iterable<ValueRow>) =>
  cellsOf(parsePlan(query, attributes), rows, { geometry: 'geojson' })

const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] })

test('values become cells in the canonical form of their type; what is not of its type is null', () => {
  const row = {
    id: '9007199254740993',
    name: 'a',
    pop: 1.5,
    area: '+.50',
    open: true,
    at: '2024-02-29T01:00:00+01:00',
    tags: ['a', null],
    more: { b: [1] },
    geometry: { ...point(1, 2), extra: 1 },
  }
  assert.deepEqual(run({}, [row]), [
    [
      ...['9007199254740993', 'a', null, null, '0.50', 'true', '2024-02-29T00:00:00.000000Z'],
      ...['["a",null]', '{"b":[1]}', '{"type":"Point","coordinates":[1,2]}'],
    ],
  ])
  assert.deepEqual(run({}, [{ tags: 'a', geometry: 'POINT(1 2)', open: 'x', at: 5 }]), [Array(10).fill(null)])
})

test('only rows of which the filter is true pass: unknown does not', () => {
  const rows = [
    { id: 1, pop: 5 },
    { id: 2, pop: null },
    { id: 3, pop: 50 },
  ]
  assert.deepEqual(run({ attributes: ['id'], where: { pop: { $gt: 10 } } }, rows), [['3']])
  assert.deepEqual(run({ attributes: ['id'], where: { $not: { pop: { $gt: 10 } } } }, rows), [['1']])
})

test('text is sorted by code point, nulls come last in both directions, equal rows keep their order', () => {
  const names = ['b', null, 'B', '\u{1F600}', '\uFF5E', 'é', 'b']
  const rows = names.map((name, id) => ({ id, name }))
  const ids = (order: string) =>
    run({ attributes: ['id'], order: [order] }, rows)
      .map(([id]) => id)
      .join('')
  assert.equal(ids('name'), '2065431')
  assert.equal(ids('-name'), '3450621')
})

test('groups have one row each, nulls being one group, with their aggregates', () => {
  const rows = [
    { kind: 'a', pop: 1, area: 0.5, name: 'x', geometry: point(1, 2) },
    { kind: 'a', pop: '9007199254740993', area: null, name: 'x', geometry: point(-3, 5) },
    { kind: null, pop: null, area: null },
    { pop: 2 },
  ]
  const query: QueryRequest = {
    attributes: [
      'kind',
      'count(*)',
      'count(pop)',
      'count(distinct name)',
      'sum(pop)',
      'avg(area)',
      'max(name)',
      'extent(geometry)',
    ],
    group: ['kind'],
  }
  assert.deepEqual(run(query, rows), [
    ['a', '2', '2', '1', '9007199254740994', '0.5', 'x', '[-3,2,1,5]'],
    [null, '2', '1', '0', '2', null, null, null],
  ])
})

test('groups are sorted by aggregates and by what they are grouped by', () => {
  const rows = ['b', 'a', 'c', 'c'].map((kind) => ({ kind }))
  const query: QueryRequest = { attributes: ['kind', 'count(*) as n'], group: ['kind'], order: ['-n'], limit: 2 }
  assert.deepEqual(run(query, rows), [
    ['c', '2'],
    ['a', '1'],
  ])
})

test('aggregates without a group are one row, also of no rows; groups of no rows are none', () => {
  assert.deepEqual(run({ attributes: ['count(*)', 'sum(pop)'] }, []), [['0', null]])
  assert.deepEqual(run({ attributes: ['kind', 'count(*)'], group: ['kind'] }, []), [])
})

test('distinct keeps the first row of each in the order asked for', () => {
  const rows = [{ id: 1, kind: 'b' }, { id: 2, kind: 'a' }, { id: 3, kind: 'b' }, { id: 4, kind: null }, { id: 5 }]
  assert.deepEqual(run({ attributes: ['id'], distinct: ['kind'], order: ['-id'] }, rows), [['2'], ['3'], ['5']])
})

test('a sample with a seed is repeatable, about as large as asked for, and independent of the filter', () => {
  const rows = Array.from({ length: 10_000 }, (_, id) => ({ id }))
  const draw = (seed: number, where?: unknown) =>
    run({ attributes: ['id'], where, sample: { percentage: 20, seed } }, rows).map(([id]) => Number(id))
  assert.deepEqual(draw(7), draw(7))
  assert.notDeepEqual(draw(7), draw(8))
  assert.ok(Math.abs(draw(7).length - 2_000) < 200)
  assert.deepEqual(
    draw(7, { id: { $lt: 50 } }),
    draw(7).filter((id) => id < 50),
  )
  assert.equal(run({ sample: { percentage: 100 } }, rows).length, 10_000)
})

test('more rows than the limit are refused with the limit, and are not read further', () => {
  let read = 0
  function* endless() {
    while (true) yield { id: read++ }
  }
  const isTooMany = (error: unknown) =>
    error instanceof ApiError &&
    error.code === 'too_many_rows' &&
    error.status === 413 &&
    error.message.includes('100000')
  assert.throws(() => run({}, endless()), isTooMany)
  assert.throws(() => run({}, endless()), { extensions: { limit: 100_000, limitName: 'rowsInMemory' } })
  assert.equal(read, 2 * (maxRows + 1))
})

test('geometry is WKT when asked for, heights included, and its outer rings run anticlockwise in GeoJSON', () => {
  const plan = parsePlan({ attributes: ['geometry'] }, attributes)
  const ring = [
    [0, 0],
    [0, 1],
    [1, 1],
    [0, 0],
  ]
  const wkt = (geometry: unknown) => cellsOf(plan, [{ geometry }], { geometry: 'wkt' })[0]?.[0]
  assert.equal(wkt({ type: 'Point', coordinates: [1, 2, 3] }), 'POINT Z (1 2 3)')
  assert.equal(
    wkt({
      type: 'MultiPoint',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    }),
    'MULTIPOINT((1 2),(3 4))',
  )
  assert.equal(wkt({ type: 'MultiPolygon', coordinates: [[ring]] }), 'MULTIPOLYGON(((0 0,0 1,1 1,0 0)))')
  assert.equal(
    wkt({
      type: 'LineString',
      coordinates: [
        [0, 0],
        [1, 1],
      ],
    }),
    'LINESTRING(0 0,1 1)',
  )
  assert.equal(
    wkt({ type: 'GeometryCollection', geometries: [point(1, 2), { type: 'Polygon', coordinates: [] }] }),
    'GEOMETRYCOLLECTION(POINT(1 2),POLYGON EMPTY)',
  )
  assert.equal(
    run({ attributes: ['geometry'] }, [
      { geometry: { type: 'Polygon', coordinates: [ring, ring.toReversed()] } },
    ])[0]?.[0],
    '{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,1],[0,0]],[[0,0],[0,1],[1,1],[0,0]]]}',
  )
})

let db: Db
let close: () => Promise<void>
before(async () => {
  ;({ db, close } = await testDatabase())
  const columns = 'id int8, name text, kind text, pop int8, area float8, open boolean, at timestamptz'
  await db.script(`CREATE TABLE planned (${columns}, geometry geometry(Point, 4326))`)
})
after(() => close())

const some = <T>(...values: T[]) => fc.constantFrom(...values, null)
const anyRows = fc
  .array(
    fc.record({
      name: some('a', 'B', 'é', '\uFF5E', '\u{1F600}', ''),
      kind: some('x', 'y', 'z'),
      pop: some<number | string>(1, 2, -3, '9007199254740993'),
      area: some(0.5, 2, -1.25),
      open: some(true, false),
      at: some('2024-01-01T00:00:00Z', '2023-06-01T12:00:00.5Z'),
      geometry: some(point(1, 2), point(-5, 7)),
    }),
    { maxLength: 30 },
  )
  .map((rows) => rows.map((row, id) => ({ id, ...row })))
const anyWhere = fc.constantFrom(undefined, { pop: { $gt: 1 } }, { open: true }, { kind: { $ne: 'x' } }, { name: null })
const anyOrder = fc.subarray(['name', '-pop', 'area', '-open', '-at', 'kind'])
const paging = { where: anyWhere, limit: fc.option(fc.nat(8), { nil: undefined }), offset: fc.nat(3) }
const anyQuery: fc.Arbitrary<QueryRequest> = fc.oneof(
  // Ties are broken by the key, which both sides have.
  fc.record({
    ...paging,
    order: anyOrder.map((order) => [...order, 'id']),
    attributes: fc.constant(['id', 'name', 'pop']),
  }),
  fc.record({
    ...paging,
    order: fc.constantFrom(['-id'], ['id']),
    distinct: fc.constantFrom(['pop'], ['open', 'area']),
    attributes: fc.constant(['id', 'pop', 'open']),
  }),
  fc.record({
    ...paging,
    group: fc.constantFrom(['kind'], ['kind', 'open']),
    order: fc.constantFrom(['-n'], ['kind'], ['sum_pop', '-kind']),
    attributes: fc.constant([
      'kind',
      'count(*) as n',
      'sum(pop)',
      'count(distinct name)',
      'max(at)',
      'extent(geometry)',
    ]),
  }),
)

/** As cells are written; the formats of the answer are not at stake here. */
function render({ type }: PlanColumn, value: Sql): Sql {
  const utc = sql`to_char(${value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
  return type === 'datetime' ? utc : sql`(${value})::text`
}

test('SQL and memory answer the same plan alike', async () => {
  const relation = { from: sql`planned`, isTable: true, key: [list[0] as Attribute] }
  const property = fc.asyncProperty(
    anyRows,
    fc.array(anyQuery, { minLength: 20, maxLength: 20 }),
    async (rows, queries) => {
      await db.query(sql`TRUNCATE planned`)
      await db.query(sql`
      INSERT INTO planned SELECT id, name, kind, pop, area, open, at, ST_GeomFromGeoJSON(geometry)
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS
        r (id int8, name text, kind text, pop int8, area float8, open boolean, at timestamptz, geometry jsonb)`)
      for (const query of queries) {
        const plan = parsePlan(query, attributes)
        const expected = await db.query<Record<string, string | null>>(planSql(plan, relation, postgresSql, render))
        const texts = expected.map((row) => plan.columns.map(({ name }) => row[name] ?? null))
        const isTidy = (cells: (string | null)[]) =>
          cells.map((cell) => (cell === '[null,null,null,null]' ? null : cell))
        assert.deepEqual(cellsOf(plan, rows, { geometry: 'geojson' }), texts.map(isTidy), JSON.stringify([query, rows]))
      }
    },
  )
  await fc.assert(property, { numRuns: 15, endOnFailure: true })
})
