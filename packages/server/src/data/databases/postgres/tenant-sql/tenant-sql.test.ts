import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadModule, parseSync, scanSync } from 'libpg-query'
import { breakOuts } from '../../../../../testing/hostile/break-outs.ts'
import { ApiError } from '../../../../kernel/errors.ts'
import { lexSql } from '../../../../query/execution/sql-lexer.ts'
import { checkDepth } from './sql-depth.ts'
import type { SqlContext } from './sql-relations.ts'
import { checkTenantSql, relationsOf } from './tenant-sql.ts'

await loadModule()

const shared: SqlContext = { schema: 'app_00000000000000000000000000000001', isShared: true }
const check = (text: string): Promise<void> => checkTenantSql(text, shared)

const isRefusal = (pattern: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.status === 400 && pattern.test(error.message)

const good = [
  'SELECT * FROM roads',
  'select 1;',
  'SELECT 1; -- done',
  'VALUES (1, 2), (3, 4)',
  'TABLE roads',
  '(SELECT 1) UNION (SELECT 2) ORDER BY 1',
  'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT * FROM r',
  "SELECT extract(year FROM d), d AT TIME ZONE 'UTC', trim(both 'x' FROM a), substring(a FROM 1 FOR 2) FROM t",
  "SELECT a LIKE 'x!%' ESCAPE '!', a SIMILAR TO 'b', position('a' IN b), overlay(a placing 'b' from 1) FROM t",
  "SELECT a::int, b::double precision, c::timestamptz, interval '1 day', d::numeric(10, 2), e::geometry FROM t",
  'SELECT public.ST_AsMVT(q), ST_Transform(geom, 3857)::geometry(Point, 3857), pg_column_size(1) FROM public.q',
  "SELECT to_tsvector('english', a) @@ plainto_tsquery('english'::regconfig, :words) FROM t",
  'SELECT * FROM gis.roads WHERE id = :id AND kind IN (:a, :b) LIMIT :n',
  'SELECT current_user, current_date, length(:x)',
  'SELECT count(*) FILTER (WHERE a) OVER (PARTITION BY b), tags[1:2], a.b.c FROM t TABLESAMPLE SYSTEM (1)',
  `SELECT ${Array.from({ length: 2000 }, (_, i) => `-${i}.5 AS c${i}`).join(', ')}`,
  `SELECT CASE ${'WHEN a = 1 AND b IS NOT NULL THEN 2 '.repeat(400)} END FROM t`,
  `SELECT * FROM a ${Array.from({ length: 60 }, (_, i) => `JOIN b b${i} ON a.x = b${i}.y`).join(' ')}`,
]

test('the allow-list lets ordinary queries of tenants through', async () => {
  for (const text of good) await assert.doesNotReject(check(text), text.slice(0, 100))
})

test('a refusal of tenant SQL names the part that is not allowed', async () => {
  const cases: [string, RegExp][] = [
    ['SELECT 1; SELECT 2', /one statement/],
    ['', /one statement/],
    ['DELETE FROM a', /must be a SELECT/],
    ['WITH x AS (DELETE FROM a RETURNING *) SELECT * FROM x', /must be a SELECT, also inside WITH/],
    ['SELECT * INTO b FROM a', /INTO/],
    ['SELECT 1 UNION SELECT a FROM b FOR UPDATE', /FOR UPDATE/],
    ['SELECT * FROM svc.apikeys', /schema svc/],
    ['SELECT * FROM pg_class', /pg_class/],
    ['SELECT "SET_CONFIG"(1)', /SET_CONFIG/],
    ['SELECT $1', /:name/],
    ["SELECT 'é' AS a,\n  :id FROM FROM", /syntax error at or near "FROM", line 2, column 12/],
    ["SELECT 'a", /does not end/],
    ['SELECT 1\0', /NUL/],
    [`SELECT '${'a'.repeat(100_000)}'`, /longer than 100000 bytes/],
    [`SELECT 1 IN (${'1,'.repeat(30_000)}1)`, /more than 20000/],
  ]
  for (const [text, pattern] of cases) await assert.rejects(check(text), isRefusal(pattern), text.slice(0, 80))
})

test('a refused function or type is named, and so is what is allowed', async () => {
  const cases: [string, RegExp][] = [
    ['SELECT pg_typeof(1)', /The function pg_typeof is not available. Queries may call SQL's functions of values/],
    ['SELECT a.b.c(1)', /functions of another database/],
    ["SELECT 'x'::regclass", /The type regclass is not available. Queries may use SQL's types of values/],
    ["SELECT '{}'::own[]", /The type own is not available/],
    ['SELECT (1259).regclass', /"regclass": it is the name of a function or type/],
    ['SELECT own.pg_typeof FROM own', /"pg_typeof": it is the name of a function or type/],
    ['SELECT * FROM t TABLESAMPLE system_rows(1)', /SYSTEM or BERNOULLI/],
    ['SELECT system_user', /system_user is not available/],
    ["SELECT JSON_VALUE('{}', '$' RETURNING regconfig)", /The type regconfig/],
    ['SELECT app_00000000000000000000000000000002.t.a FROM t', /schema app_0+2: it cannot be read/],
    ['SELECT * FROM pg_catalog.pg_class', /schema pg_catalog: it cannot be read/],
  ]
  for (const [text, pattern] of cases) await assert.rejects(check(text), isRefusal(pattern), text)
})

test('the application’s own schema may be written, and PostgreSQL’s where that changes nothing', async () => {
  const texts = [
    `SELECT ${shared.schema}.roads.name FROM ${shared.schema}.roads`,
    'SELECT pg_catalog.lower(name), 1 OPERATOR(pg_catalog.+) 1, name COLLATE pg_catalog."C" FROM roads',
  ]
  for (const text of texts) await assert.doesNotReject(check(text), text)
})

test('in a database of their own, tenants call functions and use types of their own by schema', async () => {
  const context: SqlContext = { schema: 'public', isShared: false }
  const good = [
    "SELECT public.my_area(geom), gis.label(name), 'happy'::public.mood FROM gis.roads",
    'SELECT * FROM app_data.roads',
  ]
  for (const text of good) await assert.doesNotReject(checkTenantSql(text, context), text)
  for (const text of good.slice(0, 1)) await assert.rejects(check(text), isRefusal(/not available/), text)
  const bad: [string, RegExp][] = [
    ['SELECT my_area(geom) FROM roads', /written with their schema/],
    ['SELECT format_type(16, -1)', /format_type is not available/],
    ["SELECT public.dblink('host=127.0.0.1', 'select 1')", /dblink is not available/],
    ["SELECT public.ST_EstimatedExtent('a', 'b', 'c')", /st_estimatedextent is not available/],
    ["SELECT pg_catalog.pg_read_file('x')", /pg_read_file is not available/],
    ['SELECT * FROM app_00000000000000000000000000000002.roads', /cannot be read/],
    ['SELECT svc.f(1)', /schema svc: it cannot be read/],
    ['SELECT 16::regtype', /The type regtype is not available/],
  ]
  for (const [text, pattern] of bad) await assert.rejects(checkTenantSql(text, context), isRefusal(pattern), text)
})

test('the tables that a query names are known, but for what WITH names', async () => {
  const text = 'WITH x AS (SELECT * FROM a) SELECT * FROM x, public.x, b WHERE EXISTS (TABLE c)'
  const names = (await relationsOf(text, shared)).map(({ schema, name }) => `${schema ?? ''}.${name}`)
  assert.deepEqual(names.sort(), ['.a', '.b', '.c', 'public.x'])
})

test('a break-out is refused in words, or it is harmless and left to the role', async () => {
  assert.ok(breakOuts.length >= 150)
  const passed: string[] = []
  for (const text of breakOuts) {
    await check(text).then(
      () => passed.push(text),
      (error) => assert.ok(error instanceof ApiError && error.status === 400, `${text}: ${error}`),
    )
  }
  // Nothing that names the service's schema outside of texts and comments, or changes something, is among them.
  for (const text of passed) {
    const words = [...lexSql(text)].filter(({ kind }) => kind === 'word').map((token) => token.text.toLowerCase())
    assert.ok(!words.some((word) => ['svc', 'delete', 'update', 'insert'].includes(word)), text)
  }
  assert.ok(passed.length < 40, passed.join('\n'))
})

const nests: ((n: number) => string)[] = [
  (n) => `select ${'('.repeat(n)}1${')'.repeat(n)}`,
  (n) => `select ${'(select '.repeat(n)}1${')'.repeat(n)}`,
  (n) => `select * from ${'(select * from '.repeat(n)}a${') x'.repeat(n)}`,
  (n) => `select 1${'+1'.repeat(n)}`,
  (n) => `select 1${' union select 1'.repeat(n)}`,
  (n) => `select a and b${' union select a and b, c'.repeat(n)}`,
  (n) => `select ${'- '.repeat(n)}a`,
  (n) => `select ${'+-'.repeat(n)}a`,
  (n) => `select ${'@ '.repeat(n)}a`,
  (n) => `select ${'@-'.repeat(n)}a`,
  (n) => `select ${'not '.repeat(n)}true`,
  (n) => `select 1${'::int'.repeat(n)}`,
  (n) => `select a${' collate x'.repeat(n)}`,
  (n) => `select a${' at time zone x'.repeat(n)}`,
  (n) => `select a${' is null'.repeat(n)}`,
  (n) => `select a${' operator(+) a'.repeat(n)}`,
  (n) => `select 1 where a${' and a'.repeat(n)}`,
  (n) => `select 1 where a${' or a and not b'.repeat(n)}`,
  (n) => `select 1 where ${'a and ('.repeat(n)}a${')'.repeat(n)}`,
  (n) => `select 1 from a${' cross join a'.repeat(n)}`,
  (n) => `select 1 from a${' join a on b and c'.repeat(n)}`,
  (n) => `select 1 from ${'a join '.repeat(n)} a${' on true'.repeat(n)}`,
  (n) => `select 1${' + a.and'.repeat(n)}`,
  (n) => `select ${'case when a.end then '.repeat(n)}1${' end'.repeat(n)}`,
  (n) => `select ${'case when true then '.repeat(n)}1${' end'.repeat(n)}`,
  (n) => `select ${'case when (select 1 as end) then '.repeat(n)}1${' end'.repeat(n)}`,
  (n) => `${'with a as ('.repeat(n)}select 1${') select 1'.repeat(n)}`,
  (n) => `select ${'f(a, '.repeat(n)}1${')'.repeat(n)}`,
  (n) => `select ${'array['.repeat(n)}1${']'.repeat(n)}`,
  (n) => `select a${'[1]'.repeat(n)}`,
  (n) => `select ${'(a).'.repeat(n)}b`,
  (n) => `select ${"'a' like ".repeat(n)}b`,
  (n) => `select ${'a between b and '.repeat(n)}b`,
  (n) => `select ${'a || '.repeat(n)} $x$ $x$`,
  (n) => `select ${'-- (\n'.repeat(n)} 1${'+1'.repeat(n)}`,
  (n) => `select ${'row('.repeat(n)}${')'.repeat(n)}`,
  (n) => `select ${'not a in ('.repeat(n)}1${')'.repeat(n)}`,
  (n) => `select ${'exists (select 1 union select a and not b + '.repeat(n)}1${')'.repeat(n)}`,
]

test('no nesting exhausts the parser, and hostile nesting is a 400', async () => {
  for (const nest of nests) {
    // The deepest that is let through must be within what the parser can bear.
    let low = 1
    let high = 6000
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (isLetThrough(nest(middle))) low = middle
      else high = middle
    }
    try {
      parseSync(nest(low))
    } catch (error) {
      assert.ok(!(error instanceof RangeError), nest(3))
    }
  }
  for (let round = 0; round < 3; round++) {
    for (const nest of nests) await check(nest(10_000)).catch((error) => assert.equal(error.status, 400))
    await check('SELECT 1')
  }
})

function isLetThrough(text: string): boolean {
  try {
    checkDepth(text)
    return true
  } catch {
    return false
  }
}

test('the largest query that is let through takes less than half a second of a processor', async () => {
  const text = `SELECT ${Array.from({ length: 9_990 }, (_, i) => `abcdef${i % 1000}`).join(',')}`
  const before = process.cpuUsage()
  await check(text.slice(0, 99_990).replace(/,[^,]*$/, ''))
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 500_000)
})

const crumbs = [
  ...["'", "''", '"', "E'", "e'", "U&'", 'u&"', "N'", "x'", '\\', "\\'", '$$', '$a$', '$a', '$1', 'a$b$', '$é$'],
  ...['--', '/*', '*/', '\n', ' ', '\r', '\t', ':', '::', ':=', ':n', 'a', 'E', 'é', '1', '1.5', '[', ']', '(', ')'],
  ...['+', '-', '*', '/', '<', '=', '@', '|', ';', '.', ',', 'UESCAPE', '\ufeff', '𝒳'],
]

test('the lexer sees the quotes, comments and words that PostgreSQL sees', () => {
  let state = 7
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % below
  }
  let compared = 0
  for (let round = 0; round < 30_000; round++) {
    const text = Array.from({ length: 1 + random(12) }, () => crumbs[random(crumbs.length)] ?? '').join('')
    const theirs = postgresTokens(text)
    // What PostgreSQL cannot read at all is refused by the parser.
    if (!theirs) continue
    compared++
    const ours = [...lexSql(text)].filter(({ kind }) => kind === 'quoted' || kind === 'word')
    assert.deepEqual(
      ours.map((token) => token.text),
      theirs,
      JSON.stringify(text),
    )
  }
  assert.ok(compared > 5000, `${compared}`)
})

function postgresTokens(text: string): string[] | undefined {
  const bytes = Buffer.from(text)
  try {
    return scanSync(text)
      .tokens.map(({ start, end }) => bytes.subarray(start, end).toString())
      .filter((token) => /^(?:[A-Za-z_\u0080-\uffff'"]|[uU]&['"]|\$[^\d])/.test(token) && token !== '$')
  } catch {
    return undefined
  }
}
