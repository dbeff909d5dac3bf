import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../testing/database.ts'
import { until } from '../../../testing/until.ts'
import type { Queryable } from './db.ts'
import { sql } from './sql.ts'

// One database is enough: only PostgreSQL has deadlocks, having more than one session.

// Embedded there is one session, which cannot wait for itself.
const skip = !process.env.TEST_DATABASE_URL

let database: TestDatabase
before(async () => {
  database = await testDatabase()
  await database.db.script(`
    CREATE TABLE pair (id int PRIMARY KEY, n int NOT NULL);
    INSERT INTO pair VALUES (1, 0), (2, 0);
    CREATE FUNCTION add_backwards() RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE pair SET n = n + 1 WHERE id = 2;
        PERFORM pg_advisory_xact_lock(1);
        UPDATE pair SET n = n + 1 WHERE id = 1;
      END $$`)
})
after(() => database.close())

const add = (tx: Queryable, id: number) => tx.query(sql`UPDATE pair SET n = n + 1 WHERE id = ${id}`)
async function* lines() {
  yield '1\n'
}

const total = async () => (await database.db.query(sql`SELECT sum(n)::int AS n FROM pair`))[0]?.n

/** Calls back when both have come. */
function meeting(): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let missing = 2
  return () => {
    missing--
    if (missing === 0) resolve()
    return promise
  }
}

test('two transactions that lock in opposite order both take place, once each', { skip }, async () => {
  const { db } = database
  const before = Number(await total())
  const met = meeting()
  let runs = 0
  const crossing = (first: number, second: number) =>
    db.transaction(async (tx) => {
      runs++
      await add(tx, first)
      await met()
      await add(tx, second)
    })
  await Promise.all([crossing(1, 2), crossing(2, 1)])
  assert.equal(await total(), before + 4)
  assert.ok(runs >= 3, 'one of them was the victim, and ran again')
})

test('a single statement that meets a deadlock takes place all the same', { skip }, async () => {
  const { db } = database
  const before = Number(await total())
  const locked = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const holder = db.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(1)`)
    await add(tx, 1)
    locked.resolve()
    await go.promise
    await add(tx, 2)
  })
  await locked.promise
  const statement = db.query(sql`SELECT add_backwards()`)
  // It has the second row, and waits for what the other holds.
  await until(async () => {
    const rows = await db.query(sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)
    return rows.length > 0
  })
  go.resolve()
  await Promise.all([holder, statement])
  assert.equal(await total(), before + 4)
})

test('a transaction that has read a stream is not run again', { skip }, async () => {
  const { db } = database
  await db.script('CREATE TABLE filled (id int)')
  const met = meeting()
  let runs = 0
  const crossing = (first: number, second: number) =>
    db.transaction(async (tx) => {
      runs++
      await tx.copyIn(sql`COPY filled FROM STDIN`, lines())
      await add(tx, first)
      await met()
      await add(tx, second)
    })
  const outcomes = await Promise.allSettled([crossing(1, 2), crossing(2, 1)])
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal(runs, 2)
})
