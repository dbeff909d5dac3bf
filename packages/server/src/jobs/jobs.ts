import { setTimeout as sleep } from 'node:timers/promises'
import { type Job as BossJob, PgBoss } from 'pg-boss'
import type { Db } from '../db/db.ts'
import { raw } from '../db/sql.ts'
import { bossDatabase } from './boss-database.ts'

/** A piece of work that was handed to a worker. */
export type Job<T> = {
  readonly id: string
  readonly data: T
  /** How often it was tried before. */
  readonly attempt: number
}

export type QueueOptions = {
  /** How many this process works on at once. */
  readonly concurrency?: number
  /** After so long a job is taken for lost, even if its worker lives. */
  readonly expireSeconds?: number
}

export type SendOptions = {
  /** While a job with this key waits or is being worked on, another one is not taken. */
  readonly singletonKey?: string
  readonly startAfterSeconds?: number
}

/** The signal ends when the job was cancelled or lost, or when the server stops. What is thrown is tried again. */
export type Handler<T> = (job: Job<T>, signal: AbortSignal) => Promise<void>

/** Work that outlives a request and a crash. Every replica takes part. */
export type Jobs = {
  /** To be called before `start`. */
  work<T extends object>(queue: string, options: QueueOptions, handler: Handler<T>): void
  /** The id of the job; undefined when its key is taken. */
  send(queue: string, data: object, options?: SendOptions): Promise<string | undefined>
  cancel(queue: string, id: string): Promise<void>
  /** Sending starts it too. */
  start(): Promise<void>
  /** Waits a little for what is being done; the rest is given back, for others to take. */
  close(): Promise<void>
}

export type JobsOptions = { db: Db; onError(error: unknown): void }

type Queue = { readonly options: QueueOptions; readonly handler: Handler<object> }

/** Nobody hears of a job on the embedded database but this process, so it need not ask often; on a server others send too. */
const pace = {
  postgres: { pollSeconds: 2, superviseSeconds: 5 },
  embedded: { pollSeconds: 60, superviseSeconds: 60 },
} as const

/** A worker that is not heard of for so long is dead. It is the least that pg-boss takes. */
const heartbeatSeconds = 10
const retries = { retryLimit: 3, retryDelay: 2, retryBackoff: true, retryDelayMax: 60 }
const keptSeconds = 86_400
const patienceMs = 5_000

function createBoss(db: Db): PgBoss {
  const { superviseSeconds } = pace[db.kind]
  return new PgBoss({
    db: bossDatabase(db),
    backend: db.kind === 'embedded' ? 'pglite' : 'postgres',
    schema: 'pgboss',
    schedule: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
    maintenanceIntervalSeconds: 3600,
    flowIntervalSeconds: 3600,
    bamIntervalSeconds: 3600,
    monitorVacuum: false,
    reindex: false,
  })
}

export function createJobs({ db, onError }: JobsOptions): Jobs {
  const { pollSeconds } = pace[db.kind]
  const queues = new Map<string, Queue>()
  const workers = new Map<string, string[]>()
  const timers = new Set<NodeJS.Timeout>()
  const boss = createBoss(db)
  boss.on('error', onError)
  let started: Promise<void> | undefined

  /** Workers of ours look now, or in so many seconds, and not only when they would anyway. */
  function wake(queue: string, seconds = 0): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      for (const worker of workers.get(queue) ?? []) boss.notifyWorker(worker)
    }, seconds * 1000)
    timers.add(timer.unref())
  }

  async function begin(name: string, { options, handler }: Queue): Promise<void> {
    const { concurrency = 1, expireSeconds = 3600 } = options
    const lasting = { ...retries, heartbeatSeconds, expireInSeconds: expireSeconds, deleteAfterSeconds: keptSeconds }
    await boss.createQueue(name, { policy: 'exclusive', ...lasting })
    await boss.updateQueue(name, lasting)
    const run = async ([job]: BossJob<object>[]): Promise<void> => {
      if (!job) return
      try {
        await handler({ id: job.id, data: job.data, attempt: job.retryCount }, job.signal)
        wake(name)
      } catch (error) {
        wake(name, retries.retryDelay * 2 ** (job.retryCount + 1))
        throw error
      }
    }
    const polling = { pollingIntervalSeconds: pollSeconds, batchSize: 1 }
    const ids = Array.from({ length: concurrency }, () => boss.work(name, polling, run))
    workers.set(name, await Promise.all(ids))
  }

  async function start(): Promise<void> {
    await install(db, boss)
    for (const [name, queue] of queues) await begin(name, queue)
  }

  /** Once; a failure is forgotten, for the next one to try again. */
  async function ready(): Promise<void> {
    started ??= start()
    await started.catch((error) => {
      started = undefined
      throw error
    })
  }

  return {
    work(queue, options, handler) {
      queues.set(queue, { options, handler: handler as Handler<object> })
    },
    async send(queue, data, { singletonKey, startAfterSeconds } = {}) {
      await ready()
      const id = await boss.send(queue, data, {
        // Without a key all jobs of a queue would have the same.
        singletonKey: singletonKey ?? crypto.randomUUID(),
        ...(startAfterSeconds !== undefined && { startAfter: startAfterSeconds }),
      })
      wake(queue, startAfterSeconds)
      return id ?? undefined
    },
    async cancel(queue, id) {
      await boss.cancel(queue, id)
    },
    start: ready,
    async close() {
      await started?.catch(() => undefined)
      for (const timer of timers) clearTimeout(timer)
      await boss.stop({ graceful: true, close: false, timeout: patienceMs })
    },
  }
}

/** Only one process has the embedded database: what was being done when it ended, nobody does. */
const takeBack = `
  UPDATE pgboss.job SET start_after = now(), state =
    CASE WHEN retry_count < retry_limit THEN 'retry' ELSE 'failed' END::pgboss.job_state
  WHERE state = 'active'`

/** Nobody but us has a use for its tables. Replicas that make them at the same time fail, all but one. */
async function install(db: Db, boss: PgBoss): Promise<void> {
  await boss.start().catch(async () => {
    await sleep(1_000)
    await boss.start()
  })
  await db.script('REVOKE ALL ON SCHEMA pgboss FROM PUBLIC')
  if (db.kind === 'embedded') await db.query(raw(takeBack))
}
