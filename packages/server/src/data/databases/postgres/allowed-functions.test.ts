import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { inParallel } from '../../../../testing/in-parallel.ts'
import { ordinaryQueries } from '../../../../testing/requests/ordinary-queries.ts'
import type { Row } from '../../../kernel/db/db.ts'
import { raw } from '../../../kernel/db/sql.ts'
import { postgisFunctions } from './tenant-sql/postgis-functions.ts'
import { sqlFunctions, sqlTypes } from './tenant-sql/sql-functions.ts'
import { isCallingField, isKnownFunction } from './tenant-sql/sql-names.ts'

let app: TestApp
let tenant: Tenant
let version: number

before(async () => {
  app = await testApp()
  tenant = await app.tenant('ordinary')
  const schema = `app_${tenant.id.replaceAll('-', '')}`
  await app.db.script(`
    CREATE TABLE ${schema}.places (id int PRIMARY KEY, name text, kind text, pop int, at timestamptz, tags text[], info jsonb,
      geom geometry(Point, 4326));
    INSERT INTO ${schema}.places VALUES
      (1, 'Bern', 'city', 134, '2026-01-31', '{a,b}', '{"a": 1, "b": {"c": 2}}', ST_Point(7.45, 46.95, 4326)),
      (2, 'Zug', 'city', 30, '2026-02-01', '{b}', '{"a": 2}', ST_Point(8.5, 47.2, 4326)),
      (3, 'Muri', 'village', 13, NULL, NULL, NULL, ST_Point(7.49, 46.93, 4326));
    CREATE TABLE ${schema}.areas (id int PRIMARY KEY, geom geometry(Polygon, 4326));
    INSERT INTO ${schema}.areas VALUES (1, ST_MakeEnvelope(7, 46, 8, 48, 4326));
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`)
  const [row] = await app.db.query<{ version: string }>(raw(`SELECT current_setting('server_version_num') AS version`))
  version = Math.floor(Number(row?.version) / 10_000)
})
after(() => app.close())

type Overload = Row & {
  name: string
  kind: string
  volatility: string
  definer: boolean
  fewest: number
  most: number
  /** Of arguments and result, arrays as their items. */
  types: string[]
}

const overloads = (): Promise<Overload[]> =>
  app.db.query<Overload>(
    raw(`
    SELECT p.proname AS name, p.prokind::text AS kind, p.provolatile::text AS volatility, p.prosecdef AS definer,
           p.pronargs - p.pronargdefaults AS fewest, p.pronargs AS most,
           (SELECT array_agg(DISTINCT CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN i.typname ELSE t.typname END::text)
            FROM unnest(p.proargtypes::oid[] || coalesce(p.proallargtypes, '{}') || p.prorettype) a
              JOIN pg_type t ON t.oid = a LEFT JOIN pg_type i ON i.oid = t.typelem) AS types
    FROM pg_proc p WHERE p.pronamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace)`),
  )

/** Pseudo-types take values of any type, but make none of a type that was not there. */
const polymorphic = /^(any\w*|record|trigger)$/
/** Numbers whose texts are numbers, and a text that only PostGIS's own functions take. */
const harmless = /^(regconfig|oid|xid8?|tid|pg_lsn|cstring|spheroid)$/

const isValueType = (type: string): boolean => sqlTypes.has(type) || polymorphic.test(type)

test('no overload of an allowed function takes or returns a type whose text is a name of the catalog', async () => {
  const allowed = (await overloads()).filter(({ name }) => isKnownFunction(name))
  assert.ok(allowed.length > 1000, `${allowed.length}`)
  for (const { name, types, definer } of allowed) {
    assert.ok(!definer, `${name} runs with the rights of its owner`)
    for (const type of types) assert.ok(isValueType(type) || harmless.test(type), `${name} has ${type}`)
  }
  const texts = new Set('age max min st_swapordinates to_tsvector oid'.split(' '))
  const odd = allowed.filter(({ types }) => types.some((type) => /^(oid|xid8?|tid|pg_lsn|cstring)$/.test(type)))
  for (const { name } of odd) assert.ok(texts.has(name) || sqlTypes.has(name), `${name} takes numbers of the catalog`)
})

test('the allowed functions and types are there, in this version or another', async () => {
  const names = new Set((await overloads()).map(({ name }) => name))
  const missing = [...sqlFunctions, ...postgisFunctions].filter((name) => !names.has(name))
  // PostgreSQL 15 and PostGIS 3.3 lack what came later, and the embedded PostGIS what needs protobuf.
  assert.ok(missing.length < 60, missing.join(' '))
})

/** What a field's name may call without telling anything: functions of values, of numbers and of their own texts. */
const isPure = ({ volatility, types, definer }: Overload): boolean =>
  volatility !== 'v' && !definer && types.every((type) => isValueType(type) || harmless.test(type) || inner.test(type))
const inner = /^(void|cid|oidvector|int2vector|unknown|gtsvector|\w+_handler|event_trigger|box2df|gidx)$/

test('a field that is no field calls nothing but functions of values', async () => {
  // Nobody has a value of type internal to call a function with.
  const callable = (await overloads()).filter(
    ({ fewest, most, types }) => fewest <= 1 && most >= 1 && !types.includes('internal'),
  )
  const open = callable.filter(({ name }) => !isCallingField(name) && !isKnownFunction(name))
  assert.ok(open.length > 200, `${open.length}`)
  const leaks = open.filter((overload) => !isPure(overload))
  assert.deepEqual(
    leaks.map(({ name, types }) => `${name} ${types}`),
    [],
  )
})

/** Of tables that everybody may read. */
const rowTypes = /^_?(geometry_columns|geography_columns|spatial_ref_sys)$/

test('a field that is no field casts to no type whose text is a name of the catalog', async () => {
  const types = await app.db.query<{ name: string }>(
    raw(`SELECT typname AS name FROM pg_type WHERE typtype IN ('b', 'c', 'd', 'e', 'r', 'm')
         AND typnamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace)`),
  )
  const isHarmless = (type: string): boolean => isValueType(type) || harmless.test(type) || inner.test(type)
  const open = types.map(({ name }) => name).filter((name) => !isCallingField(name) && !rowTypes.test(name))
  assert.deepEqual(
    open.filter((name) => !isHarmless(name.replace(/^_/, ''))),
    [],
  )
})

test('no operator makes a value whose text is a name of the catalog', async () => {
  const operators = await app.db.query<{ name: string; result: string; volatility: string }>(
    raw(`SELECT o.oprname AS name, t.typname AS result, p.provolatile::text AS volatility
         FROM pg_operator o JOIN pg_type t ON t.oid = o.oprresult JOIN pg_proc p ON p.oid = o.oprcode`),
  )
  assert.ok(operators.length > 500)
  const makers = operators.filter(({ name, result, volatility }) => {
    // These change rights, which nobody has a value of to begin with.
    const isOfRights = result === '_aclitem' && /^[+-]$/.test(name)
    return volatility === 'v' || (!isValueType(result.replace(/^_/, '')) && !harmless.test(result) && !isOfRights)
  })
  assert.deepEqual(makers, [])
})

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

/** What is wrong with an answer to a query, its rows or its plan. */
async function faultOf(source: string): Promise<string | undefined> {
  const created = await call('POST', '/api/v1/datasets', { body: { name: 'ordinary', type: 'sql', source } })
  if (created.status !== 201) return created.body.detail
  const url = `/api/v1/datasets/${created.body.id}/query`
  for (const answer of [await call('GET', url), await call('GET', `${url}?explain=true`)]) {
    if (answer.status !== 200) return answer.body.detail
  }
  return undefined
}

/** Several columns without a name are called alike, which a dataset's may not be. */
const inOneColumn = (query: string): string => `SELECT row_to_json(q) AS row FROM (\n${query}\n) q`

test('ordinary queries of tenants run in the sandbox', async () => {
  assert.ok(ordinaryQueries.length >= 100)
  const faults: string[] = []
  await inParallel([...ordinaryQueries], async (query) => {
    const { sql: text, since } = typeof query === 'string' ? { sql: query, since: 0 } : query
    if (version < since) return
    const first = await faultOf(text)
    const fault = first?.includes('two columns') ? await faultOf(inOneColumn(text)) : first
    if (fault !== undefined) faults.push(`${text}: ${fault}`)
  })
  assert.deepEqual(faults, [])
})
