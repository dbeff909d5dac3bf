import { randomUUID } from 'node:crypto'
import type { Watch } from '../concurrency/work-watch.ts'
import type { Db, Queryable } from '../db/db.ts'
import { createBackground } from './background.ts'
import {
  addJob,
  cancelJob,
  claimJob,
  endJob,
  giveBackJob,
  isHeld,
  type JobLease,
  maxAttempts,
  putJob,
  removeAbandoned,
  retryJob,
  secondsToNextJob,
  tableOf,
  whenFree,
} from './job-rows.ts'
import { createLeaseQueue, type LeaseQueue } from './lease-queue.ts'
import type { LeaseSource } from './lease-workers.ts'

/** A job as its handler gets it. */
export type Job<T> = {
  readonly id: string
  readonly data: T
  /** Number of earlier attempts. */
  readonly attempt: number
  /** False after the job was cancelled or replaced. The signal tells it too, but only when the lease is to be renewed. */
  isHeld(db: Queryable): Promise<boolean>
}

export type QueueOptions = {
  /** How many this process works on at once. */
  readonly concurrency?: number
  /** After so long a job is taken for lost, even if its worker lives. */
  readonly expireSeconds?: number
}

export type SendOptions = {
  /** Deduplication: while a job with this key is queued or running, another one is not added. */
  readonly singletonKey?: string
  readonly startAfterSeconds?: number
}

/** The signal ends when the job was cancelled or lost, or when the server stops. What is thrown is tried again. */
export type Handler<T> = (job: Job<T>, signal: AbortSignal) => Promise<void>

/** Durable job queue on leases (lease-queue.ts): jobs outlive requests and crashes, and every replica takes part. */
export type Jobs = {
  /** To be called before `start`. */
  work<T extends object>(queue: string, options: QueueOptions, handler: Handler<T>): void
  /** The id of the job; undefined when its key is taken. */
  send(queue: string, data: object, options?: SendOptions): Promise<string | undefined>
  /** Adds a job in a transaction, in place of another one with the same key. To be announced after the commit. */
  put(tx: Queryable, queue: string, data: object, key: string): Promise<void>
  /** Saves the wait for the next poll. */
  announce(queue: string): void
  /** Ends the job with this key. */
  cancel(queue: string, key: string): Promise<void>
  /** Runs `work` in a transaction if there is no job with this key, and none can be added meanwhile. */
  whenFree(queue: string, key: string, work: (tx: Queryable) => Promise<void>): Promise<void>
  /** Starts polling for jobs. */
  start(): Promise<void>
  /** Waits briefly for running jobs; then aborts and releases them. */
  close(): Promise<void>
}

export type JobsOptions = {
  db: Db
  onError(error: unknown): void
  /** Watches a part of the polling. */
  watch?: () => Watch
}

/** Length of a lease: a worker that does not renew it for so long is dead. */
const leaseSeconds = 12
/** Poll interval. Only this process adds jobs to the embedded database, so it need not poll often. */
const lookMs = { postgres: 2_000, embedded: 60_000 } as const
const cleanMs = 60_000
const usualExpireSeconds = 3600

export function createJobs({ db, onError, watch }: JobsOptions): Jobs {
  const background = createBackground(onError, watch)
  const queues = new Map<string, LeaseQueue>()

  return {
    work(queue, { concurrency = 1, expireSeconds = usualExpireSeconds }, handler) {
      const source: LeaseSource<JobLease> = {
        db,
        concurrency,
        table: tableOf(queue),
        claimNext: (_, seconds) => claimJob(db, queue, seconds),
        secondsToNext: () => secondsToNextJob(db, queue),
        work: (lease, signal) => runJob({ db, onError }, lease, signal, expireSeconds, handler as Handler<object>),
      }
      queues.set(queue, createLeaseQueue(source, { background, leaseSeconds, onError, lookMs: lookMs[db.kind] }))
    },
    async send(queue, data, { singletonKey = randomUUID(), startAfterSeconds: delaySeconds = 0 } = {}) {
      const id = await addJob(db, queue, { data, key: singletonKey, delaySeconds })
      queues.get(queue)?.announceIn(delaySeconds * 1000)
      return id
    },
    put: (tx, queue, data, key) => putJob(tx, queue, { data, key }),
    announce: (queue) => queues.get(queue)?.announce(),
    cancel: (queue, key) => cancelJob(db, queue, key),
    whenFree: (queue, key, work) => whenFree(db, queue, key, work),
    async start() {
      for (const queue of queues.values()) await queue.free()
      for (const queue of queues.values()) queue.start()
      background.run(() => removeAbandoned(db))
      background.every(cleanMs, () => removeAbandoned(db))
    },
    async close() {
      await background.close()
      await Promise.all(queues.values().map((queue) => queue.close()))
    },
  }
}

/** Runs a job and records its outcome. */
async function runJob(
  { db, onError }: JobsOptions,
  lease: JobLease,
  stop: AbortSignal,
  expireSeconds: number,
  handler: Handler<object>,
): Promise<void> {
  const { id, data, attempts } = lease
  const expired = AbortSignal.timeout(expireSeconds * 1000)
  try {
    const job = { id, data, attempt: attempts - 1, isHeld: (at: Queryable) => isHeld(at, lease) }
    await handler(job, AbortSignal.any([stop, expired]))
  } catch (error) {
    if (!stop.aborted) {
      const isLast = attempts >= maxAttempts
      if (isLast) onError(error)
      return await (isLast ? endJob(db, lease) : retryJob(db, lease))
    }
  }
  // A job that was cancelled, or whose lease is lost, is not ours to record.
  await (stop.aborted ? giveBackJob(db, lease) : endJob(db, lease))
}
