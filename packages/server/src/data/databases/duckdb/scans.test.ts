import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { bboxCovering, geoParquet, testFolder } from '../../../../../driver-duckdb/testing/folder.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'

// One database is enough: rows of DuckDB do not pass the platform’s database.

/** Points along the equator, a line that is on both sides of the date line, a row without a geometry. */
const rows = `
  SELECT range AS id, ('POINT(' || (range - 180) || ' ' || (range % 7 - 3) || ')')::GEOMETRY AS geom FROM range(361)
  UNION ALL SELECT 1000, 'LINESTRING(-179 1, 179 1)'::GEOMETRY UNION ALL SELECT 1001, NULL`
const boxes = `
  SELECT id, ST_AsWKB(geom) AS geom, CASE WHEN id = 1000 THEN {xmin: -179::FLOAT, ymin: 1::FLOAT, xmax: 179::FLOAT, ymax: 1::FLOAT}
    WHEN id < 1000 THEN {xmin: (id - 180)::FLOAT, ymin: (id % 7 - 3)::FLOAT, xmax: (id - 180)::FLOAT, ymax: (id % 7 - 3)::FLOAT} END AS bbox
  FROM (${rows})`

let app: TestApp
let tenant: Tenant
const datasets = { plain: '', covered: '', native: '', text: '' }
const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

before(async () => {
  app = await testApp()
  tenant = await app.tenant('scans')
  const data = join(app.dataDirectory, 'files', tenant.id, 'data')
  await mkdir(data, { recursive: true })
  await testFolder({ after: () => {} }).run(
    `COPY (${rows}) TO '${join(data, 'plain.parquet')}' (FORMAT parquet, GEOPARQUET_VERSION 'V1')`,
    `COPY (${rows}) TO '${join(data, 'native.parquet')}' (FORMAT parquet, GEOPARQUET_VERSION 'BOTH')`,
    geoParquet(join(data, 'covered.parquet'), boxes, { geometry_types: [], covering: bboxCovering }),
  )
  const { body: database } = await call('POST', '/api/v1/databases', {
    body: { type: 'duckdb', name: 'Files', db: 'data' },
  })
  const sources = { plain: 'plain', covered: 'covered', native: 'native', text: 'SELECT * FROM covered' }
  for (const [name, source] of Object.entries(sources)) {
    const type = name === 'text' ? 'sql' : 'table'
    const made = await call('POST', '/api/v1/datasets', { body: { type, name, source, databaseId: database.id } })
    assert.equal(made.status, 201, made.text)
    datasets[name as keyof typeof datasets] = made.body.id
  }
})
after(() => app.close())

const across = { geom: { $bbox: [170, -2, -170, 2] } }
const filters: readonly object[] = [
  across,
  { geom: { $dwithin: { point: [179.9, 0], distance: 500_000 } } },
  { $and: [{ id: { $gt: 3 } }, { $and: [across, { id: { $lt: 355 } }] }] },
  { $and: [across, { geom: { $bbox: [175, -90, -175, 90] } }] },
  { $or: [across, { id: 100 }] },
  { $or: [across, { geom: { $bbox: [0, -90, 2, 90] } }] },
  { $not: across },
  { geom: { $bbox: [0, -2, 10, 2] } },
  { geom: { $within: [170, -2, -170, 2] } },
]

test('a filter across the date line keeps each row once, however the file is read', async () => {
  for (const where of filters) {
    const asked = [
      { attributes: ['id'], where, order: ['id'] },
      { attributes: ['id'], where, order: ['-id'], limit: 3, offset: 1 },
      { attributes: ['count(*) as rows', 'sum(id) as total'], where },
    ]
    for (const body of asked) {
      const answers = Object.values(datasets).map(
        async (id) => (await call('POST', `/api/v1/datasets/${id}/query`, { body })).body,
      )
      const [expected, ...others] = await Promise.all(answers)
      assert.ok(Array.isArray(expected) && expected.length > 0, JSON.stringify([body, expected]))
      for (const other of others) assert.deepEqual(other, expected, JSON.stringify(body))
    }
  }
})

test('only a table whose row groups can be skipped by their boxes is read twice', async () => {
  const isUnion = async (id: string, where: object): Promise<boolean> => {
    const { text } = await call('POST', `/api/v1/datasets/${id}/query?explain=true`, { body: { where } })
    return /"UNION/.test(text)
  }
  for (const [name, id] of Object.entries(datasets)) {
    assert.equal(await isUnion(id, { geom: { $bbox: [0, -2, 10, 2] } }), false, name)
    assert.equal(await isUnion(id, across), name === 'covered' || name === 'native', name)
  }
})

test('a tile at the edge of the world has each feature once, however the file is read', async () => {
  const idsIn = async (id: string) => {
    const { body } = await call('GET', `/tiles/${id}/3/0/4.geojson`)
    return body.features.map(({ properties }: { properties: { id: number } }) => properties.id).sort()
  }
  const expected = await idsIn(datasets.plain)
  assert.ok(expected.length > 10)
  for (const name of ['covered', 'native'] as const) assert.deepEqual(await idsIn(datasets[name]), expected, name)
})
