import type { Watch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { createBackground } from '../../kernel/jobs/background.ts'
import { createLeaseQueue, type LeaseQueue } from '../../kernel/jobs/lease-queue.ts'
import { type ClaimedMessage, claimNext, clean, leaseTables, type OutboxTable, secondsToNext } from './outbox-rows.ts'
import { sendRow } from './send-row.ts'

/** Rows are found by polling; an announcement saves the wait for the next poll. */
export type Announcer = {
  /** A row was committed. */
  announce(): void
  /** A row will be there when a transaction that is still open commits. */
  announceSoon(): void
}

export type Outbox = {
  add(outgoing: OutboxTable): Announcer
  /** Starts polling, also for rows that a crashed process left. */
  start(): void
  /** Starts nothing more, and waits briefly for what is being sent. */
  close(): Promise<void>
}

type OutboxOptions = {
  db: Db
  onError(error: unknown): void
  /** Watches a part of the polling. */
  watch?: (() => Watch) | undefined
  /** Told of each row that was delivered. */
  onDelivered?(applicationId: string, table: OutboxTable['table']): void
  leaseSeconds?: number
}

const defaultLeaseSeconds = 30
const soonMs = [50, 500, 3_000]
/** Poll interval. Another replica may have died; the embedded database has only this one. */
const lookMs = { postgres: 5_000, embedded: 60_000 } as const
const cleanMs = 3_600_000

/**
 * Sends mail and messages from outbox tables, under leases (kernel/jobs/lease-queue.ts): at least once, and once if nothing
 * crashes.
 */
export function createOutbox({
  db,
  onError,
  onDelivered,
  watch,
  leaseSeconds = defaultLeaseSeconds,
}: OutboxOptions): Outbox {
  const background = createBackground(onError, watch)
  const queues: LeaseQueue[] = []

  const watchedClean = background.watch()
  function everyClean(): void {
    background.run(() => watchedClean(() => clean(db)))
    background.later(cleanMs, everyClean)
  }

  return {
    add(outgoing) {
      const { concurrency, perApplication } = outgoing
      const source = {
        db,
        concurrency,
        perApplication,
        table: leaseTables[outgoing.table],
        claimNext: (besides: readonly string[], seconds: number) => claimNext(db, outgoing, besides, seconds),
        secondsToNext: (besides: readonly string[]) => secondsToNext(db, outgoing, besides),
        work: (claimed: ClaimedMessage, signal: AbortSignal) =>
          sendRow({ db, onError, onDelivered }, outgoing, claimed, signal),
      }
      const queue = createLeaseQueue(source, { background, leaseSeconds, onError, lookMs: lookMs[db.kind] })
      queues.push(queue)
      return {
        announce: queue.announce,
        announceSoon() {
          for (const ms of soonMs) queue.announceIn(ms)
        },
      }
    },
    start() {
      for (const queue of queues) queue.start()
      background.later(cleanMs / 60, everyClean)
    },
    async close() {
      await background.close()
      await Promise.all(queues.map((queue) => queue.close()))
    },
  }
}
