/**
 * Retry with back-off, and polling with a deadline: the one loop that tries again after a pause.
 *
 * What looks alike and is not: a statement that runs once more on a new connection (`kernel/db/postgres/postgres-pool.ts`, `kernel/db/postgres/postgres-guarded.ts`,
 * `data/tiles/workers/raw-pools.ts`) waits for nothing, it replaces what is known to be stale; rows under leases (`jobs/`) are tried again by whichever
 * replica claims them, at a time that stands in the row; a loop that goes on as long as the server is `kernel/jobs/poll-loop.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises'

export type RetryPace = {
  /** How often at most. */
  readonly tries?: number
  /** No try begins later than so long after the first. */
  readonly withinMs?: number
  /** The pause after so many failures; absent: none. */
  pauseMs?(failures: number): number
  /** Ends a pause: what is waited for rejects with an AbortError. */
  readonly signal?: AbortSignal | undefined
}

/** Does the work until it succeeds. Rejects with the last error when that does not pass, or there is no further try. */
export async function retry<T>(
  work: () => Promise<T>,
  { isPassing, ...pace }: RetryPace & { isPassing(error: unknown): boolean },
): Promise<T> {
  const begunAt = performance.now()
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error) || !(await mayTryAgain(pace, failures, begunAt))) throw error
    }
  }
}

/** Asks until there is an answer; undefined when there is no further try. */
export async function poll<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  pace: RetryPace,
): Promise<T | undefined> {
  const begunAt = performance.now()
  for (let failures = 1; ; failures++) {
    const answer = await ask()
    if (answer !== undefined || !(await mayTryAgain(pace, failures, begunAt))) return answer
  }
}

async function mayTryAgain({ tries, withinMs, pauseMs, signal }: RetryPace, failures: number, begunAt: number) {
  if (tries !== undefined && failures >= tries) return false
  const ms = pauseMs?.(failures) ?? 0
  if (ms > 0) await sleep(ms, undefined, { signal })
  return withinMs === undefined || performance.now() < begunAt + withinMs
}

type Pause = (failures: number) => number

export const constant =
  (ms: number): Pause =>
  () =>
    ms

/** Each pause is longer by as much as the first lasts. */
export const linear =
  (ms: number): Pause =>
  (failures) =>
    ms * failures

/** Exponential back-off. */
export const doubling =
  (first: number, most = Number.POSITIVE_INFINITY): Pause =>
  (failures) =>
    Math.min(most, first * 2 ** (failures - 1))

/** Full jitter: those who failed at the same moment do not meet again. */
export const jittered =
  (pause: Pause): Pause =>
  (failures) =>
    Math.random() * pause(failures)
