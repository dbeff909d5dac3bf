import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { migratedDatabase, type TestDatabase, testDatabase } from '../../../../testing/database.ts'
import { breakOuts, endless } from '../../../../testing/hostile/break-outs.ts'
import type { Queryable, Row } from '../../../kernel/db/db.ts'
import { openPostgres } from '../../../kernel/db/postgres/postgres.ts'
import { hardeningText } from '../../../kernel/db/schema/hardening.ts'
import { migrate } from '../../../kernel/db/schema/migrate.ts'
import { ident, raw, sql } from '../../../kernel/db/sql.ts'
import { readPlatformServer } from '../../../kernel/libpq/platform-server.ts'
import { checkTenantSql } from './tenant-sql/tenant-sql.ts'

const canary = `canary${randomBytes(8).toString('hex')}`
const [attacker, victim] = [randomUUID(), randomUUID()]
const tenantName = (id: string): string => `app_${id.replaceAll('-', '')}`
const [own, other] = [tenantName(attacker), tenantName(victim)]
const password = randomBytes(16).toString('hex')

/** What a hostile text brought: rows, or the code of the database's refusal. */
type Outcome = { rows: unknown[] } | { code: string; message: string }

let database: TestDatabase
let client: pg.Client | undefined

before(async () => {
  database = await migratedDatabase()
  const { db, url } = database
  for (const [id, name] of [[attacker, 'a'] as const, [victim, 'v'] as const]) {
    await db.query(sql`INSERT INTO svc.applications (id, name, description, contact) VALUES (${id}, ${name}, '', '')`)
  }
  await db.query(sql`INSERT INTO svc.settings (name, value) VALUES ('secret', ${canary})`)
  await db.query(sql`
    INSERT INTO svc.apikeys (hash, secret, application_id, description, type, permissions)
    VALUES ('\\x01', ${canary}, ${victim}, '', 'app', '{}')`)
  await db.script(`
    CREATE TABLE public.canary AS SELECT '${canary}' AS value;
    CREATE TABLE ${other}.secret AS SELECT '${canary}' AS value;
    CREATE TABLE ${other}.places AS SELECT ST_SetSRID(ST_MakePoint(137.731, 61.21937 + i / 1e9), 4326) AS geom
      FROM generate_series(1, 200) i;
    ANALYZE ${other}.places;
    CREATE TABLE ${own}.own AS SELECT 1 AS id`)
  if (url === undefined) return
  await db.query(sql`SELECT svc.open_tenant(${attacker}, ${password})`)
  const address = new URL(url)
  address.username = own
  address.password = password
  client = new pg.Client({ connectionString: address.href })
  await client.connect()
})

after(async () => {
  await client?.end()
  // Roles outlive the database that they were made for.
  await database?.db.query(sql`DELETE FROM svc.applications WHERE id = ANY (${[attacker, victim]}::uuid[])`)
  await database?.close()
})

const attack = (text: string): Promise<Outcome> =>
  client ? attackOnPostgres(client, text) : attackEmbedded(text.replaceAll('{other}', other))

async function attackOnPostgres(session: pg.Client, text: string): Promise<Outcome> {
  await session.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = '1s'; SET LOCAL search_path = ${own}, public`)
  try {
    const wrapped = wrap(text.replaceAll('{other}', other))
    const { rows } = await session.query({ text: wrapped, queryMode: 'extended' } as pg.QueryConfig)
    return { rows }
  } catch (error) {
    return refusalOf(error)
  } finally {
    await session.query('ROLLBACK')
  }
}

class Undo extends Error {}

async function attackEmbedded(text: string): Promise<Outcome> {
  let outcome: Outcome = { rows: [] }
  const work = async (tx: Queryable): Promise<never> => {
    await tx.query(raw('SET TRANSACTION READ ONLY'))
    await tx.query(sql`SET LOCAL search_path = ${ident(own)}, public`)
    await tx.query(sql`SET LOCAL ROLE ${ident(own)}`)
    outcome = await tx.query<Row>(raw(wrap(text))).then((rows) => ({ rows }), refusalOf)
    throw new Undo()
  }
  await database.db.transaction(work).catch((error) => {
    if (!(error instanceof Undo)) throw error
  })
  return outcome
}

const wrap = (text: string): string => `SELECT * FROM (\n${text}\n) q`

function refusalOf(error: unknown): Outcome {
  const { code, message } = error as { code?: string; message: string }
  return { code: code ?? 'none', message }
}

/** Everything of the service's and of the victim's, in one text. */
async function state(): Promise<string> {
  const tables = [
    'svc.applications',
    'svc.apikeys',
    'svc.settings',
    'svc.databases',
    'public.canary',
    `${other}.secret`,
  ]
  const sums = tables.map((table) => `(SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM ${table} t)`)
  const [row] = await database.db.query(
    raw(`SELECT concat_ws('/', ${sums.join(', ')}, (SELECT count(*) FROM ${own}.own),
      (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_class WHERE relname = 'stolen'),
      (SELECT string_agg(rolname || rolsuper || rolcreaterole, ',' ORDER BY rolname) FROM pg_roles
       WHERE rolname IN ('${own}', '${other}')),
      (SELECT md5(string_agg(nspname || nspacl::text, ',' ORDER BY nspname)) FROM pg_namespace
       WHERE nspname IN ('svc', 'public', '${own}', '${other}'))) AS state`),
  )
  return String(row?.state)
}

// The embedded database cannot be interrupted from inside; there the session is ended from outside.
const isRunnable = (text: string): boolean => client !== undefined || !endless.includes(text)

/** The answer of the database to a text, which must hold nothing of others. */
async function assertNothingRead(text: string): Promise<Outcome> {
  const outcome = await attack(text)
  const answer = JSON.stringify(outcome, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  assert.ok(!answer.includes(canary), `${text} reads ${answer}`)
  assert.doesNotMatch(answer, /137\.731|61\.2193|root:x:|SCRAM-SHA/, `${text} reads ${answer}`)
  return outcome
}

const isRefused = (text: string): Promise<boolean> =>
  checkTenantSql(text.replaceAll('{other}', other), { schema: own, isShared: true }).then(
    () => false,
    () => true,
  )

const harden = (): Promise<void> => database.admin.script(hardeningText)

async function assertDenied(texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const outcome = await attack(text)
    assert.equal('code' in outcome && outcome.code, '42501', `${text}: ${JSON.stringify(outcome)}`)
  }
}

test('without hardening, no break-out that the check of SQL lets pass reads a canary or changes anything', async (t) => {
  if (!client || process.env.TEST_HARDENED) return t.skip('the database is hardened already')
  const before = await state()
  for (const text of breakOuts.filter(isRunnable)) if (!(await isRefused(text))) await assertNothingRead(text)
  assert.equal(await state(), before)
})

test('the role can neither become another one nor read what is secret, without hardening', async () => {
  await assertDenied([
    'SELECT * FROM pg_authid',
    'SELECT * FROM pg_shadow',
    'SELECT * FROM svc.settings',
    `SELECT * FROM ${other}.secret`,
    'SELECT * FROM public.canary',
    "SELECT pg_read_file('PG_VERSION')",
  ])
})

test('no break-out reads a canary or changes anything, also when only the role is in its way', async () => {
  await harden()
  const before = await state()
  const tally = { both: 0, sqlOnly: [] as string[], roleOnly: [] as string[], neither: [] as string[] }
  for (const text of breakOuts.filter(isRunnable)) {
    const refused = await isRefused(text)
    // No driver can send NUL; the first wall answers for that.
    const stopped = 'code' in (await assertNothingRead(text))
    if (refused && stopped) tally.both++
    else (refused ? tally.sqlOnly : stopped ? tally.roleOnly : tally.neither).push(text)
  }
  assert.equal(await state(), before)
  if (process.env.FORTRESS_REPORT) console.log(JSON.stringify(tally, null, 1))
})

test('the role can neither become another one nor read what is secret', async () => {
  await harden()
  await assertDenied([
    "SELECT set_config('role', 'none', true)",
    "SELECT set_config('statement_timeout', '0', true)",
    "SELECT query_to_xml('select 1', true, false, '')",
    "SELECT * FROM ts_stat('select null::tsvector')",
    'SELECT * FROM pg_authid',
    'SELECT * FROM pg_shadow',
    'SELECT * FROM svc.settings',
    `SELECT * FROM ${other}.secret`,
    'SELECT * FROM public.canary',
    "SELECT pg_read_file('PG_VERSION')",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT pg_notify('a', 'b')",
    'SELECT pg_advisory_lock(1)',
    `SELECT ST_EstimatedExtent('${other}', 'places', 'geom')`,
    'SELECT * FROM pg_class',
    'SELECT * FROM pg_namespace',
    'SELECT * FROM pg_attribute',
    'SELECT * FROM pg_roles',
    'SELECT * FROM pg_stats',
    'SELECT format_type(16, -1)',
    "SELECT oidvectortypes('16')",
    'SELECT regclassout(1259)',
    'SELECT regnamespaceout(11)',
    'SELECT regroleout(10)',
    "SELECT record_in('()', 16, -1)",
    'SELECT pg_typeof(1)',
    "SELECT to_regclass('pg_class')",
    'SELECT pg_get_userbyid(10)',
    'SELECT pg_describe_object(1259, 1259, 0)',
    'SELECT pg_relation_size(1259)',
    "SELECT has_table_privilege('pg_class', 'select')",
    "SELECT has_schema_privilege('svc', 'usage')",
    "SELECT obj_description(1259, 'pg_class')",
    `SELECT Find_SRID('${other}', 'places', 'geom')`,
    'SELECT postgis_full_version()',
    "SELECT ST_Transform(ST_MakePoint(1, 2), '+proj=longlat +nadgrids=/etc/passwd', '+proj=longlat')",
  ])
})

test('what tenants need still works after hardening: their tables, PostGIS, transformations, tiles', async () => {
  await harden()
  const needed = [
    'SELECT * FROM own',
    'SELECT ST_AsText(ST_Transform(ST_SetSRID(ST_MakePoint(1, 2), 4326), 3857))',
    'SELECT ST_AsGeoJSON(ST_Buffer(ST_MakePoint(1, 2)::geography, 10)), postgis_version()',
    'SELECT * FROM spatial_ref_sys LIMIT 1',
    "SELECT to_tsvector('english', 'cats') @@ to_tsquery('cat'), gen_random_uuid(), random()",
  ]
  // The embedded PostGIS makes no tiles.
  if (client) {
    needed.push(
      "SELECT ST_AsMVT(q, 'a') FROM (SELECT ST_AsMVTGeom(ST_MakePoint(1, 2), ST_TileEnvelope(0, 0, 0)) AS geom) q",
    )
  }
  for (const text of needed) {
    await checkTenantSql(text, { schema: own, isShared: true })
    const outcome = await attack(text)
    assert.ok('rows' in outcome && outcome.rows.length === 1, `${text}: ${JSON.stringify(outcome)}`)
  }
})

test('a session of the role starts read-only and cannot make temporary tables', async (t) => {
  if (!client) return t.skip('only on PostgreSQL does a tenant have sessions')
  const { rows } = await client.query('SHOW default_transaction_read_only')
  assert.equal(rows[0]?.default_transaction_read_only, 'on')
  await assert.rejects(client.query('BEGIN READ WRITE; CREATE TEMP TABLE x (a int)'), /permission denied/)
  await client.query('ROLLBACK')
  await assert.rejects(client.query(`SET ROLE ${other}`), /permission denied/)
})

test('tenants are opened by several replicas at once, and leave nothing behind', async () => {
  const { db } = database
  const id = randomUUID()
  await db.query(sql`INSERT INTO svc.applications (id, name, description, contact) VALUES (${id}, 'x', '', '')`)
  await Promise.all([id, victim, id, victim, id].map((each) => db.query(sql`SELECT svc.open_tenant(${each}, 'x')`)))
  await db.query(sql`DELETE FROM svc.applications WHERE id = ${id}`)
  const left = await db.query(sql`
    SELECT rolname FROM pg_roles WHERE rolname = ${tenantName(id)}
    UNION ALL SELECT nspname FROM pg_namespace WHERE nspname = ${tenantName(id)}`)
  assert.deepEqual(left, [])
})

test('a role that was a superuser only for the migrations serves on', async (t) => {
  if (!database.url) return t.skip('only PostgreSQL has several roles that log in')
  const fresh = await testDatabase()
  // The tests of break-outs, which look at all powerful roles of the cluster, leave this name out.
  const role = `of_another_test_${randomBytes(6).toString('hex')}`
  const id = randomUUID()
  const address = new URL(fresh.url ?? '')
  try {
    await fresh.admin.script(`CREATE ROLE ${role} LOGIN SUPERUSER CREATEROLE PASSWORD '${password}';
      ALTER DATABASE ${address.pathname.slice(1)} OWNER TO ${role}`)
    address.username = role
    address.password = password
    const db = openPostgres({ platform: readPlatformServer(address.href), poolSize: 2, onError: () => {} })
    try {
      await migrate(db)
      await fresh.admin.script(`ALTER ROLE ${role} NOSUPERUSER`)
      await db.query(sql`INSERT INTO svc.applications (id, name, description, contact) VALUES (${id}, 'x', '', '')`)
      await db.query(sql`SELECT svc.open_tenant(${id}, 'x'), pg_advisory_xact_lock(1), set_config('a.b', 'c', true)`)
      const [row] = await db.query(sql`
        SELECT format_type(a.atttypid, a.atttypmod) AS type FROM pg_attribute a
        WHERE attrelid = 'svc.applications'::regclass AND attname = 'id' AND has_schema_privilege(${tenantName(id)}::name, 'svc', 'USAGE') = false`)
      assert.deepEqual(row, { type: 'uuid' })
      await db.query(sql`DELETE FROM svc.applications WHERE id = ${id}`)
    } finally {
      await db.close()
    }
  } finally {
    await fresh.close()
    await database.admin.script(`DROP ROLE IF EXISTS ${role}`)
  }
})
