import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import fc, { type Arbitrary } from 'fast-check'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { inParallel } from '../../../testing/in-parallel.ts'
import { anyFilter, anyRow, attributes, columnTypes } from '../../../testing/requests/filter-arbitrary.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { parseFilter } from '../../query/filter/filter.ts'
import { filterPredicate } from '../../query/filter/filter-predicate.ts'
import type { AttributeType } from '../../query/values/attribute.ts'
import { canonicalText, compareValues, decodeValue, isScalarType, type Value } from '../../query/values/value.ts'

const cluster = process.env.TEST_DATABASE_URL
/** The same ones each time, unless it is --random that looks for new ones. */
const caseCount = process.env.TEST_RANDOM ? 1_000 : cluster ? 300 : 60
const path = '/api/v1/datasets'

type Row = Record<string, unknown>
type Stored = Row & { id: number }

/** Every run has other rows and cases; a failure names its own. */
const rows: readonly Stored[] = fc.sample(anyRow, 60).map((row, index) => ({ ...row, id: index + 1 }))

/** No body may have a key `constructor`, so that column has another name here. */
function renamed(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(renamed)
  if (typeof input !== 'object' || input === null) return input
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [columnOf(key), renamed(value)]))
}
const columnOf = (name: string): string => (name === 'constructor' ? 'int8' : name)

let app: TestApp
let tenant: Tenant
let schema: string
const datasets = { random: '', awkward: '', shapes: '', metric: '', mixed: '', polygons: '', multipolygons: '' }

before(async () => {
  app = await testApp()
  tenant = await app.tenant('differential')
  schema = `app_${tenant.id.replaceAll('-', '')}`
  await createRandom()
  await app.db.script(awkwardTable.replaceAll('{schema}', schema))
  await app.db.script(shapeTables.replaceAll('{schema}', schema))
  await app.db.script(`GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`)
  for (const name of Object.keys(datasets) as (keyof typeof datasets)[]) {
    const reply = await call('POST', path, { body: { type: 'table', name, source: name } })
    assert.equal(reply.status, 201, reply.text)
    datasets[name] = reply.body.id
  }
})
after(() => app.close())

async function createRandom(): Promise<void> {
  // In a real column of uuid, `token` would be no string.
  const columns = columnTypes.map(
    ({ name, sqlType }) => sql`${ident(columnOf(name))} ${raw(name === 'token' ? 'text' : sqlType)}`,
  )
  const table = ident(schema, 'random')
  await app.db.query(sql`CREATE TABLE ${table} (id int8 PRIMARY KEY, ${joinSql(columns, ', ')})`)
  await app.db.query(
    sql`INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, ${JSON.stringify(renamed(rows))}::jsonb)`,
  )
}

const awkwardTable = `
  CREATE TABLE {schema}.awkward (
    id int8 PRIMARY KEY, big int8, small int2, exact numeric, fixed numeric(40, 10), double float8, single float4,
    word text, short varchar(9), padded char(5), flag bool, day date, at timestamptz, local timestamp, clock time,
    code uuid, doc json, docb jsonb, words text[], numbers int4[], grid int4[], flags bool[], bytes bytea,
    "odd ""name"", é" text, geom geometry(Geometry, 4326));
  INSERT INTO {schema}.awkward VALUES
    (1, 9007199254740991, 1, 0.1, 1, 0.1, 0.1, '', 'a', 'a', true, '2026-01-31', '2026-01-31 10:00:00.5+00',
     '2026-01-31 10:00', '10:00', '3fa85f64-5717-4562-b3fc-2c963f66afa6', '{"b": 1,  "a": [1, null]}', '{"b": 1}',
     '{}', '{}', '{}', '{}', '', '', ST_Point(1, 2, 4326)),
    (2, 9007199254740993, -32768, 9007199254740993, 9007199254740993, 1e21, 16777217, 'a,b"c', ',', '"', false,
     '0001-01-01', '0001-01-01 00:00:00+00', '0001-01-01', '23:59:59.999999', NULL, '"text"', '"te,xt"',
     '{"", NULL, "a,b", "\\"", "null"}', '{1,NULL,-3}', '{{1,2},{3,NULL}}', '{t,f,NULL}', '\\x00ff0a', 'x', NULL),
    (3, 9223372036854775807, 0, 12345678901234567890.123456789, -0.0000000001, 5e-324, 3.4e38, E'two\\r\\nlines\\t',
     ' a ', ' ', NULL, '9999-12-31', '9999-12-31 23:59:59.999999+00', '9999-12-31 23:59:59.999999', '00:00', NULL,
     'null', 'null', NULL, NULL, NULL, NULL, decode(repeat('ab', 200), 'hex'), '=1+1', NULL),
    (4, -9223372036854775808, NULL, 1000000000000000, 100, 1.7976931348623157e308, 1e-45, U&'\\+01F600 ß \\FFEE',
     'null', NULL, NULL, '2024-02-29', '2024-02-29 12:00:00.000001+05:30', NULL, NULL, NULL, '[]', '[1e400, 1.10]',
     NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 9007199254740992, NULL, 'NaN', NULL, 'NaN', '-Infinity', '\\N', '\\.', NULL, NULL, 'infinity', '-infinity',
     'infinity', NULL, NULL, E'{"a":\\n1}', '{"é": "\\\\u0001"}', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (6, -9007199254740993, NULL, 1.50, 1.5, -0.0, '-0', ' lead', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1',
     'true', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (7, 0, NULL, 0.30000000000000004, 0, 0.30000000000000004, 0.3, 'true', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (8, 999999999999999, NULL, 1234567890123456.7, 0, 123456789012345680, 1e15, E'\\u2028', NULL, NULL, NULL, NULL,
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`

/** Outer rings run clockwise and holes counter-clockwise, against the right-hand rule; and the other way round. */
const shapes = [
  'POINT(9.5 47.25)',
  'LINESTRING(6 46, 7.123456789 46.5, 8 46)',
  'POLYGON((6 46, 6 48, 9 48, 9 46, 6 46), (7 46.5, 8 46.5, 8 47, 7 47, 7 46.5))',
  'POLYGON((6 46, 9 46, 9 48, 6 48, 6 46), (7 46.5, 7 47, 8 47, 8 46.5, 7 46.5))',
  'MULTIPOINT((6 46), (7 47))',
  'MULTILINESTRING((6 46, 7 47), (8 48, 9 47.5))',
  'MULTIPOLYGON(((6 46, 6 47, 7 47, 6 46)), ((8 46, 8 48, 10 48, 10 46, 8 46), (8.5 46.5, 9 46.5, 9 47, 8.5 46.5)))',
  'GEOMETRYCOLLECTION(POINT(6 46), POLYGON((6 46, 6 47, 7 47, 6 46)))',
]
const shapeValues = shapes.map(
  (text, index) => `(${index + 1}, 'shape ${index + 1}', ST_GeomFromText('${text}', 4326))`,
)

const shapeTables = `
  CREATE TABLE {schema}.shapes (id int8 PRIMARY KEY, name text, geom geometry(Geometry, 4326));
  INSERT INTO {schema}.shapes VALUES ${shapeValues.join(', ')}, (100, 'no shape', NULL);
  CREATE TABLE {schema}.metric (id int8 PRIMARY KEY, name text, geom geometry(Geometry, 32632));
  INSERT INTO {schema}.metric SELECT id, name, ST_Transform(geom, 32632) FROM {schema}.shapes;
  CREATE TABLE {schema}.polygons (id int8 PRIMARY KEY, name text, geom geometry(Polygon, 4326));
  INSERT INTO {schema}.polygons SELECT * FROM {schema}.shapes WHERE GeometryType(geom) = 'POLYGON';
  CREATE TABLE {schema}.multipolygons (id int8 PRIMARY KEY, name text, geom geometry(MultiPolygon, 4326));
  INSERT INTO {schema}.multipolygons SELECT * FROM {schema}.shapes WHERE GeometryType(geom) = 'MULTIPOLYGON';
  CREATE TABLE {schema}.mixed (id int8 PRIMARY KEY, name text, geom geometry);
  INSERT INTO {schema}.mixed SELECT id, name, CASE WHEN id % 2 = 0 THEN ST_Transform(geom, 32632) ELSE geom END
    FROM {schema}.shapes ORDER BY id;`

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })
const ask = async (id: string, body: object, parameters = ''): Promise<Row[]> => {
  const reply = await call('POST', `${path}/${id}/query?${parameters}`, { body })
  assert.equal(reply.status, 200, `${JSON.stringify(body)}: ${reply.text}`)
  return reply.body
}
const askIds = async (body: object, id = datasets.random): Promise<number[]> =>
  (await ask(id, { attributes: ['id'], ...body })).map((row) => Number(row.id))
const get = async (id: string, parameters: string) => {
  const reply = await call('GET', `${path}/${id}/query?${parameters}`)
  assert.equal(reply.status, 200, reply.text)
  return reply
}

/** The part of a query that is not the filter. */
type Paging = { order: string[]; limit?: number; offset?: number }

const sortable = [...attributes.values()].filter(({ type }) => isScalarType(type)).map(({ name }) => columnOf(name))
const anyTerm = fc.tuple(fc.constantFrom('', '-'), fc.constantFrom('id', ...sortable)).map((parts) => parts.join(''))
const anyPaging: Arbitrary<Paging> = fc.record(
  {
    order: fc.uniqueArray(anyTerm, { minLength: 1, maxLength: 3, selector: (term) => term.replace(/^-/, '') }),
    limit: fc.integer({ min: 0, max: 70 }),
    offset: fc.integer({ min: 0, max: 70 }),
  },
  { requiredKeys: ['order'] },
)

/** What PostgreSQL does with ORDER BY … NULLS LAST, on the rows that were stored. */
function pageOf(kept: readonly Stored[], { order, limit, offset = 0 }: Paging): number[] {
  const terms = [...order, 'id'].map((term) => ({ name: term.replace(/^-/, ''), sign: term.startsWith('-') ? -1 : 1 }))
  const compare = (a: Stored, b: Stored): number => {
    const results = terms.map(({ name, sign }) => compareCells(cellOf(a, name), cellOf(b, name), sign))
    return results.find((result) => result !== 0) ?? 0
  }
  const sorted = [...kept].sort(compare)
  return sorted.slice(offset, limit === undefined ? undefined : offset + limit).map(({ id }) => id)
}

function compareCells(a: Value | null, b: Value | null, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return sign * compareValues(a, b)
}

/** By the names of the API. */
const typesOf = new Map([
  ['id', 'integer'],
  ...[...attributes.values()].map(({ name, type }) => [columnOf(name), type]),
] as [string, AttributeType][])

function cellOf(row: Stored, name: string): Value | null {
  const type = typesOf.get(name)
  const value = row[name === 'int8' ? 'constructor' : name]
  assert.ok(type && isScalarType(type))
  const text = value === null ? undefined : canonicalText(type, value)
  return text === undefined ? null : decodeValue(type, text)
}

/** A condition in the words of the API, and the same one written by hand. */
type Pair = { where: Row; text: string }

const quote = (value: unknown): string => `'${String(value).replaceAll("'", "''")}'`
const literals: Record<string, readonly unknown[]> = {
  text: ['', 'a', 'aa', 'b', "'", '\\', '%', 'ä', '😀', 'null'],
  int4: [-3, -1, 0, 2, 3],
  int8: ['9007199254740993', '9223372036854775807', '-9223372036854775808', 0],
  float8: [0, 0.1, 0.3, 1.5, 1e21, 1.7e308],
  numeric: [0, '0.3', '0.30000000000000004', 1e21, '123456789.125'],
  date: ['0001-01-01', '2000-02-29', '2024-01-01', '9999-12-31'],
  instant: ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000001Z', '1970-01-01T00:00:00Z'],
  uuid: ['3fa85f64-5717-4562-b3fc-2c963f66afa6', '00000000-0000-0000-0000-000000000000'],
}
const comparisons = { $eq: '=', $ne: '<>', $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' }

const onColumn = fc.constantFrom(...Object.keys(literals)).chain((name): Arbitrary<Pair> => {
  const literal = fc.constantFrom(...(literals[name] ?? []))
  const column = name === 'text' ? '"text" COLLATE "C"' : `"${name}"`
  const pair = (condition: unknown, text: string): Pair => ({ where: { [name]: condition }, text: `(${text})` })
  return fc.oneof(
    fc
      .tuple(fc.constantFrom(...Object.entries(comparisons)), literal)
      .map(([[operator, symbol], value]) => pair({ [operator]: value }, `${column} ${symbol} ${quote(value)}`)),
    fc
      .array(literal, { minLength: 1, maxLength: 4 })
      .map((values) => pair({ $in: values }, `${column} IN (${values.map(quote).join(', ')})`)),
    fc
      .array(literal, { minLength: 1, maxLength: 4 })
      .map((values) => pair({ $notIn: values }, `${column} NOT IN (${values.map(quote).join(', ')})`)),
    fc
      .tuple(literal, literal)
      .map(([low, high]) => pair({ $between: [low, high] }, `${column} BETWEEN ${quote(low)} AND ${quote(high)}`)),
    fc.constantFrom(pair(null, `${column} IS NULL`), pair({ $not: null }, `${column} IS NOT NULL`)),
  )
})
const onText = fc.constantFrom<Pair>(
  { where: { text: { $startsWith: 'a' } }, text: `left("text", 1) = 'a'` },
  { where: { text: { $endsWith: '%' } }, text: `right("text", 1) = '%'` },
  { where: { text: { $substring: '_' } }, text: `strpos("text", '_') > 0` },
  { where: { text: { $substring: "'" } }, text: `strpos("text", '''') > 0` },
  { where: { text: { $like: 'a_%' } }, text: `"text" ~ '^a.+$'` },
  { where: { text: { $notLike: '%b%' } }, text: `strpos("text", 'b') = 0` },
  { where: { boolean: true }, text: '"boolean"' },
  { where: { boolean: { $ne: true } }, text: 'NOT "boolean"' },
  { where: { integers: { $contains: [1] } }, text: '"integers" @> ARRAY[1]' },
  { where: { integers: { $overlap: [1, 2] } }, text: '"integers" && ARRAY[1, 2]' },
  { where: { json: { $contains: { a: 1 } } }, text: `"json" @> '{"a": 1}'` },
)
const { pair: anyPair } = fc.letrec<{ pair: Pair }>((tie) => ({
  pair: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    onColumn,
    onText,
    fc.array(tie('pair'), { minLength: 1, maxLength: 3 }).map((all) => ({
      where: { $and: all.map(({ where }) => where) },
      text: `(${all.map(({ text }) => text).join(' AND ')})`,
    })),
    fc.array(tie('pair'), { minLength: 1, maxLength: 3 }).map((all) => ({
      where: { $or: all.map(({ where }) => where) },
      text: `(${all.map(({ text }) => text).join(' OR ')})`,
    })),
    tie('pair').map(({ where, text }) => ({ where: { $not: where }, text: `NOT (${text})` })),
  ),
}))

function orderText({ order, limit, offset }: Paging): string {
  const terms = [...order, 'id'].map((term) => {
    const name = term.replace(/^-/, '')
    const collation = typesOf.get(name) === 'string' ? ' COLLATE "C"' : ''
    return `"${name}"${collation} ${term.startsWith('-') ? 'DESC' : 'ASC'} NULLS LAST`
  })
  return `ORDER BY ${terms.join(', ')} LIMIT ${limit ?? 'ALL'} OFFSET ${offset ?? 0}`
}

describe('rows', () => {
  test('are those of SQL written by hand, in its order', async () => {
    const cases = fc.sample(fc.tuple(anyPair, anyPaging), caseCount)
    await inParallel(cases, async ([{ where, text }, paging]) => {
      const statement = `SELECT id FROM ${schema}.random WHERE ${text} ${orderText(paging)}`
      const expected = (await app.db.query<{ id: number }>(raw(statement))).map(({ id }) => Number(id))
      assert.deepEqual(
        await askIds({ where, ...paging }),
        expected,
        `${JSON.stringify({ where, ...paging })} ${statement}`,
      )
    })
  })

  test('are those for which the filter holds, and the negation holds for those for which it does not', async () => {
    const cases = fc.sample(fc.tuple(anyFilter, anyPaging), caseCount)
    await inParallel(cases, async ([filter, paging]) => {
      const where = renamed(filter)
      const holds = filterPredicate(parseFilter(filter, attributes))
      const parts = new Map<boolean | null, Stored[]>([true, false, null].map((answer) => [answer, []]))
      for (const row of rows) parts.get(holds(row))?.push(row)
      const [kept, refused, unknown] = [true, false, null].map((answer) => parts.get(answer) ?? [])
      const message = JSON.stringify({ where, ...paging })
      assert.deepEqual(await askIds({ where, ...paging }), pageOf(kept ?? [], paging), message)
      const order = ['id']
      const answered = [await askIds({ where, order }), await askIds({ where: { $not: where }, order })]
      assert.deepEqual(
        answered,
        [kept, refused].map((part) => part?.map(({ id }) => id)),
        message,
      )
      assert.equal(answered.flat().length + (unknown?.length ?? 0), rows.length, message)
    })
  })

  test('of pages one after another are those of the whole', async () => {
    const cases = fc.sample(fc.tuple(anyFilter, anyPaging, fc.integer({ min: 1, max: 25 })), caseCount / 20)
    await inParallel(cases, async ([filter, { order }, limit]) => {
      const where = renamed(filter)
      const whole = await askIds({ where, order })
      const pages: number[] = []
      for (let offset = 0; offset <= whole.length; offset += limit) {
        pages.push(...(await askIds({ where, order, limit, offset })))
      }
      assert.deepEqual(pages, whole, JSON.stringify({ where, order, limit }))
    })
  })

  test('of pages of groups are those of the whole, also when what they are sorted by is the same', async () => {
    for (const name of sortable) {
      const query = { attributes: [name, `count(${name}) as n`], group: [name], order: ['-n'] }
      const whole = await ask(datasets.random, { ...query, order: ['-n', name] })
      const pages: Row[] = []
      for (let offset = 0; offset < whole.length; offset += 2) {
        pages.push(...(await ask(datasets.random, { ...query, limit: 2, offset })))
      }
      assert.deepEqual(pages, whole, name)
    }
  })

  test('of aggregates are those of SQL written by hand', async () => {
    const names = ['int4', 'int8', 'numeric', 'float8', 'text', 'date', 'instant', 'time']
    for (const name of names) {
      // Of doubles near the largest there is no sum.
      const isNumber = ['int4', 'int8', 'numeric'].includes(name)
      const utc = name === 'instant' ? " AT TIME ZONE 'UTC'" : ''
      const [expected] = await app.db.query(
        raw(`SELECT count(*)::text AS count, count("${name}")::text AS some, count(DISTINCT "${name}")::text AS kinds,
          (min("${name}")${utc})::text AS least, (max("${name}")${utc})::text AS most
          ${isNumber ? `, sum("${name}")::text AS total, avg("${name}")::text AS mean` : ''} FROM ${schema}.random`),
      )
      const wanted = ['count(*)', `count(${name}) as some`, `count(distinct ${name}) as kinds`, `min(${name}) as least`]
      wanted.push(`max(${name}) as most`, ...(isNumber ? [`sum(${name}) as total`, `avg(${name}) as mean`] : []))
      const csv = await get(
        datasets.random,
        `format=csv&${wanted.map((text) => `attributes[]=${encodeURIComponent(text)}`).join('&')}`,
      )
      const [actual] = records(csv.text)
      assert.deepEqual(
        actual,
        Object.fromEntries(
          Object.entries(expected ?? {}).map(([key, value]) => [key, name === 'instant' ? isoOf(value) : value]),
        ),
        name,
      )
    }
  })

  test('of sizes, of what is near and of what is nearest are those of SQL written by hand', async () => {
    const place = `ST_Point(7.5, 46.7, 4326)::geography`
    const distance = `ST_Distance(geom::geography, ${place})`
    const expected = await app.db.query<{ id: number; distance: number; area: number; length: number }>(
      raw(`SELECT id, ${distance} AS distance, ST_Area(geom::geography) AS area, ST_Length(geom::geography) AS length
        FROM ${schema}.shapes WHERE id <= 5 ORDER BY ${distance}, id`),
    )
    const isNear = (actual: unknown, wanted: number) => Math.abs(Number(actual) - wanted) <= 1e-6 * Math.max(wanted, 1)
    for (const id of [datasets.shapes, datasets.metric]) {
      const nearest = { point: [7.5, 46.7] }
      const found = await ask(id, { attributes: ['id'], where: { id: { $lte: 5 } }, nearest, order: ['id'] })
      // Within a few metres, since lines in a projected system are other lines.
      assert.deepEqual(
        found.map((row) => [Number(row.id), Math.round(Number(row.distance) / 1000)]),
        expected.map((row) => [row.id, Math.round(row.distance / 1000)]),
      )
      const near = { geom: { $dwithin: { ...nearest, distance: 60_000 } }, id: { $lte: 5 } }
      assert.deepEqual(
        await askIds({ where: near, order: ['id'] }, id),
        expected.flatMap((row) => (row.distance <= 60_000 ? [row.id] : [])).sort(),
      )
    }
    const [sizes] = await ask(datasets.shapes, {
      attributes: ['area(geom) as area', 'length(geom) as length'],
      where: { id: { $lte: 5 } },
    })
    assert.ok(
      isNear(
        sizes?.area,
        expected.reduce((sum, { area }) => sum + area, 0),
      ),
      String(sizes?.area),
    )
    assert.ok(
      isNear(
        sizes?.length,
        expected.reduce((sum, { length }) => sum + length, 0),
      ),
      String(sizes?.length),
    )
  })
})

/** `2024-02-29 12:00:00` in UTC as the API spells it. */
const isoOf = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/^(\d{4}-\d\d-\d\d) (.*)$/, '$1T$2Z') : value

/** CSV by somebody else's reader: nothing is null, a quoted nothing is an empty text. */
const records = (text: string): Record<string, string | null>[] =>
  parse(text, {
    columns: true,
    record_delimiter: '\r\n',
    cast: (cell, { quoting, header }) => (cell === '' && !quoting && !header ? null : cell),
  }) as unknown as Record<string, string | null>[]

type Described = { name: string; type: string; dbType: string }

async function described(id: string): Promise<Described[]> {
  const { body } = await call('GET', `${path}/${id}`)
  return body.attributes.filter(({ type }: Described) => type !== 'geometry')
}

/** A value as CSV has it, by other means than the API's. */
function textOf({ name, type, dbType }: Described): Sql {
  const column = ident(name)
  if (type === 'datetime') {
    const zone = dbType.includes('without') ? raw('') : sql` AT TIME ZONE 'UTC'`
    const end = dbType.includes('without') ? '' : 'Z'
    const written = sql`to_char(${column}${zone}, 'YYYY-MM-DD"T"HH24:MI:SS.US')`
    return sql`CASE WHEN isfinite(${column}) THEN regexp_replace(${written}, '\\.?0*$', '') || ${end} ELSE ${column}::text END`
  }
  if (type === 'array') return sql`array_to_json(${column})::text`
  if (type === 'binary') return sql`replace(encode(${column}, 'base64'), chr(10), '')`
  if (type === 'boolean') return sql`${column}::text`
  // Unlike a cast this keeps what COPY keeps, such as the blanks of char(5).
  return sql`CASE WHEN ${column} IS NOT NULL THEN format('%s', ${column}) END`
}

/** Is the number of JSON what CSV has? PostgreSQL is asked that. */
const isNumeric = (type: string, value: unknown): boolean =>
  typeof value === 'number' && (type === 'integer' || type === 'number')

function valueInJson(type: string, cell: string | null, read: unknown): unknown {
  if (cell === null) return null
  if (type === 'json' || type === 'array') return JSON.parse(cell)
  if (isNumeric(type, read)) return read
  return type === 'boolean' ? cell === 'true' : cell
}

describe('formats', () => {
  for (const name of ['awkward', 'random'] as const) {
    test(`CSV of ${name} rows has what COPY would write`, async () => {
      const columns = await described(datasets[name])
      const list = columns.map((column) => sql`${textOf(column)} AS ${ident(column.name)}`)
      const expected = await app.db.query(
        sql`SELECT ${joinSql(list, ', ')} FROM ${ident(schema, name)} t ORDER BY t.id`,
      )
      const attributes = columns.map((column) => column.name)
      const reply = await call('POST', `${path}/${datasets[name]}/query?format=csv`, {
        body: { attributes, order: ['id'] },
      })
      assert.equal(reply.status, 200, reply.text)
      assert.ok(reply.text.endsWith('\r\n'))
      const actual = records(reply.text)
      assert.equal(actual.length, expected.length)
      for (const [index, row] of expected.entries()) assert.deepEqual({ ...actual[index] }, { ...row })
    })

    test(`JSON, CSV and GeoJSON of ${name} rows have the same values`, async () => {
      const columns = await described(datasets[name])
      const csv = records((await get(datasets[name], 'format=csv&sort=id')).text)
      const json: Row[] = (await get(datasets[name], 'sort=id')).body
      const features: { id: unknown; properties: Row }[] = (await get(datasets[name], 'format=geojson&sort=id')).body
        .features
      assert.deepEqual([csv.length, features.length], [json.length, json.length])
      const numbers: { written: string; read: string }[] = []
      for (const [index, row] of json.entries()) {
        const { id, properties } = features[index] ?? {}
        assert.equal(id, row.id)
        for (const { name: column, type } of columns) {
          assert.deepEqual(properties?.[column], row[column], column)
          const written = csv[index]?.[column] ?? null
          const value = valueInJson(type, written, row[column])
          assert.deepEqual(row[column], value, `${column} of ${row.id}`)
          if (written !== null && isNumeric(type, value)) numbers.push({ written, read: String(value) })
        }
      }
      const [written, read] = [numbers.map((pair) => pair.written), numbers.map((pair) => pair.read)]
      const lost = await app.db.query(sql`
        SELECT * FROM unnest(${written}::text[], ${read}::text[]) AS pair(written, read)
        WHERE written::numeric <> read::numeric`)
      assert.deepEqual(lost, [], 'a reader of JSON has every digit')
    })
  }

  test('a number is text in JSON only where a double would be another number', async () => {
    const json: Row[] = (await get(datasets.awkward, 'sort=id&attributes=big,exact')).body
    assert.deepEqual(
      json.map(({ big, exact }) => [typeof big, typeof exact].join(' ')),
      [
        'number number',
        'string string',
        'string string',
        'string number',
        'string string',
        'string number',
        'number number',
        'number string',
      ],
    )
  })
})

type Geometry = { type: string; coordinates?: unknown; geometries?: Geometry[] }
type Feature = { id: number; geometry: Geometry | null; properties: Row }

/** Numbers of two geometries, one after another; what they are of must be the same. */
function assertNear(actual: unknown, expected: unknown, message: string): void {
  if (typeof actual === 'number' && typeof expected === 'number') {
    assert.ok(Math.abs(actual - expected) <= 1e-7, `${message}: ${actual} is not ${expected}`)
  } else if (typeof actual === 'object' && actual !== null && typeof expected === 'object' && expected !== null) {
    assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort(), message)
    for (const [key, value] of Object.entries(actual)) assertNear(value, (expected as Row)[key], message)
  } else assert.equal(actual, expected, message)
}

function polygonsOf({ type, coordinates, geometries = [] }: Geometry): number[][][][] {
  if (type === 'Polygon') return [coordinates as number[][][]]
  if (type === 'MultiPolygon') return coordinates as number[][][][]
  return geometries.flatMap(polygonsOf)
}

/** Twice the area; positive where the ring runs counter-clockwise. */
const turning = (ring: readonly number[][]): number =>
  ring.reduce((sum, [x = 0, y = 0], index) => {
    const [nextX = 0, nextY = 0] = ring[(index + 1) % ring.length] ?? []
    return sum + x * nextY - nextX * y
  }, 0)

const withoutId = (feature: Feature | undefined) => ({ geometry: feature?.geometry, properties: feature?.properties })

async function fromOgr(name: string): Promise<Feature[]> {
  const [found] = await app.db.query<{ name: string }>(sql`SELECT current_database()::text AS name`)
  const { hostname, port, username, password } = new URL(app.url ?? '')
  const place = `host=${hostname} port=${port || 5432} user=${username} dbname=${found?.name}`
  const { stdout } = await promisify(execFile)(
    'ogr2ogr',
    [
      ...['-f', 'GeoJSON', '/vsistdout/', `PG:${place}${password && ` password=${password}`}`, '-t_srs', 'EPSG:4326'],
      ...['-sql', `SELECT id AS key, name, geom FROM ${schema}.${name}`],
      ...['-lco', 'RFC7946=YES', '-lco', 'COORDINATE_PRECISION=9', '-lco', 'WRITE_BBOX=NO'],
    ],
    { maxBuffer: 1e8 },
  )
  return JSON.parse(stdout).features.map(({ geometry, properties: { key, ...properties } }: Feature) => ({
    id: key,
    geometry,
    properties,
  }))
}

describe('GeoJSON', () => {
  test('of a column of polygons is that of the same polygons in a column of any geometries', async () => {
    const features = async (id: string): Promise<Feature[]> => (await get(id, 'format=geojson')).body.features
    const all = new Map((await features(datasets.shapes)).map((feature) => [feature.id, feature]))
    const typed = [...(await features(datasets.polygons)), ...(await features(datasets.multipolygons))]
    assert.equal(typed.length, 3)
    for (const feature of typed) assert.deepEqual(feature, all.get(feature.id))
  })

  for (const name of ['shapes', 'metric'] as const) {
    test(`of ${name} is what ogr2ogr makes of the table`, async (t) => {
      if (!cluster) return t.skip('ogr2ogr needs a server')
      const expected = new Map((await fromOgr(name)).map((feature) => [feature.id, feature]))
      const features: Feature[] = (await get(datasets[name], 'format=geojson&attributes=name')).body.features
      assert.equal(features.length, shapes.length + 1)
      assert.equal(expected.size, features.length)
      for (const { id, geometry, properties } of features) {
        // Of a collection ogr2ogr keeps only what has the largest dimension.
        if (geometry?.type === 'GeometryCollection') continue
        assertNear({ geometry, properties }, withoutId(expected.get(id)), `${name} ${id}`)
      }
    })

    test(`of ${name} follows the right-hand rule, also in holes`, async () => {
      const features: Feature[] = (await get(datasets[name], 'format=geojson')).body.features
      const polygons = features.flatMap(({ geometry }) => (geometry ? polygonsOf(geometry) : []))
      assert.equal(polygons.length, 5)
      for (const [outer = [], ...holes] of polygons) {
        assert.ok(turning(outer) > 0, JSON.stringify(outer))
        for (const hole of holes) assert.ok(turning(hole) < 0, JSON.stringify(hole))
      }
    })
  }

  test('of a line begins where the line begins', async () => {
    const { body } = await get(datasets.shapes, 'format=geojson&filter[id]=2')
    assert.deepEqual(body.features[0].geometry.coordinates, [
      [6, 46],
      [7.123456789, 46.5],
      [8, 46],
    ])
  })

  test('of a projected table, and of one with several reference systems, is that of the same shapes in degrees', async () => {
    const features = (id: string) => get(id, 'format=geojson&sort=id').then(({ body }) => body.features)
    const degrees = await features(datasets.shapes)
    for (const name of ['metric', 'mixed'] as const) assertNear(await features(datasets[name]), degrees, name)
  })
})
