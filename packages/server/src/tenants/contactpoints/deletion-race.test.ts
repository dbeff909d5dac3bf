import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { migratedDatabase, type TestDatabase } from '../../../testing/database.ts'
import { until } from '../../../testing/until.ts'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import { setUp } from '../../boot/start/first-start.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { openPostgres } from '../../kernel/db/postgres/postgres.ts'
import { sql } from '../../kernel/db/sql.ts'
import { readPlatformServer } from '../../kernel/libpq/platform-server.ts'
import { claimNext, type OutboxTable, record } from '../outbox/outbox-rows.ts'
import { createDeliveries } from './deliveries.ts'

// Embedded a transaction has the database to itself.
const skip = !process.env.TEST_DATABASE_URL

let database: TestDatabase
let other: Db | undefined
before(async () => {
  database = await migratedDatabase()
  await setUp(database.db, secrets, randomUUID())
})
after(async () => {
  await other?.close()
  await database.close()
})

const secrets = createSecrets('a secret for tests, long enough to be one')

/** The database, whose transactions let something else begin after their first statement. */
const interrupted = (db: Db, begin: () => Promise<void>): Db => ({
  ...db,
  transaction: (work) =>
    db.transaction((tx) => {
      let isFirst = true
      const query: Queryable['query'] = async (statement) => {
        const rows = await tx.query(statement)
        if (isFirst) await begin()
        isFirst = false
        return rows as never
      }
      return work({ ...tx, query })
    }),
})

test('a contact point is deleted while the outcome of a delivery is written, and neither waits for the other', {
  skip,
}, async () => {
  const { db } = database
  const id = randomUUID()
  await db.query(sql`
    INSERT INTO svc.contactpoints (id, application_id, name, description, type, settings, secure_fields, enabled)
    SELECT ${id}::uuid, id, 'x', '', 'webhook', '{}', '{}', true FROM svc.applications`)
  let outgoing: OutboxTable | undefined
  const { accept } = createDeliveries({
    db,
    secrets,
    egress: { fetch: () => Promise.reject(new Error('not needed')) },
    sendMail: async () => ({}),
    register(registered) {
      outgoing = registered
      return { announce() {} }
    },
  })
  await accept({ id, isEnabled: true }, { message: 'Hello', severity: 'info' }, undefined)
  assert.ok(outgoing)
  const claimed = await claimNext(db, outgoing, [], 60)
  assert.ok(claimed)
  let deletion: Promise<unknown> = Promise.resolve()
  // On a connection of its own: the transaction is not its.
  const deleter = openPostgres({ platform: readPlatformServer(database.url ?? ''), poolSize: 2, onError: () => {} })
  other = deleter
  const slow = interrupted(db, async () => {
    deletion = deleter.query(sql`DELETE FROM svc.contactpoints WHERE id = ${id}::uuid`)
    await until(async () => (await deleter.query(waitingDeletion)).length > 0)
  })
  await record(slow, outgoing, claimed, { statusCode: 200 }, undefined)
  await deletion
  const [row] = await db.query(sql`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
  assert.equal(Number(row?.deadlocks), 0)
  assert.equal((await db.query(sql`SELECT FROM svc.deliveries`)).length, 0)
})

const waitingDeletion = sql`
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'DELETE FROM svc.contactpoints%'`
