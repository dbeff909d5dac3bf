import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { migratedDatabase, type TestDatabase } from '../../../testing/database.ts'
import { until } from '../../../testing/until.ts'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import { setUp } from '../../boot/start/first-start.ts'
import { sql } from '../../kernel/db/sql.ts'
import { createOutbox } from './outbox.ts'
import type { DeliveryAttempt, OutboxTable } from './outbox-rows.ts'

let database: TestDatabase
let usual = ''
const errors: unknown[] = []
const closers: (() => Promise<void>)[] = []
before(async () => {
  database = await migratedDatabase()
  await setUp(database.db, createSecrets('a secret for tests, long enough to be one'), randomUUID())
  const [row] = await database.db.query(sql`SELECT id FROM svc.applications`)
  usual = String(row?.id)
})
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
  await database.db.query(sql`DELETE FROM svc.outbox`)
})
after(() => database.close())

async function addMail(applicationId = usual): Promise<string> {
  const id = randomUUID()
  await database.db.query(sql`
    INSERT INTO svc.outbox (id, application_id, template, recipients, status)
    VALUES (${id}::uuid, ${applicationId}::uuid, 'confirm', ARRAY['a@example.org'], 'pending')`)
  return id
}

async function application(): Promise<string> {
  const id = randomUUID()
  await database.db.query(
    sql`INSERT INTO svc.applications (id, name, description, contact) VALUES (${id}::uuid, 'another', '', '')`,
  )
  return id
}

async function stateOf(id: string) {
  const [row] = await database.db.query<{ status: string; attempts: { error?: string }[]; claimed_until: Date | null }>(
    sql`SELECT status, attempts, claimed_until FROM svc.outbox WHERE id = ${id}::uuid`,
  )
  return row
}

const isSent = async (id: string) => (await stateOf(id))?.status === 'delivered'

function sendingBy(attempt: OutboxTable['attempt'], more: Partial<OutboxTable> = {}, leaseSeconds = 0.3) {
  const onError = (error: unknown) => void errors.push(error)
  const outbox = createOutbox({ db: database.db, onError, leaseSeconds })
  closers.push(outbox.close)
  const settle = async () => {}
  const limits = { delaysSeconds: [], concurrency: 1, perApplication: 1 }
  return { ...outbox, ...outbox.add({ table: 'outbox', ...limits, attempt, settle, ...more }) }
}

test('however many look for a row, it is tried once at a time, also when that takes long', async () => {
  let tried = 0
  const attempt = async (): Promise<DeliveryAttempt> => {
    tried++
    await sleep(6_000)
    return {}
  }
  const processes = [1, 2, 3].map(() => sendingBy(attempt, { concurrency: 4, perApplication: 4 }, 4))
  const id = await addMail()
  for (let n = 0; n < 20; n++) {
    for (const { announce } of processes) announce()
    await sleep(250)
  }
  await until(() => isSent(id))
  assert.equal(tried, 1)
  assert.equal((await stateOf(id))?.attempts.length, 1)
})

test('a row is not tried before its time, and what is thrown counts as a failure that tells nothing', async () => {
  const times: number[] = []
  const attempt = async (): Promise<DeliveryAttempt> => {
    times.push(Date.now())
    if (times.length < 3) throw new Error('the password is x')
    return {}
  }
  const { announce } = sendingBy(attempt, { delaysSeconds: [0.5, 0.5] })
  const id = await addMail()
  announce()
  await until(() => isSent(id))
  assert.equal(times.length, 3)
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 490 && (times[2] ?? 0) - (times[1] ?? 0) >= 490)
  const { attempts } = (await stateOf(id)) ?? { attempts: [] }
  assert.deepEqual(
    attempts.map(({ error }) => error),
    ['The message could not be sent.', 'The message could not be sent.', undefined],
  )
  assert.equal(errors.length, 2, 'the log has the cause')
})

/** Tells which application every row is of, when it is tried. */
async function withApplication(id: string): Promise<string> {
  const [row] = await database.db.query(sql`SELECT application_id FROM svc.outbox WHERE id = ${id}::uuid`)
  return String(row?.application_id)
}

test('a row that falls due while rows are looked for is not forgotten', async () => {
  const delaysSeconds = Array.from({ length: 100 }, (_, n) => (n % 5) / 1_000)
  const { announce } = sendingBy(async () => ({ error: 'busy' }), { delaysSeconds })
  const id = await addMail()
  announce()
  await until(async () => (await stateOf(id))?.status === 'failed')
  assert.equal((await stateOf(id))?.attempts.length, 101)
})

test('a thousand messages of one application that hang do not delay the one of another', async () => {
  const [flooding, quiet] = [await application(), await application()]
  const held = Promise.withResolvers<void>()
  let hanging = 0
  const attempt = async (id: string): Promise<DeliveryAttempt> => {
    if ((await withApplication(id)) === quiet) return {}
    hanging++
    await held.promise
    return {}
  }
  const { announce, close } = sendingBy(attempt, { concurrency: 4, perApplication: 2 })
  await database.db.query(sql`
    INSERT INTO svc.outbox (id, application_id, template, recipients, status)
    SELECT gen_random_uuid(), ${flooding}::uuid, 'confirm', ARRAY['a@example.org'], 'pending' FROM generate_series(1, 1000)`)
  announce()
  await until(() => hanging === 2)
  const id = await addMail(quiet)
  announce()
  await until(() => isSent(id))
  assert.equal(hanging, 2, 'it has no more than its share')
  await database.db.query(sql`DELETE FROM svc.outbox WHERE claim IS NULL`)
  held.resolve()
  await close()
})

test('where all hands are full, the application that waits comes before those that have a share already', async () => {
  const floods = await Promise.all([application(), application()])
  const quiet = await application()
  const order: string[] = []
  const held: (() => void)[] = []
  let isOver = false
  const attempt = async (id: string): Promise<DeliveryAttempt> => {
    const applicationId = await withApplication(id)
    order.push(applicationId)
    if (applicationId !== quiet && !isOver) await new Promise<void>((resolve) => held.push(resolve))
    return {}
  }
  for (const flood of floods) for (let n = 0; n < 20; n++) await addMail(flood)
  const { announce, close } = sendingBy(attempt, { concurrency: 4, perApplication: 2 })
  announce()
  await until(() => held.length === 4)
  const id = await addMail(quiet)
  announce()
  held.shift()?.()
  await until(() => isSent(id))
  assert.equal(order[4], quiet)
  isOver = true
  for (const release of held) release()
  await close()
})

test('what is being sent when the server stops is finished, or given back for others to send', async () => {
  const slow = sendingBy(async () => {
    await sleep(500)
    return {}
  })
  const one = await addMail()
  slow.announce()
  await until(async () => (await stateOf(one))?.claimed_until !== null)
  await slow.close()
  assert.equal((await stateOf(one))?.status, 'delivered')

  const stuck = sendingBy(
    (_, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })),
  )
  const two = await addMail()
  stuck.announce()
  await until(async () => (await stateOf(two))?.claimed_until !== null)
  await stuck.close()
  const left = await stateOf(two)
  assert.deepEqual([left?.status, left?.claimed_until, left?.attempts], ['pending', null, []])
})
