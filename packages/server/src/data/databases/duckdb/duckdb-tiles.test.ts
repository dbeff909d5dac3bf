import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { bboxCovering, geoParquet, testFolder } from '../../../../../driver-duckdb/testing/folder.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { sql } from '../../../kernel/db/sql.ts'

// One database is enough: rows are read by DuckDB; where its record is stored does not matter.

type Feature = { properties: Record<string, unknown>; geometry: { type: string; coordinates: number[] } }

const most = 200

/** PROJJSON, as far as it matters here. */
const utm32 = { type: 'ProjectedCRS', name: 'ETRS89 / UTM zone 32N', id: { authority: 'EPSG', code: 25832 } }
const metres = `SELECT i AS id, {xmin: i * 1000.0, ymin: 5500000.0, xmax: i * 1000.0, ymax: 5500000.0} AS bbox,
    ST_AsWKB(('POINT(' || i * 1000 || ' 5500000)')::GEOMETRY) AS geom
  FROM range(100, 1000, 100) t(i)`

/** The nearest float to 0.1 is larger than it. */
const floats = `SELECT i AS id, {xmin: c::FLOAT, ymin: c::FLOAT, xmax: c::FLOAT, ymax: c::FLOAT} AS bbox,
    ST_AsWKB(('POINT(' || c || ' ' || c || ')')::GEOMETRY) AS geom
  FROM (SELECT i, i * 0.1 AS c FROM range(1, 5) t(i))`

/** Each larger than the one before it. */
const areas = `SELECT i AS id, bbox,
    ST_AsWKB(('POLYGON((' || xmin || ' ' || ymin || ',' || xmax || ' ' || ymin || ',' || xmax || ' ' || ymax || ',' || xmin || ' ' || ymin || '))')::GEOMETRY) AS geom
  FROM (SELECT i, unnest(bbox), bbox FROM (
    SELECT i, {xmin: i % 50 + 0.0, ymin: i // 50 + 0.0, xmax: i % 50 + 0.001 * i, ymax: i // 50 + 0.001 * i} AS bbox
    FROM range(1, 1001) t(i)))`

let app: TestApp
let tenant: Tenant
let directory: string
let databaseId: string

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-duckdb-tiles-'))
  app = await testApp({ DATA_DIR: directory, TILE_MAX_FEATURES: String(most) })
  tenant = await app.tenant('files')
  const data = join(directory, 'files', tenant.id, 'data')
  await mkdir(data, { recursive: true })
  const point = (x: string, y: string) => `('POINT(' || ${x} || ' ' || ${y} || ')')::GEOMETRY('OGC:CRS84') AS geom`
  const copy = (file: string, select: string): string =>
    `COPY (${select}) TO '${join(data, file)}' (FORMAT parquet, GEOPARQUET_VERSION 'BOTH')`
  await testFolder({ after: () => {} }).run(
    // From west to east, so that the first rows are all in the west.
    copy(
      'sorted.parquet',
      `SELECT i AS id, ${point('i * 20.0 / 5000 - 10', '(i * 37 % 100) / 10.0 - 5')} FROM range(5000) t(i)`,
    ),
    copy('alike.parquet', `SELECT 1 AS id, ${point('1', '1')} FROM range(1000)`),
    copy(
      'few.parquet',
      `SELECT i AS id, i % 2 = 0 AS even, 'n' || i AS name, i / 4 AS quarter, NULL::INTEGER AS nothing, json_object('a', i) AS doc, ${point('i', 'i')} FROM range(5) t(i)`,
    ),
    geoParquet(join(data, 'floats.parquet'), floats, { geometry_types: ['Point'], covering: bboxCovering }),
    geoParquet(join(data, 'utm.parquet'), metres, { geometry_types: ['Point'], covering: bboxCovering, crs: utm32 }),
    geoParquet(join(data, 'areas.parquet'), areas, { geometry_types: ['Polygon'], covering: bboxCovering }),
  )
  await writeFile(join(data, 'cases.csv'), 'a,A\n1,2\n')
  const made = await call('POST', '/api/v1/databases', { body: { type: 'duckdb', name: 'Files', db: 'data' } })
  databaseId = made.body.id
})
after(async () => {
  await app.close()
  await rm(directory, { recursive: true, force: true })
})

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

async function datasetOf(source: string): Promise<string> {
  const reply = await call('POST', '/api/v1/datasets', { body: { type: 'table', name: source, source, databaseId } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

async function tileOf(id: string, tile: string): Promise<{ features: Feature[]; counts: unknown; etag: unknown }> {
  const reply = await call('GET', `/tiles/${id}/${tile}`)
  assert.equal(reply.status, 200, reply.text)
  return { features: reply.body.features, counts: reply.headers['x-tile-features'], etag: reply.headers.etag }
}

describe('GeoParquet in another reference system', () => {
  test('is filtered, answered and drawn in degrees', async () => {
    const id = await datasetOf('utm')
    const places = await call('GET', `/api/v1/datasets/${id}/query?sort=id&filter[geom][$bbox]=8.5,49,9.5,50`)
    const [first, ...others] = places.body as { id: number; geom: { coordinates: number[] } }[]
    assert.deepEqual([first?.id, others.length], [500, 0], places.text)
    const [place] = await app.db.query<{ x: number; y: number }>(sql`
      SELECT ST_X(p) AS x, ST_Y(p) AS y FROM ST_Transform(ST_SetSRID(ST_MakePoint(500000, 5500000), 25832), 4326) p`)
    const isThere = ([x = 0, y = 0]: number[]) =>
      Math.abs(x - (place?.x ?? 0)) < 0.001 && Math.abs(y - (place?.y ?? 0)) < 0.001
    assert.ok(isThere(first?.geom.coordinates ?? []), places.text)
    const { features } = await tileOf(id, '8/134/87.geojson')
    const drawn = features.filter(({ properties }) => properties.id === 500)
    assert.ok(drawn.length === 1 && isThere(drawn[0]?.geometry.coordinates ?? []), JSON.stringify(features))
  })
})

test('boxes of FLOAT in a file are compared as they are, and leave out no row that the query’s box touches', async () => {
  const id = await datasetOf('floats')
  const box = 'filter[geom][$bbox]=0.05,0.05,0.1,0.1'
  const { body } = await call('GET', `/api/v1/datasets/${id}/query?attributes=id&${box}`)
  assert.deepEqual(body, [{ id: 1 }])
  const { text } = await call('GET', `/api/v1/datasets/${id}/query?attributes=id&${box}&explain=true`)
  assert.match(text, /xmin/)
  assert.doesNotMatch(text, /CAST\([^)]*bbox/)
})

test('attributes whose names differ only in case are two, and each has its own values', async () => {
  const id = await datasetOf('cases')
  const { body } = await call('GET', `/api/v1/datasets/${id}/query`)
  assert.deepEqual(body, [{ a: 1, A_1: 2 }])
})

describe('rows of files counted by cell', () => {
  const sum = (cells: readonly Record<string, number>[], name: string) =>
    cells.reduce((total, cell) => total + (cell[name] ?? 0), 0)

  test('are all of them, in queries and in tiles', async () => {
    for (const [source, rows] of [
      ['sorted', 5_000],
      ['areas', 1_000],
      ['utm', 9],
    ] as const) {
      const id = await datasetOf(source)
      for (const aggregate of ['h3:2', 'grid:6']) {
        const query = `aggregate=${aggregate}&value=sum(id)`
        const { body } = await call('GET', `/api/v1/datasets/${id}/query?${query}`)
        assert.equal(sum(body, 'count'), rows, source)
        const { features } = await tileOf(id, `0/0/0.geojson?${query}`)
        const drawn = features.map(({ properties }) => properties as Record<string, number>)
        const known = body.map(({ geometry: _, ...cell }: Record<string, unknown>) => cell)
        assert.deepEqual(drawn, known, source)
      }
    }
  })

  test('around a tile are asked for by box, and as in all rows', async () => {
    const id = await datasetOf('sorted')
    const { body } = await call('GET', `/api/v1/datasets/${id}/query?aggregate=h3:4&value=avg(id)`)
    const known = new Map(body.map(({ geometry: _, ...cell }: Record<string, unknown>) => [cell.cell, cell]))
    const { features } = await tileOf(id, '6/31/31.geojson?aggregate=h3:auto&value=avg(id)')
    assert.ok(features.length > 10)
    for (const { properties } of features) assert.deepEqual(properties, known.get(properties.cell))
  })
})

describe('a tile of a file', () => {
  test('that cannot show all points shows some from everywhere, always the same', async () => {
    const { features, counts, etag } = await tileOf(await datasetOf('sorted'), '0/0/0.geojson')
    assert.ok(features.length > most / 2 && features.length <= most, String(features.length))
    assert.equal(counts, `${features.length}/5000`)
    const longitudes = features.map(({ geometry }) => geometry.coordinates[0] ?? 0)
    for (const west of [-10, -5, 0, 5]) {
      const inFourth = longitudes.filter((x) => x >= west && x < west + 5)
      assert.ok(inFourth.length > most / 16, `${inFourth.length} from ${west}`)
    }
    assert.equal((await tileOf(await datasetOf('sorted'), '0/0/0.geojson')).etag, etag)
  })

  test('shows some of the rows that are all alike, which stand for the others', async () => {
    const { features, counts } = await tileOf(await datasetOf('alike'), '0/0/0.geojson')
    assert.ok(features.length >= most / 4 && features.length <= most, String(features.length))
    assert.equal(counts, `${features.length}/1000`)
    assert.equal(sum(features.map(({ properties }) => Number(properties.svc_count))), 1000)
  })

  test('that cannot show all areas shows the large ones before the small', async () => {
    const { features } = await tileOf(await datasetOf('areas'), '3/4/3.geojson')
    const ids = features.map(({ properties }) => Number(properties.id))
    assert.ok(ids.length <= most, String(ids.length))
    // From a degree on they are wider than two pixels at this zoom, and from half of one wider than one.
    const [large, small] = [ids.filter((id) => id > 500).length, ids.filter((id) => id <= 100).length]
    assert.ok(large > 4 * small, `${large} large, ${small} small`)
  })

  test('has the values of a query, also under filters that the engine cannot test', async () => {
    const id = await datasetOf('few')
    const { features } = await tileOf(id, '0/0/0.geojson')
    assert.deepEqual(
      features.map(({ properties }) => properties),
      [0, 1, 2, 3, 4].map((i) => ({ id: i, even: i % 2 === 0, name: `n${i}`, quarter: i / 4, doc: `{"a":${i}}` })),
    )
    for (const filter of ['filter[even][$is]=true', 'filter[name][$in]=n0,n2,n4']) {
      const { features: some } = await tileOf(id, `0/0/0.geojson?${filter}`)
      assert.deepEqual(
        some.map(({ properties }) => properties.id),
        [0, 2, 4],
        filter,
      )
    }
    const contains = encodeURIComponent(JSON.stringify({ doc: { $contains: { a: 3 } } }))
    const { features: one } = await tileOf(id, `0/0/0.geojson?filter=${contains}`)
    assert.deepEqual(
      one.map(({ properties }) => properties.id),
      [3],
    )
  })
})
