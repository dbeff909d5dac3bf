import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { migratedDatabase, type TestDatabase } from '../../../testing/database.ts'
import type { Queryable } from '../db/db.ts'
import { raw, sql } from '../db/sql.ts'
import {
  claimRow,
  freeAll,
  freeRow,
  holdsLease,
  isFree,
  type Lease,
  leaseTable,
  renewLease,
  rowsOf,
  secondsToDue,
} from './lease-rows.ts'

let database: TestDatabase
before(async () => {
  database = await migratedDatabase()
})
after(() => database.close())

const table = leaseTable('jobs', raw("r.queue = 'leases'"))

const claim = (db: Queryable, seconds = 60): Promise<Lease | undefined> =>
  claimRow<Omit<Lease, 'claim'>>(db, table, seconds, {
    due: sql`SELECT r.id FROM ${rowsOf(table)} WHERE ${table.rows} AND ${isFree} ORDER BY r.key LIMIT 1 FOR UPDATE SKIP LOCKED`,
    returning: sql`r.id, '' AS "applicationId"`,
  })

const count = async (condition: string): Promise<number> =>
  (await database.db.query(sql`SELECT FROM ${rowsOf(table)} WHERE ${table.rows} AND ${raw(condition)}`)).length

beforeEach(async () => {
  const { db } = database
  await db.query(sql`DELETE FROM svc.jobs`)
  for (const key of ['a', 'b', 'c', 'd', 'e'])
    await db.query(sql`
      INSERT INTO svc.jobs (id, queue, key, data, next_at)
      VALUES (${randomUUID()}::uuid, 'leases', ${key}, '{}', clock_timestamp() + interval '1 hour')`)
})

test('a claim takes one row, also where the planner joins the table to the row that is due', async () => {
  await database.db.transaction(async (tx) => {
    await tx.script(`
      SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off;
      SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexonlyscan = off`)
    assert.ok(await claim(tx))
  })
  assert.equal(await count('r.claim IS NOT NULL'), 1)
})

describe('a row under a lease', () => {
  test('is not claimed again before the lease has expired, and only then', async () => {
    const { db } = database
    const ids = new Set<string | undefined>()
    for (let n = 0; n < 6; n++) ids.add((await claim(db))?.id)
    assert.equal(ids.size, 6, 'five rows and none')
    await db.query(sql`UPDATE svc.jobs SET claimed_until = clock_timestamp() - interval '1 second' WHERE key = 'c'`)
    assert.ok(await claim(db))
    assert.equal(await claim(db), undefined)
  })

  test('is changed by nobody but the holder of the last lease', async () => {
    const { db } = database
    const first = await claim(db, -1)
    const second = await claim(db)
    assert.ok(first && second && first.id === second.id)
    assert.equal(await holdsLease(db, table, first), false)
    assert.equal(await renewLease(db, table, first, 60), false)
    assert.equal(await freeRow(db, table, first), false)
    assert.equal(await holdsLease(db, table, second), true)
    assert.equal(await renewLease(db, table, second, 60, sql`, attempts = 3`), true)
    assert.equal(await freeRow(db, table, second, sql`, attempts = r.attempts - 1`), true)
    assert.equal(await count('r.attempts = 2 AND r.claim IS NULL AND r.claimed_until IS NULL'), 1)
    assert.equal(await holdsLease(db, table, second), false)
  })

  test('is free again when all leases of its queue are ended, and those of others stay', async () => {
    const { db } = database
    await claim(db)
    await freeAll(db, leaseTable('jobs', raw("r.queue = 'others'")))
    assert.equal(await count('r.claim IS NOT NULL'), 1)
    await freeAll(db, table)
    assert.equal(await count('r.claim IS NOT NULL'), 0)
  })
})

test('the next free row says how long there is to wait', async () => {
  const { db } = database
  const seconds = await secondsToDue(db, table, raw('true'))
  assert.ok(seconds > 3000 && seconds <= 3600, String(seconds))
  assert.equal(await secondsToDue(db, table, raw("r.key = 'z'")), Number.POSITIVE_INFINITY)
  while (await claim(db));
  assert.equal(await secondsToDue(db, table, raw('true')), Number.POSITIVE_INFINITY)
})
