import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../db/db.ts'
import type { Background } from './background.ts'
import { type Lease, type LeaseTable, renewLease } from './lease-rows.ts'

/** A table of work, and how its rows are claimed and processed. */
export type LeaseSource<L extends Lease> = {
  readonly db: Db
  readonly table: LeaseTable
  /** Concurrency of this process. */
  readonly concurrency: number
  /**
   * Concurrency for one application, so that one with many rows does not delay the others. Absent: rows are claimed in
   * their order.
   */
  readonly perApplication?: number
  /** Claims the row that waits longest, except those of these applications, for so many seconds. */
  claimNext(besides: readonly string[], seconds: number): Promise<L | undefined>
  /**
   * Seconds until the next row of other applications is due, at most 0 if one is due now; Infinity when there is none. Absent: only
   * polling finds it.
   */
  secondsToNext?(besides: readonly string[]): Promise<number>
  /** The work itself renews the lease, and notices when it is lost. */
  readonly isRenewedByWork?: boolean
  /** Processes the row and records the outcome. The signal is aborted when the server stops or the lease is lost. */
  work(lease: L, signal: AbortSignal): Promise<void>
}

export type LeaseWorkers = {
  /** Claims due rows up to the free concurrency. */
  fill(): Promise<void>
  /** Seconds until the next row can be claimed; Infinity when there is none, or no free worker. */
  secondsToNext(): Promise<number>
  /** Waits briefly for running rows; then releases them to others. */
  close(): Promise<void>
}

export type LeaseOptions = {
  readonly background: Background
  /** Length of a lease. It is renewed three times within it; one that expires frees the row. */
  readonly leaseSeconds: number
  onError(error: unknown): void
}

const stopGraceMs = 5_000

/** The workers of a lease source. Fair: an application without running rows comes before one that has some. */
export function createLeaseWorkers<L extends Lease>(
  source: LeaseSource<L>,
  { background, leaseSeconds, onError, onFree }: LeaseOptions & { onFree(): void },
): LeaseWorkers {
  const { db, table, concurrency, perApplication = concurrency } = source
  const isFair = source.perApplication !== undefined
  const stopping = new AbortController()
  const running = new Map<string, Promise<void>>()
  const busy = new Map<string, number>()

  const withAtLeast = (count: number): string[] =>
    [...busy].flatMap(([applicationId, under]) => (under >= count ? [applicationId] : []))

  async function take(): Promise<L | undefined> {
    for (const count of new Set(isFair && busy.size > 0 ? [1, perApplication] : [perApplication])) {
      const lease = await source.claimNext(withAtLeast(count), leaseSeconds)
      if (lease) return lease
    }
    return undefined
  }

  function count(applicationId: string, change: 1 | -1): void {
    const under = (busy.get(applicationId) ?? 0) + change
    if (under === 0) busy.delete(applicationId)
    else busy.set(applicationId, under)
  }

  async function work(lease: L): Promise<void> {
    const lost = new AbortController()
    const renew = async (): Promise<void> => {
      if (!(await renewLease(db, table, lease, leaseSeconds))) lost.abort(new Error('The lease was lost.'))
    }
    const renewal = source.isRenewedByWork ? undefined : setInterval(() => background.run(renew), leaseSeconds * 333)
    count(lease.applicationId, 1)
    try {
      await source.work(lease, AbortSignal.any([stopping.signal, lost.signal]))
    } catch (error) {
      onError(error)
    } finally {
      clearInterval(renewal)
      count(lease.applicationId, -1)
      running.delete(lease.id)
      onFree()
    }
  }

  return {
    async fill() {
      while (running.size < concurrency && !background.isClosed()) {
        const lease = await take()
        if (!lease) return
        running.set(lease.id, work(lease))
      }
    },
    async secondsToNext() {
      const next = running.size < concurrency ? source.secondsToNext?.(withAtLeast(perApplication)) : undefined
      return (await next) ?? Number.POSITIVE_INFINITY
    },
    async close() {
      const over = () => Promise.all(running.values())
      await Promise.race([over(), sleep(stopGraceMs, undefined, { ref: false })])
      stopping.abort(new Error('The server is stopping.'))
      await Promise.race([over(), sleep(stopGraceMs / 5, undefined, { ref: false })])
    },
  }
}
