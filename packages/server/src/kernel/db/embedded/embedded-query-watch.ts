import type { StopReason } from './embedded-limits.ts'
import type { GuardedQuery } from './embedded-protocol.ts'
import type { EmbeddedSession } from './embedded-session.ts'

/** Most queries are stopped where they call JavaScript; others are interrupted this long after their limit. */
const marginMs = 100
/** Between two interruptions of a query that may still go on, because its thread has had little CPU time. */
const againMs = 500
/** A query runs on for so long after its client disconnected: most end by then. */
const leftMs = 250
/** A cancelled query that has not ended after so long is inside a function that does not look, and ends with its thread. */
const cancelMs = 2_000

export type QueryWatch = {
  /** The query has the thread from now on. */
  begin(): void
  /** The client has disconnected. */
  leave(): void
  end(): void
}

/**
 * Watches a query of the embedded database from the main thread. The limits are those that the thread itself knows
 * (`embedded-statement-guard.ts`): here it is made to look, and ended through `end` when that does not help.
 */
export function watchQuery(
  session: EmbeddedSession,
  query: GuardedQuery,
  end: (stopped: StopReason) => void,
): QueryWatch {
  let isRunning = false
  let look: NodeJS.Timeout | undefined
  let kill: NodeJS.Timeout | undefined

  function lookAfter(ms: number): void {
    clearTimeout(look)
    look = setTimeout(interrupt, ms)
  }

  function endAfter(ms: number, stopped: StopReason): void {
    clearTimeout(kill)
    kill = setTimeout(end, ms, stopped)
  }

  async function interrupt(): Promise<void> {
    const stopped = await session.checkStatement()
    if (!isRunning) return
    if (stopped) endAfter(cancelMs, stopped)
    else lookAfter(againMs)
  }

  return {
    begin() {
      isRunning = true
      lookAfter(Math.min(query.cpuMs, query.elapsedMs) + marginMs)
      endAfter(query.elapsedMs + cancelMs, 'time')
    },
    leave() {
      Atomics.store(query.left, 0, 1)
      if (!isRunning) return
      lookAfter(leftMs)
      endAfter(leftMs + cancelMs, 'left')
    },
    end() {
      isRunning = false
      clearTimeout(look)
      clearTimeout(kill)
    },
  }
}
