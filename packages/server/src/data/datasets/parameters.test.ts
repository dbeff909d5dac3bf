import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileSql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { reservedParameterNames, splitMarkers } from '../../query/execution/sql-markers.ts'
import { sqlTypes } from '../../query/values/sql-type.ts'
import { parameterisedSql, readParameters } from './parameters.ts'

const refusal = (path: string, pattern: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.status === 400 && error.faults[0]?.path === path && pattern.test(error.message)

test('markers are found where PostgreSQL would read a word, and nowhere else', () => {
  const cases: [string, string[]][] = [
    ['SELECT :a, :b1 , :_c, :a', ['a', 'b1', '_c', 'a']],
    ['SELECT x=:a OR:b AND(:c)', ['a', 'b', 'c']],
    ["SELECT ':a', E'\\':b', U&':c', 'it''s :d', N':e'", []],
    ["SELECT E'a'\n'\\':b' , :c", ['c']],
    ['SELECT $$ :a $$, $x$ :b $$ :c $x$, ":d", U&":e"', []],
    ['SELECT 1 -- :a\n, :b /* :c /* :d */ :e */', ['b']],
    ['SELECT a::int, b := 1, :c::int', ['c']],
    ['SELECT a[1:n], a[i:n], a[b[1]:n], a[f(1):n], a[1 : n]', []],
    ['SELECT a[:i], a[1 : :j]', ['i', 'j']],
    ["SELECT JSON_OBJECT('k':v)", []],
    ['SELECT a$b$:c', ['c']],
    ['SELECT 1 : a', []],
  ]
  for (const [text, names] of cases) assert.deepEqual(splitMarkers(text).names, names, text)
})

test('pieces and markers together are the text, without a closing semicolon', () => {
  const { pieces, names } = splitMarkers('SELECT :a, ":b" FROM t WHERE x=:c ; -- end')
  assert.deepEqual(pieces, ['SELECT ', ', ":b" FROM t WHERE x=', ' '])
  assert.deepEqual(names, ['a', 'c'])
})

test('a marker whose name is reserved or no name is refused', () => {
  assert.throws(() => splitMarkers('SELECT :limit'), refusal('body/source', /limit/))
  assert.throws(() => splitMarkers('SELECT :naïve'), refusal('body/source', /letters/))
  assert.throws(() => splitMarkers(`SELECT :${'a'.repeat(64)}`), refusal('body/source', /63/))
  assert.throws(() => splitMarkers(`SELECT ${':a,'.repeat(1001)}1`), refusal('body/source', /1000/))
})

test('values are coerced to their declared type', () => {
  const types = { i: 'integer', n: 'number', b: 'boolean', d: 'date', t: 'datetime', u: 'uuid', s: 'string' }
  const declared = Object.entries(types).map(([name, type]) => ({ name, type, description: 'x' }))
  const given = {
    i: '+7',
    n: 1.5,
    b: '1',
    d: '2024-02-29',
    t: '2024-01-01T00:00:00+01:00',
    u: 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
    s: "'; DROP TABLE x; --",
  }
  const values = readParameters(declared, Object.keys(types), given)
  assert.deepEqual(
    [...values.values()].map(({ value }) => value),
    ['7', '1.5', 'true', '2024-02-29', '2023-12-31T23:00:00.000000Z', given.u.toLowerCase(), given.s],
  )
})

test('what is missing is the default, or a 400 that names the parameter', () => {
  const declared = [
    { name: 'a', type: 'integer', default: 5 },
    { name: 'b', type: 'date', required: false },
  ]
  const values = readParameters(declared, ['a', 'b'], {})
  assert.deepEqual(values.get('a'), { type: 'integer', value: '5' })
  assert.deepEqual(values.get('b'), { type: 'date', value: null })
  assert.throws(() => readParameters(declared, ['c'], {}), refusal('query/c', /required/))
  assert.throws(
    () => readParameters([{ name: 'a', required: true, default: 'x' }], ['a'], {}),
    refusal('query/a', /required/),
  )
  assert.throws(() => readParameters(undefined, ['toString'], {}), refusal('query/toString', /required/))
  assert.deepEqual(readParameters(undefined, ['c'], undefined).get('c'), { type: 'string', value: null })
})

test('a value that is repeated, an object or of another type is a 400 that names the parameter', () => {
  const declared = [{ name: 'a', type: 'integer' }]
  for (const value of [['1', '2'], { $gt: 1 }, 'x', '1.5', '1; DROP', '', true]) {
    assert.throws(() => readParameters(declared, ['a'], { a: value }), refusal('query/a', /./), JSON.stringify(value))
  }
  assert.throws(() => readParameters(undefined, ['a'], { a: 'x\0' }), refusal('query/a', /text/))
  assert.throws(() => readParameters(undefined, ['a'], { a: '\ud800' }), refusal('query/a', /text/))
})

test('a misspelt type or field of a declaration is answered with the nearest', () => {
  assert.throws(
    () => readParameters([{ name: 'a', type: 'interger' }], [], {}),
    refusal('body/metadata/parameters/0/type', /Did you mean "integer"\?.*Allowed: string, integer/),
  )
  assert.throws(
    () => readParameters([{ name: 'a', defualt: 1 }], [], {}),
    refusal('body/metadata/parameters/0/defualt', /Did you mean "default"\?/),
  )
})

test('all parameters with a fault are named together', () => {
  const declared = [{ name: 'a', type: 'integer' }]
  assert.throws(
    () => readParameters(declared, ['a', 'b'], { a: 'x' }),
    (error) => error instanceof ApiError && error.faults.map(({ path }) => path).join() === 'query/a,query/b',
  )
})

test('a malformed declaration is a 400 that names its place', () => {
  const cases: [unknown, string][] = [
    [{}, 'body/metadata/parameters'],
    ['x', 'body/metadata/parameters'],
    [[1], 'body/metadata/parameters/0'],
    [[null], 'body/metadata/parameters/0'],
    [[{ type: 'integer' }], 'body/metadata/parameters/0/name'],
    [[{ name: '1a' }], 'body/metadata/parameters/0/name'],
    [[{ name: 'a', type: 'geometry' }], 'body/metadata/parameters/0/type'],
    [[{ name: 'a', type: 'toString' }], 'body/metadata/parameters/0/type'],
    [[{ name: 'a' }, { name: 'a' }], 'body/metadata/parameters/1/name'],
    [[{ name: 'a', type: 'integer', default: 'x' }], 'body/metadata/parameters/0/default'],
    [[{ name: 'a', required: 1 }], 'body/metadata/parameters/0/required'],
    [[{ name: 'a', description: 1 }], 'body/metadata/parameters/0/description'],
    [[{ name: 'a', sql: 1 }], 'body/metadata/parameters/0/sql'],
    ...[...reservedParameterNames].map((name): [unknown, string] => [[{ name }], 'body/metadata/parameters/0/name']),
  ]
  for (const [declared, path] of cases) {
    assert.throws(() => readParameters(declared, [], {}), refusal(path, /./), JSON.stringify(declared))
  }
})

test('every value is bound, at every marker', () => {
  const text = 'SELECT :a, x:a FROM t WHERE b = :b;'
  const parameters = readParameters([{ name: 'b', type: 'integer' }], ['a', 'a', 'b'], { a: "'; DROP", b: 3 })
  assert.deepEqual(compileSql(parameterisedSql(text, parameters, sqlTypes)), {
    text: 'SELECT ($1::text), x($2::text) FROM t WHERE b = ($3::int8)',
    values: ["'; DROP", "'; DROP", '3'],
  })
})
