import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { migratedDatabase, type TestDatabase } from '../../../testing/database.ts'
import { stays, until } from '../../../testing/until.ts'
import { raw } from '../db/sql.ts'
import { createJobs, type Jobs } from './jobs.ts'

let database: TestDatabase
const open: Jobs[] = []
const errors: unknown[] = []
before(async () => {
  database = await migratedDatabase()
})
after(async () => {
  await Promise.all(open.map((jobs) => jobs.close()))
  await database.close()
  assert.deepEqual(errors, [])
})

function jobsOn({ db }: Pick<TestDatabase, 'db'>): Jobs {
  const jobs = createJobs({ db, onError: (error) => errors.push(error) })
  open.push(jobs)
  return jobs
}

/** A program that takes a job and never finishes it. */
const victim = (url: string): string => `
  import { openPostgres } from '${new URL('../db/postgres/postgres.ts', import.meta.url)}'
  import { createJobs } from '${new URL('./jobs.ts', import.meta.url)}'
  import { readPlatformServer } from '${new URL('../libpq/platform-server.ts', import.meta.url)}'
  const db = openPostgres({ platform: readPlatformServer('${url}'), poolSize: 4, onError: console.error })
  const jobs = createJobs({ db, onError: console.error })
  jobs.work('killed', {}, () => {
    console.log('begun')
    return new Promise(() => {})
  })
  await jobs.start()
  await jobs.send('killed', {})`

test('a job runs once, though two replicas look for it', async () => {
  const seen: number[] = []
  const replicas = [jobsOn(database), jobsOn(database)]
  for (const replica of replicas)
    replica.work<{ n: number }>('once', { concurrency: 2 }, async ({ data }) => void seen.push(data.n))
  await Promise.all(replicas.map((replica) => replica.start()))
  await Promise.all(Array.from({ length: 20 }, (_, n) => replicas[n % 2]?.send('once', { n })))
  await until(() => seen.length >= 20)
  await stays(() => seen.length === 20, 300)
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    Array.from({ length: 20 }, (_, n) => n),
  )
})

test('a handler that throws is asked again, and its key is free when it is done', async () => {
  const jobs = jobsOn(database)
  const attempts: number[] = []
  jobs.work('again', {}, async ({ attempt }) => {
    attempts.push(attempt)
    if (attempt === 0) throw new Error('not yet')
  })
  await jobs.start()
  assert.ok(await jobs.send('again', {}, { singletonKey: 'k' }))
  assert.equal(await jobs.send('again', {}, { singletonKey: 'k' }), undefined)
  await until(() => attempts.length === 2)
  assert.deepEqual(attempts, [0, 1])
  await until(async () => (await jobs.send('again', {}, { singletonKey: 'k' })) !== undefined)
})

test('a job that is cancelled hears of it', async () => {
  const jobs = jobsOn(database)
  let state = ''
  jobs.work('cancelled', {}, async (_, signal) => {
    state = 'begun'
    await once(signal, 'abort')
    state = 'ended'
  })
  await jobs.start()
  await jobs.send('cancelled', {}, { singletonKey: 'k' })
  await until(() => state === 'begun')
  await jobs.cancel('cancelled', 'k')
  await until(() => state === 'ended')
})

test('a job that is put in place of a running one ends that one, and runs itself', async () => {
  const jobs = jobsOn(database)
  const seen: string[] = []
  const put = (n: number) => database.db.transaction((tx) => jobs.put(tx, 'replaced', { n }, 'k'))
  jobs.work<{ n: number }>('replaced', { concurrency: 2 }, async ({ data: { n }, isHeld }, signal) => {
    seen.push(`begun ${n}`)
    if (n === 1) await once(signal, 'abort')
    seen.push(`${(await isHeld(database.db)) ? 'held' : 'lost'} ${n}`)
  })
  await put(1)
  await jobs.start()
  await until(() => seen.includes('begun 1'))
  await put(2)
  jobs.announce('replaced')
  await until(() => seen.includes('held 2') && seen.includes('lost 1'))
  await until(async () => (await database.db.query(raw(`SELECT FROM svc.jobs WHERE queue = 'replaced'`))).length === 0)
})

test('closing does not wait for ever, and gives back what was not done', async () => {
  const first = jobsOn(database)
  let begun = false
  first.work('left', {}, async (_, signal) => {
    begun = true
    await once(signal, 'abort')
  })
  await first.start()
  await first.send('left', {})
  await until(() => begun)
  await first.close()
  const [row] = await database.db.query(raw(`SELECT claim, attempts FROM svc.jobs WHERE queue = 'left'`))
  assert.deepEqual(row, { claim: null, attempts: 0 })
})

test('the job of a process that was killed is taken by another within 30 seconds', { timeout: 200_000 }, async (t) => {
  if (!database.url) return t.skip('there is one process on the embedded database')
  const child = spawn(process.execPath, ['--input-type=module', '-e', victim(database.url)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  // When others may take it, by the clock of the database; when they do depends on how busy the machine is.
  const [left] = await database.db.query<{ seconds: number }>(
    raw(
      `SELECT extract(epoch FROM claimed_until - clock_timestamp())::float8 AS seconds FROM svc.jobs WHERE queue = 'killed'`,
    ),
  )
  assert.ok(left && left.seconds <= 28, `claimed for ${left?.seconds} s more`)
  const jobs = jobsOn(database)
  let isTaken = false
  jobs.work('killed', {}, async () => {
    isTaken = true
  })
  await jobs.start()
  await until(() => isTaken)
})

test('a job that ends its process every time is given up', async () => {
  const { db } = database
  await db.query(
    raw(`
    INSERT INTO svc.jobs (id, queue, key, data, next_at, attempts)
    VALUES (gen_random_uuid(), 'poison', 'k', '{}', now() - interval '1 hour', 4)`),
  )
  const jobs = jobsOn(database)
  let tried = 0
  jobs.work('poison', {}, async () => void tried++)
  await jobs.start()
  await until(async () => (await db.query(raw(`SELECT FROM svc.jobs WHERE queue = 'poison'`))).length === 0)
  assert.equal(tried, 0)
})
