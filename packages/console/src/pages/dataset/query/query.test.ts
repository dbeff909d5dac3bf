import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatasetAttribute } from '../dataset.ts'
import { parametersOf } from './parameters.ts'
import { readPlan } from './plan-tree.ts'
import { queryText, queryWords, readQuery, withLimit } from './query-text.ts'
import { boundsOf, columnsOf, featuresOf } from './result/result.ts'
import { sqlDiagnostic } from './sql-fault.ts'

const attribute = (name: string, type: DatasetAttribute['type'], primaryKey = false): DatasetAttribute => ({
  name,
  type,
  primaryKey,
  dbType: type,
  nullable: true,
  description: '',
})
const attributes = [
  attribute('id', 'integer', true),
  attribute('name', 'string'),
  attribute('population', 'integer'),
  attribute('geom', 'geometry'),
]

test('a query that names what the dataset does not have is marked at that place before it is sent', () => {
  const places = (text: string) => readQuery(text, attributes).diagnostics.map(({ path }) => path)
  assert.deepEqual(readQuery('', attributes), { query: {}, diagnostics: [] })
  assert.deepEqual(
    places('{"where": {"population": {"$gte": 5}, "$or": [{"name": "a"}, {"geom": {"$bbox": []}}]}}'),
    [],
  )
  assert.deepEqual(
    places('{"attributes": ["name as n", "count(*) as rows", "sum(population)", "count(distinct name)"]}'),
    [],
  )
  assert.deepEqual(places('{"where": {"nme": 1, "$not": {"$or": [{"x": 1}]}}, "group": ["y"], "foo": 1}'), [
    ...['foo', 'group/0', 'where/nme', 'where/$not/$or/0/x'],
  ])
  assert.deepEqual(places('{"where": {"name": {"$bbox": []}, "geom": {"$gt": 1}}}'), [
    'where/name/$bbox',
    'where/geom/$gt',
  ])
  assert.deepEqual(places('{"attributes": ["median(population)", "sum(x)", 3]}'), [
    ...['attributes/0', 'attributes/1', 'attributes/2'],
  ])
  assert.equal(readQuery('{"where": }', attributes).query, undefined)
  assert.equal(readQuery('[]', attributes).query, undefined)
})

test('a query is written with each part on its line', () => {
  assert.equal(queryText({ where: { a: 1 }, limit: 2 }), '{\n  "where": { "a": 1 },\n  "limit": 2\n}')
})

test('the smaller limit counts, and attributes and operators are offered', () => {
  assert.equal(withLimit({}, 1000).limit, 1000)
  assert.equal(withLimit({ limit: 5 }, 1000).limit, 5)
  assert.equal(withLimit({ limit: 5000 }, 1000).limit, 1000)
  const labels = queryWords(attributes).map(({ label }) => label)
  for (const word of ['population', 'where', '$dwithin', '$or', 'count(']) assert.ok(labels.includes(word), word)
})

test('the parameters of a dataset are found in its source, and in its metadata with type and default', () => {
  const source = "SELECT ':no' -- :no\n FROM t WHERE a > :min AND b = :b::int AND c[1:n] = 1 AND d = :min"
  const metadata = { parameters: [{ name: 'min', type: 'integer', default: 3 }, { name: 'unused' }] }
  assert.deepEqual(
    parametersOf({ type: 'sql', source, metadata }).map(({ name, type, isRequired, preset }) => [
      ...[name, type, isRequired, preset],
    ]),
    [
      ['min', 'integer', false, '3'],
      ['b', 'string', true, ''],
    ],
  )
  const rest = { type: 'rest', source: 'https://x.org/{city}?a={a}', metadata: {} } as const
  assert.deepEqual(
    parametersOf(rest).map(({ name }) => name),
    ['city', 'a'],
  )
})

test('a complaint about SQL is shown at its line and column, or at the word that it names', () => {
  const shown = (sql: string, message: string) => {
    const { from = 0, to = 0 } = sqlDiagnostic(sql, message)
    return sql.slice(from, to)
  }
  assert.equal(shown('SELECT id\nFRM cities', 'syntax error at or near "cities", line 2, column 5'), 'cities')
  assert.equal(shown('SELECT id, nme\nFROM x', 'column "nme" does not exist'), 'nme')
  assert.equal(shown('SELECT a.nme FROM x a', 'column "a.nme" does not exist. Perhaps "a.name"'), 'nme')
  assert.equal(shown('SELECT (', 'syntax error at end of input, line 1, column 9'), '(')
  assert.equal(shown('SELECT 1', 'is not possible'), 'SELECT 1')
})

test('a plan becomes steps with their share of the cost, and advice where a large table is read whole', () => {
  const scan = { 'Node Type': 'Seq Scan', 'Relation Name': 'roads', 'Total Cost': 20_000, 'Plan Rows': 10 }
  const plan = (filter: string) => [
    {
      Plan: {
        'Node Type': 'Limit',
        'Total Cost': 20_000,
        'Plan Rows': 3,
        Plans: [
          {
            'Node Type': 'Sort',
            'Total Cost': 25_000,
            'Plan Rows': 10,
            'Sort Key': ['population DESC'],
            Plans: [{ ...scan, Filter: filter }],
          },
        ],
      },
    },
  ]
  const { steps, totalCost } = readPlan(plan('(q.population > 5)'), attributes)
  assert.equal(totalCost, 20_000)
  assert.deepEqual(
    steps.map(({ title, depth, share }) => [title, depth, share]),
    [
      ['Limit', 0, 0],
      ['Sort', 1, 0.25],
      ['Seq Scan on roads', 2, 1],
    ],
  )
  assert.match(steps[2]?.hint ?? '', /CREATE INDEX ON roads \(population\)/)
  assert.deepEqual(steps[1]?.details, [{ label: 'sorts by', text: 'population DESC' }])
  assert.match(readPlan(plan('st_intersects(q.geom, x)'), attributes).steps[2]?.hint ?? '', /USING gist \(geom\)/)
  const small = readPlan([{ Plan: { ...scan, 'Total Cost': 100, Filter: 'x' } }], attributes)
  assert.equal(small.steps[0]?.hint, undefined)
  assert.match(readPlan({ source: 'rest', evaluation: 'in memory' }, attributes).note ?? '', /rest .*in memory/)
  assert.equal(readPlan([{ Plan: { 'Node Type': 'Result' } }], attributes).steps[0]?.cost, undefined)
})

test('rows become columns with their types, and features within their bounds', () => {
  const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] })
  const rows = [
    { name: 'a', population: null, rows: 3, geom: point(1, 2) },
    { name: 'b', population: '9007199254740993', rows: 4, geom: null },
    { name: 'c', population: 1, rows: 5, geom: point(-3, 5) },
  ]
  assert.deepEqual(
    columnsOf(rows, attributes).map(({ name, type }) => [name, type]),
    [
      ['name', 'string'],
      ['population', 'integer'],
      ['rows', 'number'],
      ['geom', 'geometry'],
    ],
  )
  const features = featuresOf(rows, 'geom')
  assert.deepEqual(
    features.features.map(({ id, properties }) => [id, properties?.name]),
    [
      [0, 'a'],
      [2, 'c'],
    ],
  )
  assert.deepEqual(boundsOf(features), [-3, 2, 1, 5])
  assert.equal(boundsOf({ type: 'FeatureCollection', features: [] }), undefined)
  assert.equal(columnsOf([{ name: point(0, 0) }], attributes)[0]?.type, 'geometry')
})
