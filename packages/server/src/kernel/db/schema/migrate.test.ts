import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../../testing/database.ts'
import { readPlatformServer } from '../../libpq/platform-server.ts'
import type { Db } from '../db.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { sql } from '../sql.ts'
import { migrate } from './migrate.ts'

let testDb: TestDatabase
let db: Db
let directory: string

before(async () => {
  testDb = await testDatabase()
  db = testDb.db
})

after(() => testDb.close())

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-migrations-'))
  await file('0001-first.sql', 'CREATE TABLE svc.steps (step text); INSERT INTO svc.steps VALUES (1)')
  await file('0002-second.sql', 'INSERT INTO svc.steps VALUES (2)')
  await file('0010-third.sql', 'INSERT INTO svc.steps VALUES (3)')
})

afterEach(async () => {
  await db.script('DROP SCHEMA IF EXISTS svc CASCADE')
  await rm(directory, { recursive: true })
})

const file = (name: string, text: string): Promise<void> => writeFile(join(directory, name), text)

async function steps(): Promise<unknown[]> {
  return (await db.query(sql`SELECT step FROM svc.steps`)).map((row) => row.step)
}

test('migrations are applied once, in the order of their numbers', async () => {
  assert.deepEqual(await migrate(db, { migrations: directory }), [1, 2, 10])
  assert.deepEqual(await migrate(db, { migrations: directory }), [])
  assert.deepEqual(await steps(), ['1', '2', '3'])
  await file('0011-fourth.sql', 'INSERT INTO svc.steps VALUES (4)')
  assert.deepEqual(await migrate(db, { migrations: directory }), [11])
  const rows = await db.query(sql`SELECT number, name, applied_at FROM svc.migrations ORDER BY number`)
  assert.deepEqual(
    rows.map((row) => [row.number, row.name, row.applied_at instanceof Date]),
    [
      [1, '0001-first.sql', true],
      [2, '0002-second.sql', true],
      [10, '0010-third.sql', true],
      [11, '0011-fourth.sql', true],
    ],
  )
})

test('three programs that start together apply each migration once', async () => {
  const others = testDb.url
    ? [1, 2].map(() => openPostgres({ platform: readPlatformServer(testDb.url ?? ''), poolSize: 2, onError: () => {} }))
    : []
  const runners = others.length > 0 ? [db, ...others] : [db, db, db]
  const done = await Promise.all(runners.map((runner) => migrate(runner, { migrations: directory })))
  await Promise.all(others.map((other) => other.close()))
  assert.deepEqual(done.flat().sort(), [1, 10, 2])
  assert.deepEqual(await steps(), ['1', '2', '3'])
})

test('a migration that fails leaves nothing of itself and stops the rest', async () => {
  await file('0002-second.sql', 'INSERT INTO svc.steps VALUES (2); SELECT 1 / 0')
  await assert.rejects(migrate(db, { migrations: directory }), { code: '22012' })
  assert.deepEqual(await steps(), ['1'])
  await file('0002-second.sql', 'INSERT INTO svc.steps VALUES (2)')
  assert.deepEqual(await migrate(db, { migrations: directory }), [2, 10])
})

test('a migration that was changed after it had been applied is refused by name', async () => {
  await migrate(db, { migrations: directory })
  await file('0002-second.sql', 'INSERT INTO svc.steps VALUES (22)')
  await file('0011-fourth.sql', 'INSERT INTO svc.steps VALUES (4)')
  await assert.rejects(migrate(db, { migrations: directory }), /0002-second\.sql was changed/)
  assert.deepEqual(await steps(), ['1', '2', '3'])
})

test('other line ends are no change', async () => {
  await file('0011-fourth.sql', 'INSERT INTO svc.steps\nVALUES (4)')
  await migrate(db, { migrations: directory })
  await file('0011-fourth.sql', 'INSERT INTO svc.steps\r\nVALUES (4)')
  assert.deepEqual(await migrate(db, { migrations: directory }), [])
})

test('a database that is newer than the program is refused', async () => {
  await migrate(db, { migrations: directory })
  await rm(join(directory, '0010-third.sql'))
  await assert.rejects(migrate(db, { migrations: directory }), /newer than this server.*0010-third\.sql/)
})

test('a migration does not hold up others behind a long query: it gives up and tries again', {
  skip: !process.env.TEST_DATABASE_URL,
}, async () => {
  await migrate(db, { migrations: directory })
  await file('0011-fourth.sql', 'ALTER TABLE svc.steps ADD COLUMN note text')
  const ended = Promise.withResolvers<void>()
  const reading = Promise.withResolvers<void>()
  const longQuery = db.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM svc.steps`)
    reading.resolve()
    await ended.promise
  })
  await reading.promise
  const patience = { lockMs: 50, tries: 3, pauseMs: 1 }
  await assert.rejects(
    migrate(db, { migrations: directory }, patience),
    /0011-fourth\.sql cannot get the lock of a table.*Nothing was changed/,
  )
  const migrating = migrate(db, { migrations: directory }, { lockMs: 50, tries: 10_000, pauseMs: 20 })
  // Reads pass between two tries, and the migration ends when the long query does.
  for (let reads = 0; reads < 5; reads++) assert.deepEqual(await steps(), ['1', '2', '3'])
  ended.resolve()
  await longQuery
  assert.deepEqual(await migrating, [11])
})

test('two migrations of one number are refused', async () => {
  await file('0002-other.sql', 'SELECT 1')
  await assert.rejects(
    migrate(db, { migrations: directory }),
    /0002-other\.sql and 0002-second\.sql have the same number/,
  )
})

test('the migrations of this program can be applied', async () => {
  assert.notDeepEqual(await migrate(db), [])
  assert.deepEqual(await migrate(db), [])
})
