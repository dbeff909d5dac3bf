// One database is enough: the embedded one has no roles that log in.
import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { createApp } from '../src/boot/app.ts'
import { openPlatform } from '../src/boot/platform.ts'
import { createLogger } from '../src/boot/start/log.ts'
import type { Db } from '../src/kernel/db/db.ts'
import { openPostgres } from '../src/kernel/db/postgres/postgres.ts'
import { formerChecksums } from '../src/kernel/db/schema/amended-migrations.ts'
import { hardeningText, readHardening } from '../src/kernel/db/schema/hardening.ts'
import { migrate } from '../src/kernel/db/schema/migrate.ts'
import { raw, sql } from '../src/kernel/db/sql.ts'
import { readPlatformServer } from '../src/kernel/libpq/platform-server.ts'
import { loadConfig } from '../src/kernel/settings/config.ts'
import { runCommandLine } from '../testing/command-line.ts'
import { migratedDatabase, testDatabase } from '../testing/database.ts'
import { about } from '../testing/harness.ts'

const skip = process.env.TEST_DATABASE_URL ? false : 'the embedded database has one role'
const former = join(import.meta.dirname, '../testing/upgrades/former-migrations')
const migrations = join(import.meta.dirname, '../src/kernel/db/migrations')
/** The last migration of the release that needed a superuser. */
const lastFormer = 34

const migrationNumbers = async (): Promise<number[]> =>
  (await readdir(migrations))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => Number(file.slice(0, 4)))
    .sort()
const secret = 'a secret of at least 32 characters for this'

/** The database of a role as docs/deploy.md asks for it, which nobody has migrated. */
async function openWay(t: TestContext) {
  const database = await testDatabase()
  // The tests of break-outs, which look at all powerful roles of the cluster, leave this name out.
  const role = `of_another_test_${randomBytes(6).toString('hex')}`
  const url = new URL(database.url ?? '')
  const name = url.pathname.slice(1)
  url.username = role
  const directory = await mkdtemp(join(tmpdir(), 'graticule-ways-'))
  await database.admin.script(`CREATE ROLE ${role} LOGIN CREATEROLE`)
  await database.admin.script(`ALTER DATABASE ${name} OWNER TO ${role}`)
  t.after(async () => {
    // Also what the role was granted in the cluster: the right to set a parameter.
    await database.admin.script(`DROP OWNED BY ${role} CASCADE`)
    await database.close()
    await onCluster(`DROP ROLE ${role}`)
    await rm(directory, { recursive: true, force: true })
  })
  const settings = { DATA_DIR: join(directory, 'data'), SECRET_KEY: secret, EGRESS_ALLOW: '127.0.0.1:*' }
  return {
    role,
    name,
    directory,
    url: url.href,
    adminUrl: database.adminUrl ?? '',
    admin: database.admin,
    /** The settings of a server, for the command line. */
    envOf: (address: string) => ({ ...settings, PATH: process.env.PATH ?? '', DATABASE_URL: address }),
  }
}

type Way = Awaited<ReturnType<typeof openWay>>

async function onCluster(statement: string): Promise<void> {
  const db = openPostgres({
    platform: readPlatformServer(process.env.TEST_DATABASE_URL ?? ''),
    poolSize: 1,
    onError: () => {},
  })
  await db.script(statement).finally(() => db.close())
}

/** Starts a server as the role, uses what needs rights, and takes all of it away again. */
async function assertServes({ url, envOf, admin, role }: Way, during: () => Promise<void> = async () => {}) {
  const master = randomUUID()
  const config = loadConfig({ ...envOf(url), MASTER_API_KEY: master })
  const { db, secrets } = await openPlatform(config, () => {}, { isEmpty: true })
  const app = await createApp({ db, secrets, logger: createLogger('silent'), config, about })
  const call = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object, status = 200) => {
    const headers = { 'x-api-key': master, ...(application && { 'x-application-id': application }) }
    const reply = await app.http.inject({ method, url: path, headers, ...(body && { payload: body }) })
    assert.equal(reply.statusCode, status, `${method} ${path}: ${reply.body.slice(0, 500)}`)
    return reply
  }
  let application = ''
  try {
    application = (await call('POST', '/api/v1/applications', { name: 'Harbour' }, 201)).json().id
    const columns = [
      { name: 'name', type: 'string' },
      { name: 'geom', type: 'geometry', geometryType: 'Point', srid: 4326 },
    ]
    const table = { type: 'table', name: 'Berths', source: 'berths', columns }
    const { id } = (await call('POST', '/api/v1/datasets', table, 201)).json()
    const rows = `/api/v1/datasets/${id}`
    const berth = { name: 'a', geom: { type: 'Point', coordinates: [5, 53] } }
    await call('POST', `${rows}/rows`, berth, 201)
    assert.equal((await call('GET', `${rows}/query`)).json().length, 1)
    await call('GET', `/tiles/${id}/0/0/0.mvt`)
    await during()
    await call('POST', `${rows}/rows`, berth, 201)
    assert.equal((await call('GET', `${rows}/query?limit=5`)).json().length, 2)
    const query = { type: 'sql', name: 'Names', source: 'SELECT name, ST_AsText(geom) AS text FROM berths' }
    const named = (await call('POST', '/api/v1/datasets', query, 201)).json()
    assert.equal((await call('GET', `/api/v1/datasets/${named.id}/query`)).json().length, 2)
    const schema = `app_${application.replaceAll('-', '')}`
    await db.query(sql`SELECT svc.follow_table(${schema}, 'berths')`)
    await call('DELETE', `${rows}/rows/1`)
    const logged = await db.query(
      sql`SELECT operation FROM svc.change_log WHERE relation = ${`${schema}.berths`}::regclass`,
    )
    assert.deepEqual(logged, [{ operation: 'delete' }])
    await db.query(sql`SELECT svc.sweep_changes('1 day', 10), svc.sweep_audit(30, 10)`)
    await call('GET', '/api/v1/readiness')
    assert.deepEqual(await notOf(admin, role), [])
    await call('DELETE', `/api/v1/applications/${application}`)
    const left = await admin.query(sql`SELECT FROM pg_roles WHERE rolname = ${schema}`)
    assert.equal(left.length, 0, 'the role of the application goes with it')
  } finally {
    await app.close()
    await db.close()
  }
}

/** The platform's objects that do not belong to the role. */
async function notOf(admin: Db, role: string): Promise<unknown[]> {
  return admin.query(sql`
    WITH schemas AS (SELECT oid, nspname, nspowner FROM pg_namespace WHERE nspname = 'svc' OR nspname ~ '^app_[0-9a-f]{32}$'),
      owners (object, owner) AS (
        SELECT nspname::text, nspowner FROM schemas
        UNION ALL SELECT c.oid::regclass::text, relowner FROM pg_class c JOIN schemas s ON s.oid = relnamespace
        UNION ALL SELECT p.oid::regprocedure::text, proowner FROM pg_proc p JOIN schemas s ON s.oid = pronamespace
        UNION ALL SELECT t.oid::regtype::text, typowner FROM pg_type t JOIN schemas s ON s.oid = typnamespace)
    SELECT object, owner::regrole::text AS owner FROM owners WHERE owner <> ${role}::regrole`)
}

/** The platform's functions and columns. */
const definitionsOf = (admin: Db): Promise<unknown[]> =>
  admin.query(
    raw(`SELECT pg_get_functiondef(oid) AS definition FROM pg_proc WHERE pronamespace = 'svc'::regnamespace
    UNION ALL SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default)
      FROM information_schema.columns WHERE table_schema = 'svc' ORDER BY 1`),
  )

/** As versions before left it: all migrations in their former text, by a superuser who owned what they made. */
async function migrateAsBefore({ name, role, adminUrl, directory }: Way): Promise<string> {
  const texts = join(directory, 'migrations')
  await cp(migrations, texts, { recursive: true })
  await cp(former, texts, { recursive: true })
  for (const file of await readdir(texts)) if (Number(file.slice(0, 4)) > lastFormer) await rm(join(texts, file))
  const admin = openPostgres({ platform: readPlatformServer(adminUrl), poolSize: 2, onError: () => {} })
  try {
    await admin.script(`ALTER DATABASE ${name} OWNER TO CURRENT_USER`)
    await migrate(admin, { migrations: texts })
    const id = randomUUID()
    const schema = `app_${id.replaceAll('-', '')}`
    await admin.query(sql`INSERT INTO svc.applications (id, name, description, contact) VALUES (${id}, 'old', '', '')`)
    await admin.script(`CREATE TABLE ${schema}.old (id serial PRIMARY KEY, at bigint GENERATED ALWAYS AS IDENTITY);
      CREATE VIEW ${schema}.seen AS SELECT id FROM ${schema}.old; CREATE SEQUENCE ${schema}.numbers;
      CREATE TYPE ${schema}.colour AS ENUM ('red'); CREATE DOMAIN ${schema}.short AS text CHECK (length(VALUE) < 9);
      CREATE FUNCTION ${schema}.one() RETURNS int LANGUAGE sql AS 'SELECT 1'; INSERT INTO ${schema}.old DEFAULT VALUES`)
    assert.ok((await notOf(admin, role)).length > 100)
    return id
  } finally {
    await admin.close()
  }
}

describe('PostgreSQL with a role that is no superuser', { skip }, () => {
  test('a superuser migrates once, and everything belongs to the role, which serves', async (t) => {
    const way = await openWay(t)
    const { code, output, errors } = await runCommandLine(['migrate'], way.envOf(way.adminUrl))
    assert.equal(code, 0, output + errors)
    assert.deepEqual(await notOf(way.admin, way.role), [])
    const { open, total } = await readHardening(way.admin)
    assert.equal(open.length, total, 'migrations close nothing')
    await assertServes(way)
    assert.deepEqual(await migrateAs(way.adminUrl), [], 'again, when the role has served')
    assert.deepEqual(await notOf(way.admin, way.role), [])
  })

  test('the role migrates and serves, and a superuser runs the printed hardening beside it, twice', async (t) => {
    const way = await openWay(t)
    const printed = await runCommandLine(['hardening'], { PATH: process.env.PATH ?? '' })
    assert.equal(printed.code, 0, printed.errors)
    assert.equal(printed.output.trim(), hardeningText.trim())
    const owners =
      raw(`SELECT (SELECT md5(string_agg(oid::text || relowner, ',' ORDER BY oid)) FROM pg_class) AS classes,
      (SELECT md5(string_agg(oid::text || proowner, ',' ORDER BY oid)) FROM pg_proc) AS functions`)
    await assertServes(way, async () => {
      const before = await way.admin.query(owners)
      for (const _ of [1, 2]) await way.admin.script(printed.output)
      assert.deepEqual(await way.admin.query(owners), before, 'no owner changes')
      assert.deepEqual((await readHardening(way.admin)).open, [])
    })
    await assertServes(way)
    const { output, code } = await runCommandLine(['doctor'], way.envOf(way.url))
    assert.equal(code, 0, output)
    assert.match(output, /ok +hardening/)
  })

  test('only a superuser can run the hardening, and it says so', async (t) => {
    const way = await openWay(t)
    const db = openPostgres({ platform: readPlatformServer(way.url), poolSize: 1, onError: () => {} })
    t.after(() => db.close())
    await assert.rejects(
      db.script(hardeningText),
      /Only a superuser can close the catalogs: of_another_test_\w+ is none/,
    )
  })

  test('a database that a superuser made, migrated and hardened is handed over by a superuser’s migrate', async (t) => {
    const way = await openWay(t)
    const id = await migrateAsBefore(way)
    assert.deepEqual(
      (await readHardening(way.admin)).open,
      [],
      'the former migrations closed all that hardening closes',
    )
    await assert.rejects(migrateAs(way.url), {
      name: 'StartError',
      message: new RegExp(`closed to the role ${way.role}.*superuser in DATABASE_URL: npm start -- migrate`),
    })
    await way.admin.script(`ALTER DATABASE ${way.name} OWNER TO ${way.role}`)
    assert.deepEqual(
      await migrateAs(way.adminUrl),
      (await migrationNumbers()).filter((number) => number > lastFormer),
    )
    assert.deepEqual(await notOf(way.admin, way.role), [])
    assert.deepEqual((await readHardening(way.admin)).open, [], 'it stays closed')
    const fresh = await migratedDatabase()
    t.after(() => fresh.close())
    assert.deepEqual(await definitionsOf(way.admin), await definitionsOf(fresh.admin), 'as migrated by the new texts')
    await assertServes(way)
    const db = openPostgres({ platform: readPlatformServer(way.url), poolSize: 1, onError: () => {} })
    t.after(() => db.close())
    const schema = `app_${id.replaceAll('-', '')}`
    await db.script(`CREATE TABLE ${schema}.new AS SELECT 1 AS one`)
    const [row] = await way.admin.query(sql`SELECT has_table_privilege(${schema}, ${`${schema}.new`}, 'SELECT') AS may`)
    assert.equal(row?.may, true, 'what the role makes can be read by the application')
    await db.query(sql`DELETE FROM svc.applications WHERE id = ${id}::uuid`)
    assert.equal((await way.admin.query(sql`SELECT FROM pg_roles WHERE rolname = ${schema}`)).length, 0)
  })

  test('a role that starts on what others own says which statement and command mend it', async (t) => {
    const way = await openWay(t)
    await migrateAs(way.adminUrl)
    const startError = (message: RegExp) => ({ name: 'StartError', message })
    const migrateOnce = 'Once, with the address of a superuser in DATABASE_URL: npm start -- migrate$'
    await way.admin.script('ALTER TABLE svc.settings OWNER TO CURRENT_USER')
    await assert.rejects(
      migrateAs(way.url),
      startError(new RegExp(`cannot serve: svc.settings belongs to postgres. ${migrateOnce}`)),
    )
    assert.deepEqual(await migrateAs(way.adminUrl), [])
    assert.deepEqual(await migrateAs(way.url), [])
    await way.admin.script(`ALTER SCHEMA svc OWNER TO CURRENT_USER; ALTER DATABASE ${way.name} OWNER TO CURRENT_USER;
      GRANT CREATE ON DATABASE ${way.name} TO ${way.role}; GRANT USAGE ON SCHEMA svc TO ${way.role}`)
    await assert.rejects(
      migrateAs(way.url),
      startError(
        new RegExp(
          `the schema svc belongs to postgres. As a superuser: ALTER DATABASE "${way.name}" OWNER TO "${way.role}"; ${migrateOnce}`,
        ),
      ),
    )
  })

  test('a superuser that owns its database serves as before', async (t) => {
    const way = await openWay(t)
    await way.admin.script(`ALTER DATABASE ${way.name} OWNER TO CURRENT_USER`)
    await assertServes({ ...way, url: way.adminUrl, role: 'postgres' }, () => way.admin.script(hardeningText))
  })
})

async function migrateAs(url: string): Promise<number[]> {
  const db = openPostgres({ platform: readPlatformServer(url), poolSize: 1, onError: () => {} })
  return migrate(db).finally(() => db.close())
}

test('the former texts of amended migrations are those whose checksums are accepted', async () => {
  assert.deepEqual((await readdir(former)).sort(), Object.keys(formerChecksums).sort())
  for (const [file, checksums] of Object.entries(formerChecksums)) {
    const text = await readFile(join(former, file))
    assert.deepEqual(checksums, [createHash('sha256').update(text).digest('hex')], file)
  }
})
