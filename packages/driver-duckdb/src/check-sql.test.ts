import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { patientMs, rowsOf, type TestFolder, testDriver, testFolder } from '../testing/folder.ts'
import { allowedFunctions } from './child/sql/allowed-functions.ts'
import { systemName } from './child/sql/syntax-tree.ts'
import type { DuckdbDatabase } from './create-duckdb.ts'

const options = { timeoutMs: patientMs }

describe('the check of a query', () => {
  const cleanUp: (() => unknown)[] = []
  let folder: TestFolder
  let outside: TestFolder
  let database: DuckdbDatabase
  before(async () => {
    const t = { after: (work: () => unknown) => void cleanUp.unshift(work) }
    folder = testFolder(t)
    outside = testFolder(t)
    await folder.write('t.parquet', `SELECT range AS a, 'x' || range AS b, [range] AS l, {'f': 1} AS s FROM range(5)`)
    await folder.write('u.csv', 'SELECT range AS id FROM range(3)')
    await outside.write('secret.csv', `SELECT 'secret' AS word`)
    await folder.run(
      `ATTACH '{path}/e.duckdb' AS e`,
      'CREATE TABLE e.plain AS SELECT 1 AS a',
      `CREATE TABLE e.made (a INTEGER, b VARCHAR GENERATED ALWAYS AS (current_setting('temp_directory')))`,
      `CREATE VIEW e.settings AS SELECT * FROM duckdb_settings()`,
      `CREATE MACRO e.lower(x) AS 'hijacked'`,
      `CREATE MACRO e.all_settings() AS TABLE SELECT * FROM duckdb_settings()`,
    )
    database = testDriver(t).at(folder)
  })
  after(async () => {
    for (const work of cleanUp) await work()
  })

  const ordinary = [
    'SELECT * FROM t',
    'FROM t',
    'TABLE t',
    'VALUES (1), (2)',
    'SELECT * FROM main.t',
    'SELECT * EXCLUDE (a) REPLACE (upper(b) AS b) FROM t',
    `SELECT COLUMNS('a|b') FROM t`,
    "SELECT COLUMNS(c -> c = 'a') FROM t",
    'SELECT a, count(*) FILTER (a > 1) OVER w, sum(a) OVER (PARTITION BY b ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS ()',
    'SELECT CASE WHEN a > 1 THEN 2 ELSE 3 END, a::INTEGER, TRY_CAST(b AS DECIMAL(5, 2)), TRY(a::TINYINT) FROM t',
    `SELECT [1, 2], {'k': 1}, MAP {'k': 1}, l[1], l[1:2], s.f, s['f'] FROM t`,
    'SELECT list_transform(l, lambda x: x + 1), [x + 1 FOR x IN l IF x > 1] FROM t',
    'SELECT x FROM t JOIN u ON t.a = u.id LEFT JOIN LATERAL (SELECT a + 1 AS x) z ON true',
    'SELECT * FROM t ASOF JOIN u ON t.a >= u.id',
    'SELECT * FROM t POSITIONAL JOIN u',
    'SELECT DISTINCT ON (b) b, a FROM t ORDER BY b, a DESC NULLS LAST LIMIT 5 OFFSET 1',
    'SELECT a, grouping(a) FROM t GROUP BY GROUPING SETS ((a), ()) HAVING count(*) > 0 QUALIFY row_number() OVER () = 1',
    'SELECT 1 UNION SELECT 2 EXCEPT SELECT 3 INTERSECT SELECT 4',
    'SELECT * FROM t LIMIT 10%',
    'WITH c AS (SELECT * FROM t), d AS MATERIALIZED (SELECT * FROM c) SELECT * FROM d',
    'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r',
    'SELECT * FROM range(5), unnest([1, 2]) AS n(x), generate_series(1, 3)',
    `SELECT a IN (1, 2), a NOT IN (SELECT id FROM u), EXISTS (FROM u), a BETWEEN 1 AND 2, NOT a > 1, a IS NOT NULL FROM t`,
    `SELECT a IS DISTINCT FROM 1, a = ANY (SELECT id FROM u), a = ANY ([1, 2]), (a, b) = (1, 'x1') FROM t`,
    `SELECT b LIKE 'x%' ESCAPE '\\', b ILIKE 'X_', b NOT LIKE 'y', b SIMILAR TO 'x.', regexp_matches(b, '^x'), b ~ 'x1' FROM t`,
    `SELECT coalesce(b, 'n'), nullif(a, 1), if(a > 1, 'y', 'n'), b || '!', substring(b FROM 1 FOR 1), position('x' IN b) FROM t`,
    `SELECT date '2026-01-31' + interval 1 day, extract(year FROM now()), current_date, now() AT TIME ZONE 'UTC'`,
    `SELECT 'POINT(1 2)'::GEOMETRY && ST_GeomFromWKB(unhex('0101000000000000000000F03F0000000000000040'))`,
    `SELECT CAST({'x': 1} AS STRUCT(x INTEGER)), [1]::INTEGER[], [1, 2]::INTEGER[2], 'a'::ENUM('a', 'b'), 1::HUGEINT`,
    `SELECT '{"a": 1}'::JSON -> 'a', '{"a": 1}'::JSON ->> 'a', to_json([1])`,
    "SELECT list(a ORDER BY b DESC), string_agg(DISTINCT b, ','), quantile_cont(a, 0.5), arg_max(b, a) FROM t",
    'SELECT lag(a IGNORE NULLS) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t',
    'SELECT a FROM t USING SAMPLE 10 PERCENT (bernoulli, 7)',
    'SELECT a COLLATE "C" FROM (SELECT b AS a FROM t) ORDER BY 1 COLLATE NOCASE',
    'SELECT $1::INTEGER + $2::DOUBLE',
    'SELECT t.a, t FROM t -- and a comment',
    `SELECT 1 AS "q"") FROM t; --"`,
    'SELECT hash(a, 1) % 1000 < 10 FROM t',
    "SELECT 123456789012345678901234567890, 1e3, '\\xAB'::BLOB, true, NULL",
  ]
  for (const text of ordinary) {
    test(`lets through ${text}`, async () => {
      await database.check(text, options)
      if (!text.includes('$1')) await rowsOf(database, text)
    })
  }

  test('a macro of an attached database does not take the name of a function', async () => {
    assert.deepEqual(await rowsOf(database, `SELECT lower('A'), a FROM e_plain`), [['a', '1']])
  })

  test('answers the tables that a query reads', async () => {
    const { tables } = await database.check(
      'WITH t2 AS (SELECT * FROM T) SELECT * FROM t2, U WHERE id IN (SELECT a FROM e_plain)',
    )
    assert.deepEqual(tables.toSorted(), ['e_plain', 't', 'u'])
  })

  /** `FOLDER` and `OUTSIDE` are the paths of folders. */
  const refused: { readonly [way: string]: readonly string[] } = {
    'other statements': [
      `COPY t TO 'FOLDER/t.parquet' (USE_TMP_FILE false)`,
      `COPY (SELECT 1) TO 'FOLDER/new.csv'`,
      `EXPORT DATABASE 'FOLDER/out'`,
      `IMPORT DATABASE 'FOLDER'`,
      `ATTACH 'FOLDER/new.duckdb' AS n`,
      'DETACH memory',
      'CREATE TABLE x AS SELECT 1',
      'CREATE MACRO lower(x) AS 1',
      'DROP VIEW t',
      `INSERT INTO t VALUES (1)`,
      `MERGE INTO t USING u ON a = id WHEN MATCHED THEN DELETE`,
      'BEGIN',
      'USE memory',
      'SET VARIABLE v = 1',
      'SET threads = 8',
      'RESET threads',
      'PRAGMA database_list',
      'CALL enable_logging()',
      'INSTALL httpfs',
      'LOAD httpfs',
      'EXPLAIN SELECT 1',
      'CHECKPOINT',
      'VACUUM',
      'PREPARE p AS SELECT 1',
      'EXECUTE p',
      'PIVOT t ON a',
      'WITH x AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM x',
      'SELECT 1; SELECT 2',
      'SELECT 1; DROP VIEW t',
      'SELECT 1;',
      '',
    ],
    'other files': [
      `SELECT * FROM 'OUTSIDE/secret.csv'`,
      `SELECT * FROM "OUTSIDE/secret.csv"`,
      `SELECT * FROM 'FOLDER/t.parquet'`,
      `SELECT * FROM 't.parquet'`,
      `SELECT * FROM read_csv('OUTSIDE/secret.csv')`,
      `SELECT * FROM read_text('/etc/passwd')`,
      `SELECT * FROM read_blob('/proc/self/environ')`,
      `SELECT * FROM glob('/**')`,
      `SELECT * FROM sniff_csv('OUTSIDE/secret.csv')`,
      `SELECT * FROM parquet_metadata('FOLDER/t.parquet')`,
      `SELECT * FROM read_duckdb('FOLDER/e.duckdb')`,
      `SELECT * FROM 'https://example.com/a.parquet'`,
      `SELECT * FROM 's3://bucket/a.parquet'`,
      `WITH "OUTSIDE/secret.csv" AS (SELECT 1) SELECT * FROM "OUTSIDE/secret.csv"`,
      `SELECT * FROM t WHERE a IN (SELECT 1 FROM 'OUTSIDE/secret.csv')`,
      `SELECT (SELECT count(*) FROM read_csv('OUTSIDE/secret.csv')) FROM t`,
      `SELECT list_transform(l, lambda x: (SELECT count(*) FROM 'OUTSIDE/secret.csv')) FROM t`,
      `WITH x AS (SELECT * FROM read_csv('OUTSIDE/secret.csv')) SELECT 1`,
      `SELECT 1 LIMIT (SELECT count(*) FROM 'OUTSIDE/secret.csv')`,
      `SELECT sum(a) OVER (ORDER BY (SELECT count(*) FROM 'OUTSIDE/secret.csv')) FROM t`,
    ],
    'functions that act': [
      `SELECT * FROM enable_logging(storage_path = 'FOLDER/log')`,
      'SELECT * FROM enable_profiling()',
      'SELECT * FROM checkpoint()',
      'SELECT * FROM force_checkpoint()',
      'SELECT * FROM truncate_duckdb_logs()',
      'SELECT * FROM enable_peg_parser()',
      `SELECT * FROM query('SELECT 1')`,
      `SELECT * FROM query_table('t')`,
      `SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))`,
      `SELECT json_serialize_sql('SELECT 1')`,
      `SELECT * FROM read_csv('FOLDER/u.csv', store_rejects = true)`,
      `SELECT write_log('x')`,
      'SELECT sleep_ms(1000)',
      'SELECT pg_sleep(1)',
      'SELECT setseed(0.5)',
      `SELECT nextval('s')`,
    ],
    'what tells of the server': [
      `SELECT current_setting('temp_directory')`,
      'SELECT * FROM duckdb_settings()',
      'SELECT * FROM duckdb_settings',
      'SELECT * FROM duckdb_databases()',
      'SELECT * FROM pg_settings',
      'SELECT * FROM pg_catalog.pg_class',
      'SELECT * FROM information_schema.tables',
      'SELECT * FROM sqlite_master',
      'SELECT * FROM duckdb_tables',
      'SELECT * FROM (DESCRIBE t)',
      'SELECT * FROM (SHOW TABLES)',
      'SELECT * FROM (SUMMARIZE t)',
      'DESCRIBE t',
      'SHOW ALL TABLES',
      'SELECT version()',
      'SELECT current_query()',
      `SELECT getvariable('x')`,
      `SELECT getenv('PATH')`,
      // The name is defined in one place and used in another, where it is DuckDB's own.
      'SELECT * FROM (WITH duckdb_settings AS (SELECT 1) SELECT * FROM duckdb_settings) a, duckdb_settings',
      'WITH "duckdb_tables" AS (SELECT 1) SELECT 1',
      'WITH PG_Settings AS (SELECT 1) SELECT 1',
    ],
    'what an attached database brings': [
      'SELECT * FROM e.settings',
      'SELECT * FROM file_e.main.settings',
      'SELECT * FROM file_e.main.plain',
      'SELECT * FROM e_settings',
      'SELECT * FROM e_made',
      `SELECT file_e.lower('A')`,
      `SELECT file_e.main.lower('A')`,
      'SELECT * FROM file_e.all_settings()',
      'SELECT * FROM all_settings()',
      `SELECT memory.main.lower('A')`,
      `SELECT system.main.getvariable('A')`,
    ],
    'what makes large values': [
      `SELECT repeat('a', 1000000000)`,
      `SELECT lpad('a', 1000000000, 'b')`,
      `SELECT printf('%1000000000d', 1)`,
      `SELECT format('{:1000000000d}', 1)`,
      'SELECT range(1000000000)',
      'SELECT unnest(range(1000000000))',
      'SELECT unnest(generate_series(1, 1000000000))',
      `SELECT list_sort(l) FROM t`,
      'SELECT list_reduce(l, lambda x, y: x + y) FROM t',
      `SELECT levenshtein(b, b) FROM t`,
      `SELECT list_aggregate(l, 'sum') FROM t`,
      `SELECT bitstring('1', 1000000)`,
    ],
    'what is written around the check': [
      'SELECT 1) AS q, (SELECT 2',
      'SELECT 1 /*',
      'SELECT\0 1',
      `SELECT '\0'`,
      'SELECT a.lower() FROM t',
      `SELECT t.b.upper() FROM t`,
      'SELECT * FROM t AT (VERSION => 1)',
      'SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2))',
      'SELECT DEFAULT',
      'SELECT * FROM nowhere',
    ],
  }
  for (const [way, texts] of Object.entries(refused)) {
    for (const text of texts) {
      test(`refuses ${way}: ${text}`, async () => {
        const written = text.replaceAll('FOLDER', folder.directory).replaceAll('OUTSIDE', outside.directory)
        const before = readdirSync(folder.directory)
        await assert.rejects(database.check(written, options), { code: 'refused' })
        // A caller who forgets to check is refused as well, except for a text that is only good within parentheses.
        if (text !== 'SELECT 1) AS q, (SELECT 2') {
          await assert.rejects(rowsOf(database, written), { code: 'refused' })
          await assert.rejects(database.describe(written, options), { code: 'refused' })
          await assert.rejects(database.explain({ text: written, values: [] }, options), { code: 'refused' })
        }
        assert.deepEqual(readdirSync(folder.directory), before)
      })
    }
  }

  test('walks a tree that is thousands of levels deep, and refuses it', async () => {
    const text = `SELECT ${'('.repeat(900)}1${')'.repeat(900)} AS a`
    assert.deepEqual(await rowsOf(database, text), [['1']])
    const deep = `SELECT ${'1 + '.repeat(49_000)}1`
    await assert.rejects(rowsOf(database, deep), { code: 'refused' })
    assert.deepEqual(await rowsOf(database, 'SELECT 1'), [['1']])
  })

  test('names what it refuses, and no path of the server', async () => {
    await assert.rejects(database.check(`SELECT sleep_ms(1)`), {
      message: 'The SQL calls sleep_ms, which is not among the allowed functions.',
    })
    await assert.rejects(database.check(`SELECT * FROM nowhere`), {
      message: 'The SQL names the table "nowhere", which is not in the folder.',
    })
    await assert.rejects(database.check('SELECT FROM WHERE'), {
      message: /^The SQL cannot be parsed: syntax error at or near/,
    })
    await assert.rejects(database.check('DROP VIEW t'), { message: 'The SQL must be a SELECT.' })
  })
})

describe('the allow-list', () => {
  test('holds only functions that DuckDB has, and knows how its own views begin', async () => {
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const names = async (text: string): Promise<string[]> =>
      (await connection.runAndReadAll(text)).getRows().map(([name]) => String(name))
    const functions = new Set(await names('SELECT DISTINCT lower(function_name) FROM duckdb_functions()'))
    // What the parser makes calls of without their being in the catalog under that name.
    for (const name of ['->', 'row_number', 'unnest', 'struct_extract']) functions.add(name)
    assert.deepEqual(
      [...allowedFunctions].filter((name) => !functions.has(name)),
      [],
    )
    const views = await names(`SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND internal`)
    assert.ok(views.length > 10)
    assert.deepEqual(
      views.filter((name) => !systemName.test(name)),
      [],
    )
    connection.disconnectSync()
    instance.closeSync()
  })

  test('has none that acts, tells of the server or runs SQL', () => {
    const closed =
      `repeat lpad rpad printf format bitstring range generate_series list_resize list_sort list_reverse_sort list_reduce
      array_resize array_sort array_reduce reduce levenshtein damerau_levenshtein editdist3 write_log sleep_ms pg_sleep setseed
      nextval currval json_serialize_sql json_deserialize_sql json_serialize_plan list_aggregate list_aggr array_aggregate
      array_aggr aggregate version current_setting current_query current_database getvariable stats create_sort_key error
      read_text read_blob query query_table getenv txid_current in_search_path`.split(/\s+/)
    assert.deepEqual(
      closed.filter((name) => allowedFunctions.has(name)),
      [],
    )
    assert.deepEqual(
      [...allowedFunctions].filter((name) =>
        /^(pg_|has_|duckdb_|__|current_(setting|query|database|schema|user))/.test(name),
      ),
      [],
    )
  })
})

test('beyond the check, the locked instance reads no other file and the files stay as they are', async (t) => {
  const folder = testFolder(t)
  const outside = testFolder(t)
  await folder.write('t.csv', 'SELECT 1 AS a')
  await outside.write('secret.csv', `SELECT 'secret' AS word`)
  const { createInstance, lockInstance } = await import('./child/instance.ts')
  const instance = await createInstance({ temporaryDirectory: outside.path('spill'), memoryMb: 200, threads: 1 })
  const connection = await instance.connect()
  t.after(() => {
    connection.disconnectSync()
    instance.closeSync()
  })
  await lockInstance(instance, [folder.path('t.csv')])
  assert.equal((await connection.runAndReadAll(`FROM read_csv('${folder.path('t.csv')}')`)).getRows().length, 1)
  const before = readFileSync(folder.path('t.csv'), 'utf8')
  const statements = [
    `FROM read_csv('${outside.path('secret.csv')}')`,
    `FROM '${outside.path('secret.csv')}'`,
    `FROM read_text('/etc/passwd')`,
    `FROM glob('${outside.directory}/*')`,
    `FROM read_csv('${folder.path('*.csv')}')`,
    `COPY (SELECT 1) TO '${folder.path('new.csv')}'`,
    `COPY (SELECT 1) TO '${outside.path('new.csv')}'`,
    `ATTACH '${folder.path('new.duckdb')}'`,
    `FROM read_csv('${folder.directory}/../${outside.directory.split('/').at(-1)}/secret.csv')`,
    'SET enable_external_access = true',
    'SET threads = 8',
    'RESET allowed_paths',
    'INSTALL httpfs',
    'LOAD httpfs',
    `FROM 'https://example.com/a.csv'`,
  ]
  for (const statement of statements) await assert.rejects(connection.run(statement), statement)
  assert.equal(readFileSync(folder.path('t.csv'), 'utf8'), before)
  assert.deepEqual(readdirSync(folder.directory), ['t.csv'])
  assert.ok(!existsSync(outside.path('new.csv')))
})
