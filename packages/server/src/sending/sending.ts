import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../db/db.ts'
import { createBackground, type Timer } from './background.ts'
import {
  type Attempt,
  type Claimed,
  claim,
  clean,
  dueRows,
  giveBack,
  type Outgoing,
  record,
  releaseAll,
  renew,
  secondsToNext,
} from './outgoing-rows.ts'

/** Rows are found by looking; whoever adds one says so, in order that nobody waits. */
export type Announcer = {
  /** There is a row to send. */
  announce(): void
  /** There will be one, when a transaction that is still open ends. */
  announceSoon(): void
}

export type Sending = {
  add(outgoing: Outgoing): Announcer
  /** Also looks for what was left behind when the last process ended. */
  start(): void
  /** Waits for a look that has begun. Whoever is at work is for the jobs to wait for. */
  close(): Promise<void>
}

/** What is needed of the jobs. */
export type JobQueue = {
  work<T extends object>(
    queue: string,
    options: { concurrency?: number; expireSeconds?: number },
    handler: (job: { readonly data: T }, signal: AbortSignal) => Promise<void>,
  ): void
  send(queue: string, data: object, options?: { singletonKey?: string; startAfterSeconds?: number }): Promise<unknown>
}

type SendingOptions = { db: Db; jobs: JobQueue; onError(error: unknown): void; leaseSeconds?: number }

/** Whoever works on a row says so three times in this time; otherwise it is dead, and the row anybody's again. */
const defaultLeaseSeconds = 30
const maxRetryAfterSeconds = 600
const soonMs = [50, 500, 3_000]
/** Another replica may have died; on the embedded database there is no other. */
const lookMs = { postgres: 5_000, embedded: 60_000 } as const
const cleanMs = 3_600_000

/**
 * The rows are the truth, jobs only make somebody work on them: a row that was committed is sent, whatever crashed.
 * Whoever works on one claims it first, so that it is sent once as far as the other side allows.
 */
export function createSending({ db, jobs, onError, leaseSeconds = defaultLeaseSeconds }: SendingOptions): Sending {
  const background = createBackground(onError)
  const looks: (() => void)[] = []

  async function enqueueDue({ table }: Outgoing): Promise<void> {
    for (const row of await dueRows(db, table)) {
      if (background.isClosed()) return
      await jobs.send(table, { id: row.id }, { singletonKey: keyOf(row) })
    }
  }

  async function work(outgoing: Outgoing, id: string, signal: AbortSignal): Promise<void> {
    const claimed = await claim(db, outgoing, id, leaseSeconds)
    if (!claimed) return
    const renewal = setInterval(
      () => background.run(() => renew(db, outgoing, claimed, leaseSeconds)),
      leaseSeconds * 333,
    )
    const delay = await attemptOnce(db, outgoing, claimed, signal, onError).finally(() => clearInterval(renewal))
    if (delay === undefined || background.isClosed()) return
    const next = { singletonKey: keyOf({ id, made: claimed.made + 1 }), startAfterSeconds: delay }
    await jobs.send(outgoing.table, { id }, next)
  }

  function lookFor(outgoing: Outgoing): () => void {
    let next: Timer
    const run = coalesced(async () => {
      await enqueueDue(outgoing)
      const ms = 1000 * (await secondsToNext(db, outgoing))
      background.cancel(next)
      // Somebody has a job for it, unless that was the process before this one.
      if (ms < lookMs[db.kind]) next = background.later(ms + 20, look)
    })
    const look = () => background.run(run)
    return look
  }

  function everyLook(): void {
    for (const look of looks) look()
    background.later(lookMs[db.kind], everyLook)
  }

  function everyClean(): void {
    background.run(() => clean(db))
    background.later(cleanMs, everyClean)
  }

  return {
    add(outgoing) {
      const { table, concurrency } = outgoing
      const options = { concurrency, expireSeconds: 300 }
      jobs.work<{ id: string }>(table, options, ({ data }, signal) => work(outgoing, data.id, signal))
      const look = lookFor(outgoing)
      looks.push(look)
      return {
        announce: look,
        announceSoon() {
          for (const ms of soonMs) background.later(ms, look)
        },
      }
    },
    start() {
      background.run(async () => {
        try {
          if (db.kind === 'embedded') await releaseAll(db)
        } finally {
          everyLook()
        }
      })
      background.later(cleanMs / 60, everyClean)
    },
    close: background.close,
  }
}

/** The same row at the same attempt is one job, however many look. */
const keyOf = ({ id, made }: { id: string; made: number }): string => `${id}:${made}`

/** Tries, and writes down what came of it. In how many seconds to try again, if at all. */
async function attemptOnce(
  db: Db,
  outgoing: Outgoing,
  claimed: Claimed,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<number | undefined> {
  const attempt = await outgoing.attempt(claimed.id, signal).catch((error): Attempt => {
    if (!signal.aborted) onError(error)
    return { error: 'The message could not be sent.' }
  })
  if (signal.aborted && attempt.error !== undefined) {
    await giveBack(db, outgoing, claimed)
    return undefined
  }
  const delay = delayOf(outgoing, claimed.made, attempt)
  await patiently(() => record(db, outgoing, claimed, attempt, delay))
  return delay
}

/** Undefined when there is nothing to try again. */
function delayOf({ delaysSeconds }: Outgoing, made: number, attempt: Attempt): number | undefined {
  if (attempt.error === undefined || attempt.isFinal) return undefined
  const delay = delaysSeconds[made]
  if (delay === undefined) return undefined
  return Math.max(delay, Math.min(attempt.retryAfterSeconds ?? 0, maxRetryAfterSeconds))
}

/** It has been sent: that this is not forgotten is worth waiting for the database. */
async function patiently(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === 5) throw error
      await sleep(tries * 1_000)
    }
  }
}

/** However often it is asked for, it runs once at a time, and once more after the last time it was asked for. */
function coalesced(work: () => Promise<void>): () => Promise<void> {
  let isRunning = false
  let isWanted = false
  return async function ask(): Promise<void> {
    isWanted = true
    if (isRunning) return
    isRunning = true
    try {
      while (isWanted) {
        isWanted = false
        await work()
      }
    } finally {
      isRunning = false
    }
  }
}
