import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { testFolder } from '../../../../../driver-duckdb/testing/folder.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'

// One database is enough: rows of DuckDB do not pass the platform’s database.

/** The same rows in PostGIS and in GeoParquet: every query answers alike. */
const columns = [
  { name: 'id', postgres: 'int8', duckdb: 'BIGINT' },
  { name: 'name', postgres: 'text', duckdb: 'VARCHAR' },
  { name: 'n', postgres: 'int4', duckdb: 'INTEGER' },
  { name: 'price', postgres: 'numeric(30, 10)', duckdb: 'DECIMAL(30, 10)' },
  { name: 'd', postgres: 'float8', duckdb: 'DOUBLE' },
  { name: 'flag', postgres: 'bool', duckdb: 'BOOLEAN' },
  { name: 'day', postgres: 'date', duckdb: 'DATE' },
  { name: 'at', postgres: 'timestamptz', duckdb: 'TIMESTAMPTZ' },
  { name: 'local', postgres: 'timestamp', duckdb: 'TIMESTAMP' },
  { name: 'clock', postgres: 'time', duckdb: 'TIME' },
  { name: 'code', postgres: 'uuid', duckdb: 'UUID' },
  { name: 'tags', postgres: 'text[]', duckdb: 'VARCHAR[]' },
  { name: 'nums', postgres: 'int8[]', duckdb: 'BIGINT[]' },
  { name: 'doc', postgres: 'json', duckdb: 'JSON' },
  { name: 'geom', postgres: 'geometry(Geometry, 4326)', duckdb: "GEOMETRY('OGC:CRS84')" },
  { name: 'pt', postgres: 'geometry(Point, 4326)', duckdb: "GEOMETRY('OGC:CRS84')" },
]

type Row = readonly (string | null)[]
const uuid = (n: number): string => `3fa85f64-5717-4562-b3fc-${String(n).padStart(12, '0')}`
const rows: readonly Row[] = [
  row(
    1,
    'Aachen',
    1,
    '1.5',
    '0.1',
    'true',
    '2026-01-31',
    '2026-01-31 10:00:00.5+00',
    '10:00',
    ['a', 'b'],
    [1, 2],
    '{"a": 1, "b": [1, 2]}',
    'POINT(6.08 50.77)',
    'POINT(6.08 50.77)',
  ),
  row(
    2,
    'aachen',
    2,
    '12345678901234567890.0123456789',
    'NaN',
    'false',
    '0001-01-01',
    '2000-01-01 00:00:00+00',
    '23:59:59.999999',
    [],
    [],
    '{"b": [1, 2], "a": 1}',
    'LINESTRING(6 50, 8 52)',
    'POINT(179.5 10)',
  ),
  row(
    3,
    '50%_\\',
    2,
    '-0.0000000001',
    'Infinity',
    null,
    '9999-12-31',
    '9999-12-31 23:59:59.999999+00',
    '00:00',
    ['x', 'a,b"c'],
    [9007199254740993n],
    '{"x": {"a": 1}}',
    'POLYGON((6 46, 6 48, 9 48, 9 46, 6 46), (7 46.5, 8 46.5, 8 47, 7 47, 7 46.5))',
    'POINT(-179.5 -10)',
  ),
  row(
    4,
    'Ærø ß 😀',
    null,
    null,
    '-1e300',
    'true',
    null,
    null,
    null,
    null,
    null,
    null,
    'MULTIPOLYGON(((10 50, 12 50, 12 52, 10 50)), ((0 0, 1 0, 1 1, 0 0)))',
    null,
  ),
  row(
    5,
    '',
    -7,
    '1.2345678',
    '0.30000000000000004',
    'false',
    '2024-02-29',
    '2024-02-29 12:00:00.000001+00',
    '12:00:00.25',
    ['a'],
    [-3],
    '[]',
    null,
    'POINT(7 50)',
  ),
  row(
    6,
    null,
    2147483647,
    '99999999999999999999.9999999999',
    '5e-324',
    null,
    '1970-01-01',
    '1970-01-01 00:00:00+00',
    '01:02:03',
    ['b', 'a'],
    [2, 1],
    '"text"',
    'GEOMETRYCOLLECTION(POINT(6 46), LINESTRING(6 46, 6 47))',
    'POINT(6.5 50.5)',
  ),
  row(
    7,
    'diagonal',
    3,
    '0',
    '2.5',
    'true',
    '2026-06-01',
    '2026-06-01 00:00:00+00',
    '06:00',
    ['c'],
    [5],
    '1',
    'LINESTRING(20 40, 30 50)',
    'POINT(0 0)',
  ),
  row(8, 'later', 4, '1', '1', 'true', 'infinity', 'infinity', '07:00', [], [], '2', 'POLYGON EMPTY', null),
  row(
    9,
    'earlier',
    4,
    '1',
    '1',
    'true',
    '-infinity',
    '-infinity',
    '07:00',
    [],
    [],
    '2',
    'GEOMETRYCOLLECTION EMPTY',
    null,
  ),
]
function row(
  id: number,
  name: string | null,
  n: number | null,
  price: string | null,
  d: string | null,
  flag: string | null,
  day: string | null,
  at: string | null,
  clock: string | null,
  tags: readonly string[] | null,
  nums: readonly (number | bigint)[] | null,
  doc: string | null,
  geom: string | null,
  pt: string | null,
): Row {
  const list = (items: readonly unknown[] | null) => items && JSON.stringify(items.map(String))
  return [
    String(id),
    name,
    n === null ? null : String(n),
    price,
    d,
    flag,
    day,
    at,
    at?.replace('+00', '') ?? null,
    clock,
    uuid(id),
    list(tags),
    list(nums),
    doc,
    geom,
    pt,
  ]
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

function postgresValue(cell: string | null, type: string): string {
  if (cell === null) return 'NULL'
  if (type.startsWith('geometry')) return `ST_GeomFromText(${quoted(cell)}, 4326)`
  if (!type.endsWith('[]')) return `${quoted(cell)}::${type}`
  return `ARRAY[${(JSON.parse(cell) as string[]).map(quoted).join(', ')}]::${type}`
}

function duckdbValue(cell: string | null, type: string): string {
  if (cell === null) return `NULL::${type}`
  if (type.endsWith('[]')) return `[${(JSON.parse(cell) as string[]).map(quoted).join(', ')}]::${type}`
  return `${quoted(cell)}::${type}`
}

let app: TestApp
let tenant: Tenant
let directory: string
let files: string
let database: { id: string }
const datasets = { postgres: '', duckdb: '' }

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-duckdb-'))
  app = await testApp({ DATA_DIR: directory })
  tenant = await app.tenant('files')
  files = join(directory, 'files', tenant.id)
  await mkdir(join(files, 'data'), { recursive: true })
  await writeParquet()
  await createTable()
  const made = await call('POST', '/api/v1/databases', { body: { type: 'duckdb', name: 'Files', db: 'data' } })
  assert.equal(made.status, 201, made.text)
  database = made.body
  datasets.postgres = await datasetOf({ source: 'places' })
  datasets.duckdb = await datasetOf({ source: 'places', databaseId: database.id })
})
after(async () => {
  await app.close()
  await rm(directory, { recursive: true, force: true })
})

async function datasetOf(given: object): Promise<string> {
  const reply = await call('POST', '/api/v1/datasets', { body: { type: 'table', name: 'places', ...given } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

async function writeParquet(): Promise<void> {
  const selects = rows.map(
    (cells) =>
      `SELECT ${cells.map((cell, at) => `${duckdbValue(cell, columns[at]?.duckdb ?? '')} AS "${columns[at]?.name}"`).join(', ')}`,
  )
  await testFolder({ after: () => {} }).run(
    "SET TimeZone = 'UTC'",
    `COPY (${selects.join(' UNION ALL ')}) TO '${join(files, 'data', 'places.parquet')}' (FORMAT parquet, GEOPARQUET_VERSION 'BOTH')`,
  )
}

async function createTable(): Promise<void> {
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  const declared = columns.map(({ name, postgres }) => `"${name}" ${postgres}`).join(', ')
  const values = rows.map(
    (cells) => `(${cells.map((cell, at) => postgresValue(cell, columns[at]?.postgres ?? '')).join(', ')})`,
  )
  await app.db.script(`
    CREATE TABLE ${schema}.places (${declared});
    INSERT INTO ${schema}.places VALUES ${values.join(', ')};
    GRANT SELECT ON ${schema}.places TO ${schema};`)
}

async function both(query: object, parameters = ''): Promise<[unknown, unknown]> {
  const answers = await Promise.all(
    [datasets.postgres, datasets.duckdb].map(async (id) => {
      const reply = await call('POST', `/api/v1/datasets/${id}/query${parameters}`, { body: query })
      return reply.status === 200 ? (reply.body ?? reply.text) : { status: reply.status, detail: reply.body?.detail }
    }),
  )
  return answers as [unknown, unknown]
}

async function alike(query: object, parameters?: string): Promise<unknown> {
  const [expected, actual] = await both(query, parameters)
  assert.deepEqual(actual, expected, JSON.stringify({ query, parameters }))
  assert.ok(typeof expected === 'string' || !('status' in (expected as object)), JSON.stringify({ query, expected }))
  return expected
}

describe('the same rows in PostGIS and in GeoParquet', () => {
  const box = [5, 45, 9, 51]
  const triangle = {
    type: 'Polygon',
    coordinates: [
      [
        [19, 49],
        [19, 51],
        [21, 51],
        [19, 49],
      ],
    ],
  }
  const filters: readonly object[] = [
    {},
    { name: 'Aachen' },
    { name: { $ne: 'Aachen' } },
    { name: null },
    { name: { $gt: 'a' } },
    { name: { $in: ['', 'aachen', 'Ærø ß 😀'] } },
    { name: { $notIn: ['aachen'] } },
    { name: { $in: [] } },
    { name: { $like: '50\\%\\_\\\\' } },
    { name: { $like: '%a%' } },
    { name: { $iLike: 'AACHEN' } },
    { name: { $notILike: '%A%' } },
    { name: { $startsWith: '50%_\\' } },
    { name: { $endsWith: '\\' } },
    { name: { $substring: '_' } },
    { n: { $gte: 2 } },
    { n: { $between: [1, 2] } },
    { n: { $notBetween: [1, 2] } },
    { price: '1.2345678' },
    { price: { $gt: '12345678901234567890.0123456788' } },
    { price: { $lt: '1e-5' } },
    { price: { $in: ['1.5', '0'] } },
    { d: 0.1 },
    { d: { $gt: 2 } },
    { flag: { $is: true } },
    { flag: { $ne: true } },
    { day: { $lt: '2024-02-29' } },
    { at: { $gte: '2026-01-31T10:00:00.5Z' } },
    { local: { $lt: '2026-01-31T10:00:00.5Z' } },
    { clock: { $gt: '12:00' } },
    { code: uuid(3) },
    { code: { $gt: uuid(3) } },
    { tags: { $eq: ['a', 'b'] } },
    { tags: { $contains: ['a'] } },
    { tags: { $overlap: ['c', 'a,b"c'] } },
    { nums: { $contains: ['9007199254740993'] } },
    { day: { $gt: '9999-12-31' } },
    { at: { $lt: '0001-01-01T00:00:00Z' } },
    { doc: { $eq: { a: 1, b: [1, 2] } } },
    { doc: { $contains: { a: 1 } } },
    { doc: { $ne: { a: 1, b: [1, 2] } } },
    { geom: null },
    { geom: { $bbox: box } },
    { pt: { $bbox: box } },
    { pt: { $bbox: [170, -20, -170, 20] } },
    { $not: { geom: { $bbox: box } } },
    { $not: { pt: { $bbox: box } } },
    { geom: { $intersects: triangle } },
    { geom: { $intersects: { type: 'Point', coordinates: [7.5, 46.75] } } },
    { geom: { $within: [5, 45, 10, 55] } },
    { pt: { $within: triangle } },
    { pt: { $dwithin: { point: [6, 50.7], distance: 30_000 } } },
    { geom: { $dwithin: { point: [13, 51], distance: 90_000 } } },
    { pt: { $dwithin: { point: [-179.9, -10], distance: 100_000 } } },
    { $or: [{ geom: { $bbox: box } }, { name: 'diagonal' }] },
    { $and: [{ pt: { $bbox: box } }, { n: 1 }] },
    { $or: [{ doc: { $contains: { a: 1 } } }, { n: -7 }] },
  ]

  test('are filtered alike by every operator', async () => {
    for (const where of filters) await alike({ attributes: ['id'], where, order: ['id'] })
  })

  test('are filtered alike by CQL2', async () => {
    const cql2 = [
      "name = 'Aachen' OR n BETWEEN 2 AND 2.5",
      "CASEI(name) = CASEI('AACHEN')",
      "ACCENTI(CASEI(name)) LIKE ACCENTI('aero%')",
      'n * 2 > id',
      'NOT (n * 2 > id)',
      'd + 1 < n AND flag',
      'n = id',
      "at >= DATE('2026-01-31') AND T_BEFORE(day, TIMESTAMP('2026-02-01T00:00:00Z'))",
      "at > local AND name <> 'x'",
      "A_CONTAINEDBY(tags, ('a', 'b'))",
      "NOT A_EQUALS(tags, ('b', 'a'))",
      '(n > 1) IS NULL',
      'S_DISJOINT(geom, BBOX(5,45,9,51))',
      'S_TOUCHES(geom, LINESTRING(6 46,6 48)) OR S_CROSSES(geom, LINESTRING(6 52,8 50))',
      'S_CONTAINS(geom, POINT(6.5 47)) OR S_EQUALS(geom, pt)',
      'S_WITHIN(pt, BBOX(170,-20,-170,20))',
    ]
    for (const filter of cql2) {
      const query = `attributes=id&sort=id&filter-lang=cql2-text&filter=${encodeURIComponent(filter)}`
      const ask = (id: string) => call('GET', `/api/v1/datasets/${id}/query?${query}`)
      const [expected, actual] = [await ask(datasets.postgres), await ask(datasets.duckdb)]
      assert.equal(expected.status, 200, expected.text)
      assert.deepEqual(actual.body, expected.body, filter)
    }
  })

  test('are counted, grouped and summed up alike', async () => {
    for (const where of filters)
      await alike({ attributes: ['count(*) as rows', 'min(name)', 'max(clock)', 'sum(n)', 'extent(geom)'], where })
    for (const where of filters.filter((filter) => !/geom|doc|pt/.test(JSON.stringify(filter))))
      await alike({ attributes: ['count(*) as rows', 'max(at)', 'min(at)', 'min(day)', 'max(local)'], where })
    await alike({
      attributes: ['n', 'count(*) as rows', 'count(distinct name) as names', 'max(price)', 'min(day)'],
      group: ['n'],
      order: ['n'],
    })
    await alike({
      attributes: ['flag', 'sum(n) as total', 'avg(n) as mean'],
      group: ['flag'],
      where: { geom: { $bbox: box } },
      order: ['-flag'],
    })
    await alike({ attributes: ['count(distinct tags) as lists', 'sum(price)'] })
  })

  test('are sorted, cut and picked alike', async () => {
    for (const { name } of columns.slice(0, 11)) {
      const others = name === 'id' ? [] : ['id']
      await alike({ attributes: [name, ...others], order: [name, ...others] })
      await alike({ attributes: ['id'], order: [`-${name}`, ...others], limit: 3, offset: 1 })
    }
    await alike({ attributes: ['n', 'id'], distinct: ['n'], order: ['n', '-id'] })
    await alike({ attributes: ['id'], where: { geom: { $bbox: box } }, order: ['-id'], limit: 1, offset: 1 })
    await alike({ attributes: ['n', 'id'], where: { geom: { $bbox: box } }, distinct: ['n'], order: ['n', '-id'] })
  })

  test('have the same values in every format', async () => {
    await alike({ order: ['id'] })
    await alike({ order: ['id'], where: { geom: { $bbox: [-180, -90, 180, 90] } } })
    await alike({ order: ['id'] }, '?format=csv')
    await alike({ order: ['id'], attributes: ['id', 'name', 'geom'] }, '?format=geojson')
    await alike({
      order: ['id'],
      attributes: ['id', 'at', 'local', 'clock'],
      where: { geom: { $bbox: box } },
      distinct: ['id'],
    })
  })

  test('are equally far away, the nearest first', async () => {
    const answers = await both({ attributes: ['id'], nearest: { attribute: 'pt', point: [7, 50] }, limit: 4 })
    const [expected, actual] = answers as { id: number; distance: number }[][]
    assert.deepEqual(
      actual?.map(({ id }) => id),
      expected?.map(({ id }) => id),
    )
    for (const [index, { distance }] of (actual ?? []).entries()) {
      assert.ok(Math.abs(distance - (expected?.[index]?.distance ?? 0)) < 0.01, String(distance))
    }
  })

  test('have the same statistics and totals', async () => {
    for (const name of ['name', 'n', 'd', 'day', 'geom']) {
      const [expected, actual] = await Promise.all(
        [datasets.postgres, datasets.duckdb].map(
          async (id) => (await call('GET', `/api/v1/datasets/${id}/attributes/${name}/statistics`)).body,
        ),
      )
      assert.deepEqual(actual, expected, name)
    }
    const replies = await Promise.all(
      [datasets.postgres, datasets.duckdb].map((id) =>
        call('GET', `/api/v1/datasets/${id}/query?count=exact&limit=2&filter[n]=2`),
      ),
    )
    assert.deepEqual(
      replies.map(({ headers }) => headers['x-total-count']),
      ['2', '2'],
    )
  })

  test('make the same tiles', async () => {
    for (const tile of ['0/0/0', '6/33/21', '8/132/85']) {
      const [expected, actual] = await Promise.all(
        [datasets.postgres, datasets.duckdb].map(
          async (id) => (await call('GET', `/tiles/${id}/${tile}.geojson`)).body?.features,
        ),
      )
      const names = (features: { properties: { id: number } }[]) =>
        features.map(({ properties }) => properties.id).toSorted()
      assert.deepEqual(names(actual), names(expected), tile)
    }
  })
})

describe('a database of type duckdb', () => {
  test('is listed among the drivers, works, and lists its files as tables', async () => {
    const { body: drivers } = await call('GET', '/api/v1/databases/drivers')
    assert.ok(drivers.includes('duckdb'))
    const tried = await call('POST', `/api/v1/databases/${database.id}/test`)
    assert.equal(tried.body.ok, true, tried.text)
    const { body: tables } = await call('GET', `/api/v1/databases/${database.id}/tables`)
    const [places] = tables.filter(({ name }: { name: string }) => name === 'places')
    assert.deepEqual(
      [places.rows, places.geometryColumn, places.srid, places.comment, places.datasetId],
      [rows.length, 'geom', 4326, 'places.parquet', datasets.duckdb],
    )
  })

  test('names a folder of the application, and nothing beyond it', async () => {
    await symlink('/etc', join(files, 'etc'))
    await symlink('/etc/passwd', join(files, 'data', 'passwd.csv'))
    for (const db of ['', '..', '../other', '/etc', 'data/../..', 'data\\..', '.hidden']) {
      const reply = await call('POST', '/api/v1/databases', { body: { type: 'duckdb', name: 'x', db } })
      assert.equal(reply.status, 400, db)
      assert.match(reply.body.detail, /body\/db: must be a folder/, db)
    }
    for (const db of ['etc', 'absent']) {
      const made = await call('POST', '/api/v1/databases', { body: { type: 'duckdb', name: 'x', db } })
      const tried = await call('POST', `/api/v1/databases/${made.body.id}/test`)
      assert.equal(tried.body.ok, false, tried.text)
      assert.match(tried.body.error.message, /There is no folder/)
    }
    const { body: tables } = await call('GET', `/api/v1/databases/${database.id}/tables`)
    assert.ok(!tables.some(({ name }: { name: string }) => name === 'passwd'))
  })

  test('has datasets of SQL with parameters, which read its tables and nothing else', async () => {
    const source = 'SELECT id, name, geom, n * :factor AS scaled FROM places WHERE name LIKE :like OR price > :least'
    const metadata = {
      parameters: [
        { name: 'factor', type: 'integer' },
        { name: 'like' },
        { name: 'least', type: 'number', default: '1e25' },
      ],
    }
    const id = await datasetOf({ type: 'sql', source, metadata, databaseId: database.id })
    const reply = await call('GET', `/api/v1/datasets/${id}/query?factor=10&like=A%25&attributes=id,scaled&sort=id`)
    assert.deepEqual(reply.body, [{ id: 1, scaled: 10 }], reply.text)
    const near = await call(
      'GET',
      `/api/v1/datasets/${id}/query?factor=1&like=%25&attributes=id&filter[geom][$bbox]=5,45,9,51&sort=id`,
    )
    assert.deepEqual(
      near.body.map((one: { id: number }) => one.id),
      [1, 2, 3],
      near.text,
    )
    for (const refused of [
      "SELECT * FROM '/etc/passwd'",
      "SELECT * FROM read_csv('/etc/passwd')",
      'DROP TABLE places',
      'SELECT 1; SELECT 2',
      'SELECT * FROM absent',
      'SELECT nothing FROM places',
    ]) {
      const body = { type: 'sql', name: 'x', source: refused, databaseId: database.id }
      const { status, body: problem } = await call('POST', '/api/v1/datasets', { body })
      assert.equal(status, 400, refused)
      assert.doesNotMatch(problem.detail, /graticule-duckdb-/)
    }
  })

  test('publishes its tables, explains queries, and refuses tables that it does not have', async () => {
    await writeFile(join(files, 'data', 'towns.csv'), 'id,name\n1,a\n2,b\n')
    const published = await call('POST', `/api/v1/databases/${database.id}/publish`, { body: {} })
    assert.equal(published.status, 200, published.text)
    const towns = published.body.published.find(({ table }: { table: string }) => table === 'main.towns')
    const { body } = await call('GET', `/api/v1/datasets/${towns.datasetId}/query?sort=-id`)
    assert.deepEqual(body, [
      { id: 2, name: 'b' },
      { id: 1, name: 'a' },
    ])
    const explained = await call('GET', `/api/v1/datasets/${datasets.duckdb}/query?explain=true&filter[n]=2`)
    assert.equal(explained.status, 200, explained.text)
    assert.ok(!explained.text.includes(directory))
    const absent = await call('POST', '/api/v1/datasets', {
      body: { type: 'table', name: 'x', source: 'plases', databaseId: database.id },
    })
    assert.equal(absent.status, 400)
    assert.match(absent.body.detail, /Did you mean "places"/)
  })
})
