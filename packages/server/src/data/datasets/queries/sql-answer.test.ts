import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'

// One database is enough: items of arrays are written in memory; datasets/differential.test.ts reads arrays of both in
// every format.

/** Each a type of PostgreSQL, and values of it: an array must hold them as its items just as a column holds them. */
const columns: Record<string, [sqlType: string, ...values: string[]]> = {
  big: ['int8', '1', '9007199254740991', '9007199254740993', '-9223372036854775808', '-42'],
  small: ['int4', '0', '-2147483648'],
  exact: ['numeric', '0.1', '12345678901234567890.123456789', '1.50', 'NaN', '-0.00000000000000000001', '1e20'],
  double: ['float8', '0.1', 'NaN', '-Infinity', '1e21', '5e-324', '-0', '0.30000000000000004'],
  single: ['float4', '0.1', '16777217', '1e-45'],
  at: ['timestamptz', '2026-01-31 10:00:00.5+00', '2026-01-31 12:00+02', 'infinity', '0044-03-15 BC', '10000-01-01'],
  local: ['timestamp', '2026-01-31 10:00:00.5', '-infinity', '0044-03-15 BC'],
  day: ['date', '2026-01-31', 'infinity'],
  clock: ['time', '10:00', '23:59:59.999999'],
  flag: ['bool', 't', 'f'],
  word: ['text', '', 'a,"b"', '+00:00', '\\x00ff', '12345678901234567890', 'null'],
  code: ['uuid', '3fa85f64-5717-4562-b3fc-2c963f66afa6'],
  bytes: ['bytea', '\\x00ff0a', '\\x', '\\xdeadbeef'],
  doc: ['jsonb', '{"at": "2026-01-31T10:00:00+00:00", "big": 9007199254740993}', '[1, null]'],
  place: [
    'geometry',
    'SRID=25832;POINT(500000 5500000)',
    'SRID=25832;POLYGON((5e5 55e5, 5e5 56e5, 6e5 56e5, 5e5 55e5))',
  ],
}
const names = Object.keys(columns)

let app: TestApp
let tenant: Tenant
let arrays: string
let scalars: string
const path = '/api/v1/datasets'
const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

async function create(source: string): Promise<string> {
  const reply = await call('POST', path, { body: { type: 'table', name: source, source } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

before(async () => {
  app = await testApp()
  tenant = await app.tenant('arrays')
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  const literal = (value: string | undefined) => (value === undefined ? 'NULL' : `'${value.replaceAll("'", "''")}'`)
  const types = Object.values(columns).map(([type]) => type)
  const longest = Math.max(...Object.values(columns).map((values) => values.length - 1))
  const rows = Array.from({ length: longest }, (_, index) => {
    const cells = Object.values(columns).map(([type, ...values]) => `${literal(values[index])}::${type}`)
    return `(${index}, ${cells.join(', ')})`
  })
  await app.db.script(`
    CREATE TABLE ${schema}.scalars (id int4 PRIMARY KEY, ${names.map((name, index) => `${name} ${types[index]}`).join(', ')});
    INSERT INTO ${schema}.scalars VALUES ${rows.join(', ')};
    CREATE TABLE ${schema}.arrays (id int4 PRIMARY KEY, ${names.map((name, index) => `${name} ${types[index]}[]`).join(', ')}, grid int8[]);
    INSERT INTO ${schema}.arrays SELECT 1, ${names.map((name) => `array_agg(${name} ORDER BY id)`).join(', ')},
      '{{1,9007199254740993},{NULL,-9007199254740993}}' FROM ${schema}.scalars;
    INSERT INTO ${schema}.arrays (id, ${names.join(', ')}) VALUES (2, ${names.map(() => "'{}'").join(', ')}), (3, ${names.map(() => 'NULL').join(', ')});
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};`)
  arrays = await create('arrays')
  scalars = await create('scalars')
})
after(() => app.close())

async function rowsOf(id: string, format: string): Promise<Record<string, unknown>[]> {
  const reply = await call('GET', `${path}/${id}/query?sort=id&format=${format}`)
  assert.equal(reply.status, 200, reply.text)
  if (format === 'geojson') return reply.body.features.map(({ properties }: Record<string, unknown>) => properties)
  if (format === 'json') return reply.body
  const read = (text: string) => (text === '' ? null : /^[[{]/.test(text) ? JSON.parse(text) : text)
  return (parse(reply.text, { columns: true }) as Record<string, string>[]).map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, text]) => [name, read(text)])),
  )
}

describe('the items of an array', () => {
  for (const format of ['json', 'geojson', 'csv']) {
    test(`are written as the same values are outside of one, in ${format}`, async () => {
      const values = await rowsOf(scalars, 'json')
      const [full, empty, none] = await rowsOf(arrays, format)
      for (const name of names) {
        assert.deepEqual(
          full?.[name],
          values.map((row) => row[name]),
          name,
        )
        assert.deepEqual([empty?.[name], none?.[name]], [[], null], name)
      }
      assert.deepEqual(full?.grid, [
        [1, '9007199254740993'],
        [null, '-9007199254740993'],
      ])
    })
  }
})
