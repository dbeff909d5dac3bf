import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'

/** Waits for changes of status on behalf of all clients of this process. */
export type StatusWatch = {
  /** Until the upload has another status than this, the time is over, or the signal ends; whichever comes first. */
  changed(id: string, status: string, milliseconds: number, signal: AbortSignal): Promise<void>
  /** The status of an upload was changed here: whoever waits is told without delay. */
  tell(id: string): void
  close(): void
}

type Waiter = { readonly id: string; readonly status: string; done(): void }

/** Changes of other replicas are seen within this time. */
const pollMs = 1_000

/**
 * One query a second for all who wait, and none while nobody does. Changes by this process are told at once, so that polling is
 * only needed for those of other replicas.
 */
export function createStatusWatch(db: Db, everyMs = pollMs): StatusWatch {
  const waiters = new Set<Waiter>()
  let timer: NodeJS.Timeout | undefined
  let isPolling = false

  async function poll(): Promise<void> {
    if (isPolling || waiters.size === 0) return
    isPolling = true
    const asked = [...waiters]
    try {
      const rows = await db.query<{ id: string; status: string }>(sql`
        SELECT id, status FROM svc.uploads WHERE id = ANY(${[...new Set(asked.map(({ id }) => id))]}::uuid[])`)
      const statuses = new Map(rows.map(({ id, status }) => [id, status]))
      for (const { id, status, done } of asked) if (statuses.get(id) !== status) done()
    } catch {
      // The next time it may be reached; nobody waits longer than asked for.
    } finally {
      isPolling = false
    }
  }

  return {
    changed(id, status, milliseconds, signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(over)
          signal.removeEventListener('abort', done)
          waiters.delete(waiter)
          if (waiters.size === 0) clearInterval(timer)
          resolve()
        }
        const waiter: Waiter = { id, status, done }
        const over = setTimeout(done, milliseconds)
        signal.addEventListener('abort', done, { once: true })
        if (waiters.size === 0) timer = setInterval(poll, everyMs)
        waiters.add(waiter)
      })
    },
    tell(id) {
      for (const waiter of [...waiters]) if (waiter.id === id) waiter.done()
    },
    close() {
      for (const { done } of [...waiters]) done()
    },
  }
}
