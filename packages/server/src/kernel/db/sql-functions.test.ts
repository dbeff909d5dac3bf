import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { migratedDatabase, type TestDatabase, testDatabase } from '../../../testing/database.ts'
import type { Db, Queryable } from './db.ts'
import { migrate } from './schema/migrate.ts'
import { raw, sql } from './sql.ts'
import { functionsDirectory, outdatedFunctions, readFunctions, readTriggers } from './sql-functions.ts'

const migrations = join(import.meta.dirname, 'migrations')

/** Each function of schema svc by its name, with its text as the catalog has it. */
const catalog = (db: Pick<Queryable, 'query'>) =>
  db.query<{ name: string; definition: string }>(
    raw(`SELECT proname::text AS name, pg_get_functiondef(oid) AS definition FROM pg_proc
      WHERE pronamespace = 'svc'::regnamespace ORDER BY 1, 2`),
  )

/** Fails unless the functions and triggers of the database are those of the files. */
async function assertInForce(db: Db): Promise<void> {
  const files = await readFunctions()
  const present = await catalog(db)
  assert.deepEqual(
    present.map(({ name }) => name),
    files.map(({ name }) => name),
    'a function without a file, or a file without a function',
  )
  assert.deepEqual(
    (await readTriggers(db)).map(({ definition }) => definition),
    files.flatMap(({ triggers }) => triggers).sort(),
    'triggers differ from those of the files, or are not written there as pg_get_triggerdef does',
  )
  // With the bodies checked, which the migration leaves out so that their order does not matter.
  const fromFiles = await db.transaction(async (tx) => {
    for (const { text } of files) await tx.script(text)
    return await catalog(tx)
  })
  assert.deepEqual(fromFiles, present, 'a body in the catalog differs from that of its file')
}

describe('a migrated database', () => {
  let testDb: TestDatabase
  before(async () => {
    testDb = await migratedDatabase()
  })
  after(() => testDb.close())

  test('has the functions and triggers of the files, no other ones, and all are enabled', async () => {
    await assertInForce(testDb.db)
    assert.deepEqual(
      (await readTriggers(testDb.db)).filter(({ fires }) => !fires),
      [],
    )
    assert.deepEqual(await outdatedFunctions(testDb.db, await readFunctions()), [])
  })

  test('gets back a function that somebody has dropped', async () => {
    await testDb.db.script('DROP FUNCTION svc.relation_bytes(oid, boolean)')
    assert.deepEqual(await migrate(testDb.db), [])
    await assertInForce(testDb.db)
  })
})

test('each file defines the function that it is named after, and triggers that call it', async () => {
  for (const { name, text, triggers } of await readFunctions()) {
    const code = text.replaceAll(/^--.*$/gm, '').trim()
    assert.match(code, new RegExp(`^CREATE OR REPLACE FUNCTION svc\\.${name}\\(`), name)
    assert.match(text, /^-- /, `${name} begins with what it does`)
    assert.equal(code.match(/CREATE (OR REPLACE )?FUNCTION/g)?.length, 1, name)
    for (const trigger of triggers) assert.ok(trigger.endsWith(`EXECUTE FUNCTION svc.${name}()`), trigger)
  }
})

describe('databases of earlier ages', () => {
  let testDb: TestDatabase
  let directory: string
  before(async () => {
    testDb = await testDatabase()
    directory = await mkdtemp(join(tmpdir(), 'graticule-functions-'))
  })
  afterEach(() => testDb.db.script('DROP SCHEMA IF EXISTS svc CASCADE'))
  after(async () => {
    await testDb.close()
    await rm(directory, { recursive: true })
  })

  async function migrateUpTo(age: number): Promise<void> {
    const texts = join(directory, String(age))
    await cp(migrations, texts, { recursive: true })
    for (const file of await readdir(texts)) if (Number(file.slice(0, 4)) > age) await rm(join(texts, file))
    await migrate(testDb.db, { migrations: texts })
  }

  // The first, the last release, the last that defined functions, and the last before functions were recorded. On the
  // embedded database, which takes seconds for each, one that is older than the next test's.
  for (const age of process.env.TEST_DATABASE_URL ? [1, 23, 35, 36] : [23]) {
    test(`one with the migrations up to ${age} gets the functions of the files`, async () => {
      await migrateUpTo(age)
      await migrate(testDb.db)
      await assertInForce(testDb.db)
    })
  }

  test('those with the migrations up to 36 keep their triggers, so that nobody waits for the lock of a table', async () => {
    const numbers = raw(`SELECT tgname, oid::text, xmin::text FROM pg_trigger WHERE NOT tgisinternal ORDER BY oid`)
    await migrateUpTo(36)
    const before = await testDb.db.query<{ oid: string }>(numbers)
    await migrate(testDb.db)
    const after = await testDb.db.query<{ oid: string }>(numbers)
    // Tables of later migrations have triggers of their own.
    const known = new Set(before.map(({ oid }) => oid))
    assert.deepEqual(
      after.filter(({ oid }) => known.has(oid)),
      before,
    )
  })
})

describe('a changed file', () => {
  let testDb: TestDatabase
  let db: Db
  let directory: string
  before(async () => {
    testDb = await testDatabase()
    db = testDb.db
    directory = await mkdtemp(join(tmpdir(), 'graticule-functions-'))
  })
  after(async () => {
    await testDb.close()
    await rm(directory, { recursive: true })
  })

  const apply = () =>
    migrate(db, { migrations: join(directory, 'migrations'), functions: join(directory, 'functions') })
  const write = (path: string, text: string) => writeFile(join(directory, path), text)
  const one = (body: string) =>
    `-- One.\nCREATE OR REPLACE FUNCTION svc.one() RETURNS int LANGUAGE sql AS $$ ${body} $$;\n`
  const result = async () => (await db.query(sql`SELECT svc.one() AS one`))[0]?.one
  const times = () => db.query(sql`SELECT name, digest, applied_at FROM svc.applied_functions ORDER BY name`)

  test('is run once, with the last migration or without one, whatever the order of calls between functions', async () => {
    await cp(functionsDirectory, join(directory, 'functions'), {
      recursive: true,
      filter: (path) => !path.endsWith('.sql'),
    })
    await cp(migrations, join(directory, 'migrations'), { recursive: true, filter: (path) => !path.endsWith('.sql') })
    const table = await readFile(join(migrations, '0037-applied-functions.sql'), 'utf8')
    // A default needs its function before the table; the function calls one that comes later.
    await write(
      'migrations/0001-first.sql',
      `-- needs svc.one\n${table}CREATE TABLE svc.things (n int DEFAULT svc.one())`,
    )
    await write('functions/one.sql', one('SELECT svc.two()'))
    await write(
      'functions/two.sql',
      '-- Two.\nCREATE OR REPLACE FUNCTION svc.two() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;\n',
    )
    assert.deepEqual(await apply(), [1])
    assert.equal(await result(), 1)
    const first = await times()
    assert.deepEqual(await apply(), [])
    assert.deepEqual(await times(), first)
    await write('functions/one.sql', one('SELECT 2'))
    assert.deepEqual(await apply(), [])
    assert.equal(await result(), 2)
    const second = await times()
    assert.notDeepEqual(second[0], first[0])
    assert.deepEqual(second[1], first[1], 'the other one is left alone')
  })

  test('that fails leaves the migration undone, too', async () => {
    await write('migrations/0002-second.sql', 'CREATE TABLE svc.others (n int)')
    await write('functions/one.sql', one('SELECT 3'))
    await write('functions/two.sql', 'This is no SQL.')
    await assert.rejects(apply())
    assert.equal(await result(), 2)
    const [found] = await db.query(sql`SELECT to_regclass('svc.others') AS others`)
    assert.equal(found?.others, null)
  })

  test('of an older program is not run on a newer database', async () => {
    await write(
      'functions/two.sql',
      '-- Two.\nCREATE OR REPLACE FUNCTION svc.two() RETURNS int LANGUAGE sql AS $$ SELECT 4 $$;\n',
    )
    assert.deepEqual(await apply(), [2])
    await rm(join(directory, 'migrations/0002-second.sql'))
    await write('functions/one.sql', one('SELECT 2'))
    await assert.rejects(apply(), /newer than this server/)
    assert.equal(await result(), 3)
  })
})
