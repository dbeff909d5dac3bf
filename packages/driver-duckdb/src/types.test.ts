import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { patientMs, testDriver, testFolder } from '../testing/folder.ts'
import { doubleText, floatText } from './child/rows/number-text.ts'

/** SQL → attribute type, name of the type, canonical text. */
const values: readonly (readonly [sql: string, type: string, dbType: string, text: string | null])[] = [
  ['true', 'boolean', 'BOOLEAN', 'true'],
  ['(-128)::TINYINT', 'integer', 'TINYINT', '-128'],
  ['255::UTINYINT', 'integer', 'UTINYINT', '255'],
  ['(-32768)::SMALLINT', 'integer', 'SMALLINT', '-32768'],
  ['4294967295::UINTEGER', 'integer', 'UINTEGER', '4294967295'],
  ['9223372036854775807', 'integer', 'BIGINT', '9223372036854775807'],
  ['18446744073709551615::UBIGINT', 'integer', 'UBIGINT', '18446744073709551615'],
  ['170141183460469231731687303715884105727::HUGEINT', 'integer', 'HUGEINT', '170141183460469231731687303715884105727'],
  ['0.1::DOUBLE', 'number', 'DOUBLE', '0.1'],
  ['1e20::DOUBLE', 'number', 'DOUBLE', '1e+20'],
  ['0.00001::DOUBLE', 'number', 'DOUBLE', '1e-05'],
  [`'nan'::DOUBLE`, 'number', 'DOUBLE', 'NaN'],
  [`'-inf'::DOUBLE`, 'number', 'DOUBLE', '-Infinity'],
  ['0.1::FLOAT', 'number', 'FLOAT', '0.1'],
  ['1e6::FLOAT', 'number', 'FLOAT', '1e+06'],
  ['1.50::DECIMAL(10, 2)', 'number', 'DECIMAL(10,2)', '1.50'],
  [
    '12345678901234567890.123456789012345678::DECIMAL(38, 18)',
    'number',
    'DECIMAL(38,18)',
    '12345678901234567890.123456789012345678',
  ],
  [`'it''s ünï'`, 'string', 'VARCHAR', "it's ünï"],
  [`''`, 'string', 'VARCHAR', ''],
  [`'a'::ENUM('a', 'b')`, 'string', `ENUM('a', 'b')`, 'a'],
  [`'101'::BIT`, 'string', 'BIT', '101'],
  [`interval '1 year 2 days 3 hours'`, 'string', 'INTERVAL', '1 year 2 days 03:00:00'],
  [`date '2026-01-31'`, 'date', 'DATE', '2026-01-31'],
  [`date '0044-03-15 (BC)'`, 'date', 'DATE', '0044-03-15 BC'],
  [`'infinity'::DATE`, 'date', 'DATE', 'infinity'],
  [`time '10:00:00.5'`, 'time', 'TIME', '10:00:00.5'],
  [`'10:00:00+02'::TIMETZ`, 'time', 'TIME WITH TIME ZONE', '10:00:00+02'],
  [`timestamp '2026-01-31 10:00:00.5'`, 'datetime', 'TIMESTAMP', '2026-01-31T10:00:00.5'],
  [`timestamp '0044-03-15 (BC) 10:00:00'`, 'datetime', 'TIMESTAMP', '0044-03-15 10:00:00 BC'],
  [`timestamp_ns '2026-01-31 10:00:00.123456789'`, 'datetime', 'TIMESTAMP_NS', '2026-01-31T10:00:00.123456789'],
  [`timestamptz '2026-01-31 10:00:00.5+02'`, 'datetime', 'TIMESTAMP WITH TIME ZONE', '2026-01-31T08:00:00.5Z'],
  [`'infinity'::TIMESTAMPTZ`, 'datetime', 'TIMESTAMP WITH TIME ZONE', 'infinity'],
  [`'00000000-0000-0000-0000-0000000000AA'::UUID`, 'uuid', 'UUID', '00000000-0000-0000-0000-0000000000aa'],
  [`'\\x00\\xFF'::BLOB`, 'binary', 'BLOB', 'AP8='],
  [`'{"a": [1, null]}'::JSON`, 'json', 'JSON', '{"a": [1, null]}'],
  [
    `{'a': 1, 'b': 'nan'::DOUBLE, 'c': 'NaN'}`,
    'json',
    'STRUCT(a INTEGER, b DOUBLE, c VARCHAR)',
    '{"a":1,"b":"NaN","c":"NaN"}',
  ],
  [`MAP {'k': 1}`, 'json', 'MAP(VARCHAR, INTEGER)', '{"k":1}'],
  ['[1, NULL, 3]', 'array', 'INTEGER[]', '[1,null,3]'],
  ['[9007199254740993, 1]', 'array', 'BIGINT[]', '["9007199254740993",1]'],
  [`[1.5::DOUBLE, 2::DOUBLE, 'nan'::DOUBLE, 1e20::DOUBLE]`, 'array', 'DOUBLE[]', '[1.5,2,"NaN",1e+20]'],
  ['[0.1::FLOAT]', 'array', 'FLOAT[]', '[0.1]'],
  ['[1.23456789012345678901::DECIMAL(38, 20)]', 'array', 'DECIMAL(38,20)[]', '["1.23456789012345678901"]'],
  [`['NaN', '1', 'a"b']`, 'array', 'VARCHAR[]', '["NaN","1","a\\"b"]'],
  [`[timestamptz '2026-01-31 10:00:00+02']`, 'array', 'TIMESTAMP WITH TIME ZONE[]', '["2026-01-31T08:00:00Z"]'],
  [`['\\x00'::BLOB, NULL]`, 'array', 'BLOB[]', '["AA==",null]'],
  ['[1, 2]::INTEGER[2]', 'array', 'INTEGER[2]', '[1,2]'],
  ['[[1], [2]]', 'array', 'INTEGER[][]', '[[1],[2]]'],
  [`'POINT(1 2)'::GEOMETRY`, 'geometry', 'GEOMETRY', '0101000000000000000000F03F0000000000000040'],
  [
    `'POINT Z(1 2 3)'::GEOMETRY('OGC:CRS84')`,
    'geometry',
    'GEOMETRY(OGC:CRS84)',
    '01E9030000000000000000F03F00000000000000400000000000000840',
  ],
  [`'POLYGON EMPTY'::GEOMETRY`, 'geometry', 'GEOMETRY', '010300000000000000'],
  ['NULL::GEOMETRY', 'geometry', 'GEOMETRY', null],
  ['NULL::INTEGER[]', 'array', 'INTEGER[]', null],
]

describe('a value', () => {
  test('of each type has its canonical text', async (t) => {
    const database = testDriver(t).at(testFolder(t))
    const text = `SELECT ${values.map(([sql], index) => `${sql} AS v${index}`).join(', ')}`
    const { columns, batches } = await database.start({ text, values: [] }, { timeoutMs: patientMs })
    const [row = []] = (await Array.fromAsync(batches)).flat()
    const answered = columns.map(({ type, dbType }, index) => [
      values[index]?.[0],
      type,
      dbType.replaceAll('"', ''),
      row[index],
    ])
    assert.deepEqual(answered, values)
    assert.deepEqual(await database.describe(text), columns)
  })

  test('of a number is written as PostgreSQL writes it', () => {
    const doubles: [number, string][] = [
      [0, '0'],
      [-0, '-0'],
      [123456789012345, '123456789012345'],
      [1e15, '1e+15'],
      [-1.2345678901234568e17, '-1.2345678901234568e+17'],
      [0.0001, '0.0001'],
      [0.00012345, '0.00012345'],
      [0.0000999, '9.99e-05'],
      [5e-324, '5e-324'],
      [1.7976931348623157e308, '1.7976931348623157e+308'],
      [Number.NaN, 'NaN'],
      [Number.POSITIVE_INFINITY, 'Infinity'],
    ]
    for (const [value, text] of doubles) assert.equal(doubleText(value), text)
    const floats: [number, string][] = [
      [Math.fround(0.1), '0.1'],
      [Math.fround(16777216), '1.6777216e+07'],
      [Math.fround(123456), '123456'],
      [Math.fround(-12.5), '-12.5'],
      [Math.fround(1.1e-10), '1.1e-10'],
      [Math.fround(3.4028235e38), '3.4028235e+38'],
    ]
    for (const [value, text] of floats) assert.equal(floatText(value), text)
  })
})

test('columns tell what a filter needs to know of them', async (t) => {
  const database = testDriver(t).at(testFolder(t))
  const text = `SELECT 'a' AS s, timestamp '2026-01-01' AS t, now() AS z, ['a'] AS l, [[1]] AS n, 'POINT(1 2)'::GEOMETRY('OGC:CRS84') AS g`
  const columns = await database.describe(text, { timeoutMs: patientMs })
  assert.deepEqual(
    columns.map(({ name: _, dbType: __, ...column }) => column),
    [
      { type: 'string', isText: true },
      { type: 'datetime', withoutZone: true },
      { type: 'datetime' },
      { type: 'array', itemType: 'string' },
      { type: 'array', itemType: 'array' },
      { type: 'geometry', geometry: { type: 'Geometry', dimension: 2, srid: 4326 } },
    ],
  )
})

test('a plan is shown without the paths of files', async (t) => {
  const folder = testFolder(t)
  await folder.write('t.parquet', 'SELECT range AS a FROM range(10)')
  await folder.write('u.csv', 'SELECT range AS a FROM range(10)')
  const database = testDriver(t).at(folder)
  const query = { text: 'SELECT t.a FROM t JOIN u USING (a) WHERE t.a > $1::BIGINT', values: ['3'] }
  const plan = JSON.stringify(await database.explain(query, { timeoutMs: patientMs }))
  assert.match(plan, /PARQUET/)
  assert.ok(!plan.includes(folder.directory))
})
