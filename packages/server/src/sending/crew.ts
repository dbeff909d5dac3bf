import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../db/db.ts'
import type { Background } from './background.ts'
import {
  type Attempt,
  type Claimed,
  claimNext,
  giveBack,
  type Outgoing,
  record,
  renew,
  secondsToNext,
} from './outgoing-rows.ts'

export type Crew = {
  /** Begins with as many rows as there are due and hands free. */
  fill(): Promise<void>
  /** Until there will be more to begin with; for ever when there is none, or no hand free. */
  secondsToNext(): Promise<number>
  /** Waits a little for what is being sent; then it is given back, for others to send. */
  close(): Promise<void>
}

type CrewOptions = {
  db: Db
  background: Background
  leaseSeconds: number
  onError(error: unknown): void
  /** Hands are free again. */
  onFree(): void
}

const maxRetryAfterSeconds = 600
const patienceMs = 5_000

/** Those who send the rows of a table. An application that has none on its way comes before one that has some. */
export function createCrew(outgoing: Outgoing, options: CrewOptions): Crew {
  const { db, background, leaseSeconds, onFree } = options
  const { concurrency, perApplication } = outgoing
  const stopping = new AbortController()
  const sent = new Map<string, Promise<void>>()
  const busy = new Map<string, number>()

  const withAtLeast = (count: number): string[] =>
    [...busy].flatMap(([applicationId, running]) => (running >= count ? [applicationId] : []))

  async function take(): Promise<Claimed | undefined> {
    for (const count of new Set([1, perApplication])) {
      const claimed = await claimNext(db, outgoing, withAtLeast(count), leaseSeconds)
      if (claimed) return claimed
    }
    return undefined
  }

  function count(applicationId: string, change: 1 | -1): void {
    const running = (busy.get(applicationId) ?? 0) + change
    if (running === 0) busy.delete(applicationId)
    else busy.set(applicationId, running)
  }

  async function work(claimed: Claimed): Promise<void> {
    const renewal = setInterval(
      () => background.run(() => renew(db, outgoing, claimed, leaseSeconds)),
      leaseSeconds * 333,
    )
    count(claimed.applicationId, 1)
    try {
      await attemptOnce(outgoing, claimed, stopping.signal, options)
    } catch (error) {
      options.onError(error)
    } finally {
      clearInterval(renewal)
      count(claimed.applicationId, -1)
      sent.delete(claimed.id)
      onFree()
    }
  }

  return {
    async fill() {
      while (sent.size < concurrency && !background.isClosed()) {
        const claimed = await take()
        if (!claimed) return
        sent.set(claimed.id, work(claimed))
      }
    },
    secondsToNext: async () =>
      sent.size < concurrency
        ? await secondsToNext(db, outgoing, withAtLeast(perApplication))
        : Number.POSITIVE_INFINITY,
    async close() {
      const over = () => Promise.all(sent.values())
      await Promise.race([over(), sleep(patienceMs, undefined, { ref: false })])
      stopping.abort()
      await Promise.race([over(), sleep(patienceMs / 5, undefined, { ref: false })])
    },
  }
}

/** Tries, and writes down what came of it. */
async function attemptOnce(
  outgoing: Outgoing,
  claimed: Claimed,
  signal: AbortSignal,
  { db, onError }: Pick<CrewOptions, 'db' | 'onError'>,
): Promise<void> {
  const attempt = await outgoing.attempt(claimed.id, signal).catch((error): Attempt => {
    if (!signal.aborted) onError(error)
    return { error: 'The message could not be sent.' }
  })
  if (signal.aborted && attempt.error !== undefined) return giveBack(db, outgoing, claimed)
  await patiently(() => record(db, outgoing, claimed, attempt, delayOf(outgoing, claimed.made, attempt)))
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
