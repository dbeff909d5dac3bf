import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { migratedDatabase, type TestDatabase } from '../../../testing/database.ts'
import { until } from '../../../testing/until.ts'
import { json, sql } from '../../kernel/db/sql.ts'
import { claimNext } from './record/upload-state.ts'

// One database is enough: the embedded one has one session, in which nothing happens at the same time.

let database: TestDatabase
before(async () => {
  database = await migratedDatabase()
})
after(() => database.close())

test('an upload that is cancelled while it is claimed stays cancelled', async () => {
  const { db, admin } = database
  const [id, applicationId] = [randomUUID(), randomUUID()]
  await db.query(sql`
    INSERT INTO svc.applications (id, name, description, contact) VALUES (${applicationId}::uuid, 'one', '', '')`)
  await db.query(sql`
    INSERT INTO svc.uploads (id, application_id, file_name, path, options, size)
    VALUES (${id}::uuid, ${applicationId}::uuid, 'a', ${id}, ${json({})}, 1)`)
  const claiming = await admin.transaction(async (tx) => {
    await tx.query(sql`UPDATE svc.uploads SET status = 'cancelled' WHERE id = ${id}::uuid`)
    const claimed = claimNext(db, { perApplication: 1, passed: [] })
    const isWaiting = async () =>
      (await tx.query(sql`SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'`)).length > 0
    await until(isWaiting)
    return { claimed }
  })
  assert.equal(await claiming.claimed, undefined)
  const [row] = await db.query<{ status: string }>(sql`SELECT status FROM svc.uploads WHERE id = ${id}::uuid`)
  assert.equal(row?.status, 'cancelled')
})
