import { once } from '../concurrency/once.ts'
import { freeAll, type Lease } from './lease-rows.ts'
import { createLeaseWorkers, type LeaseOptions, type LeaseSource } from './lease-workers.ts'
import { createPollLoop } from './poll-loop.ts'

/**
 * The one mechanism for durable work: rows under leases. A committed row is processed even after crashes: a worker claims it
 * first and renews the claim, and a row whose lease has expired is free again.
 *
 * Leases on our own rows rather than a separate job queue (a transactional outbox): the row is written in the transaction
 * that causes the work; the next row is chosen by a query of ours, which makes the order fair between applications; and
 * one engine serves PostgreSQL and the embedded database.
 */
export type LeaseQueue = {
  /** A row was added: rows are found by polling, and an announcement saves the wait for the next poll. */
  announce(): void
  /** A row will be due in so many milliseconds. */
  announceIn(ms: number): void
  /** Frees the rows that a process held which has ended. No row is claimed before; what fails is tried again by the next call. */
  free(): Promise<void>
  /** Starts polling, also for rows with an expired lease. */
  start(): void
  /** Waits briefly for running work. */
  close(): Promise<void>
}

type QueueOptions = LeaseOptions & {
  /** Poll interval for rows that were not announced here: another replica may have added them, or died. */
  readonly lookMs: number
}

export function createLeaseQueue<L extends Lease>(source: LeaseSource<L>, options: QueueOptions): LeaseQueue {
  const { background, lookMs, onError } = options
  let hasStarted = false
  let isDueSoon = false
  const workers = createLeaseWorkers(source, { ...options, onFree: () => loop.poke() })
  // The embedded database belongs to one process: its leases are those of the one before. Others expire.
  const free = once(async () => {
    if (source.db.kind === 'embedded') await freeAll(source.db, source.table)
  })
  async function take(): Promise<number> {
    await free()
    await workers.fill()
    const ms = 1000 * Math.max(0, await workers.secondsToNext())
    isDueSoon = ms < lookMs
    return Math.min(lookMs, ms + 20)
  }
  // A row that was announced before the start is worked on, and tried again.
  const isWanted = () => hasStarted || isDueSoon
  const loop = createPollLoop({ background, take, afterFailureMs: lookMs, isWanted, onError })
  return {
    free,
    announce: loop.poke,
    announceIn: (ms) => void background.later(ms, loop.poke),
    start() {
      hasStarted = true
      loop.poke()
    },
    close: workers.close,
  }
}
