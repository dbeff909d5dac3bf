import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecrets } from '../access/secrets.ts'
import { migrate } from '../db/migrate.ts'
import { sql } from '../db/sql.ts'
import { setUp } from '../first-start.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { until } from '../testing/until.ts'
import type { Attempt } from './outgoing-rows.ts'
import { createSending, type JobQueue } from './sending.ts'

let database: TestDatabase
let applicationId = ''
const errors: unknown[] = []
const closers: (() => Promise<void>)[] = []
before(async () => {
  database = await testDatabase()
  await migrate(database.db)
  await setUp(database.db, createSecrets('a secret for tests, long enough to be one'), randomUUID())
  const [row] = await database.db.query(sql`SELECT id FROM svc.applications`)
  applicationId = String(row?.id)
})
after(async () => {
  await Promise.all(closers.map((close) => close()))
  await database.close()
})

/** Hands every job out again and again, whatever its key is: what a queue must not do, but may after a crash. */
function carelessQueue(times: number, everyMs: number): JobQueue & { done(): Promise<unknown> } {
  const handlers = new Map<string, (job: { data: never }, signal: AbortSignal) => Promise<void>>()
  const all: Promise<unknown>[] = []
  return {
    work: (queue, _, handler) => void handlers.set(queue, handler as never),
    async send(queue, data, { startAfterSeconds = 0 } = {}) {
      for (let n = 0; n < times; n++) {
        const run = sleep(startAfterSeconds * 1000 + n * everyMs).then(() =>
          handlers.get(queue)?.({ data: data as never }, new AbortController().signal),
        )
        all.push(run)
      }
    },
    done: () => Promise.all(all),
  }
}

async function addMail(): Promise<string> {
  const id = randomUUID()
  await database.db.query(sql`
    INSERT INTO svc.outbox (id, application_id, template, recipients, status)
    VALUES (${id}::uuid, ${applicationId}::uuid, 'confirm', ARRAY['a@example.org'], 'pending')`)
  return id
}

async function stateOf(id: string) {
  const [row] = await database.db.query<{ status: string; attempts: { error?: string }[] }>(
    sql`SELECT status, attempts FROM svc.outbox WHERE id = ${id}::uuid`,
  )
  return row
}

function sendingBy(queue: JobQueue, attempt: (id: string) => Promise<Attempt>, delaysSeconds: number[] = []) {
  const onError = (error: unknown) => void errors.push(error)
  const sending = createSending({ db: database.db, jobs: queue, onError, leaseSeconds: 0.3 })
  closers.push(sending.close)
  const settle = async () => {}
  return sending.add({ table: 'outbox', delaysSeconds, concurrency: 1, attempt, settle })
}

test('however often a job is handed out, its row is tried once at a time, also when that takes long', async () => {
  const queue = carelessQueue(10, 100)
  let tried = 0
  const { announce } = sendingBy(queue, async () => {
    tried++
    await sleep(1_200)
    return {}
  })
  const id = await addMail()
  announce()
  await until(async () => (await stateOf(id))?.status === 'delivered')
  await queue.done()
  assert.equal(tried, 1)
  assert.equal((await stateOf(id))?.attempts.length, 1)
})

test('a row is not tried before its time, and what is thrown counts as a failure that tells nothing', async () => {
  const queue = carelessQueue(4, 50)
  const times: number[] = []
  const { announce } = sendingBy(queue, async () => {
    times.push(Date.now())
    if (times.length < 3) throw new Error('the password is x')
    return {}
  }, [0.5, 0.5])
  const id = await addMail()
  announce()
  await until(async () => (await stateOf(id))?.status === 'delivered')
  await queue.done()
  assert.equal(times.length, 3)
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 490 && (times[2] ?? 0) - (times[1] ?? 0) >= 490)
  const { attempts } = (await stateOf(id)) ?? { attempts: [] }
  assert.deepEqual(
    attempts.map(({ error }) => error),
    ['The message could not be sent.', 'The message could not be sent.', undefined],
  )
  assert.equal(errors.length, 2, 'the log has the cause')
})
