// Long polling of uploads.
import type { Db } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'

/** What a client has: the status alone, or all of the record. */
export type SeenUpload = { readonly status: string } | { readonly revision: string }

/** Waits for changes on behalf of all clients of this process. */
export type StatusWatch = {
  /** Resolves when the record differs from what was seen, the time is over or the signal aborts. */
  changed(id: string, seen: SeenUpload, milliseconds: number, signal: AbortSignal): Promise<void>
  /** Reports a change of status, so that waiting clients get it at once. */
  tell(id: string): void
  /** Reports progress that this process has written, to those who wait for more than the status. */
  tellProgress(id: string): void
  close(): void
}

type Waiter = { readonly id: string; readonly seen: SeenUpload; done(): void }
type UploadRow = { readonly id: string; readonly status: string; readonly revision: string }

const isAsSeen = (seen: SeenUpload, { status, revision }: UploadRow): boolean =>
  'status' in seen ? seen.status === status : seen.revision === revision

/** Changes by other replicas are seen within this time; other workers of this machine tell theirs. */
const pollMs = 1_000

/**
 * One query per second for all waiting clients, and none without any. Changes by this process are reported directly, so
 * polling is needed only for those of other replicas, and once when a client begins to wait: the status may have changed since it
 * was read.
 */
export function createStatusWatch(db: Db, everyMs = pollMs): StatusWatch {
  const waiters = new Set<Waiter>()
  let beginning: Waiter[] = []
  let timer: NodeJS.Timeout | undefined
  let isPolling = false

  async function poll(): Promise<void> {
    if (isPolling || waiters.size === 0) return
    isPolling = true
    await look([...waiters])
    isPolling = false
  }

  function lookSoon(waiter: Waiter): void {
    beginning.push(waiter)
    if (beginning.length > 1) return
    setImmediate(() => {
      const waiters = beginning
      beginning = []
      void look(waiters)
    })
  }

  async function look(waiters: readonly Waiter[]): Promise<void> {
    try {
      const rows = await db.query<UploadRow>(sql`
        SELECT id, status, revision::text FROM svc.uploads
        WHERE id = ANY(${[...new Set(waiters.map(({ id }) => id))]}::uuid[])`)
      const present = new Map(rows.map((row) => [row.id, row]))
      for (const { id, seen, done } of waiters) {
        const row = present.get(id)
        if (!row || !isAsSeen(seen, row)) done()
      }
    } catch {
      // Errors are ignored: the next poll may succeed, and no client waits longer than it asked for.
    }
  }

  return {
    changed(id, seen, milliseconds, signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(over)
          signal.removeEventListener('abort', done)
          waiters.delete(waiter)
          if (waiters.size === 0) clearInterval(timer)
          resolve()
        }
        const waiter: Waiter = { id, seen, done }
        const over = setTimeout(done, milliseconds)
        signal.addEventListener('abort', done, { once: true })
        if (waiters.size === 0) timer = setInterval(poll, everyMs)
        waiters.add(waiter)
        lookSoon(waiter)
      })
    },
    tell(id) {
      for (const waiter of [...waiters]) if (waiter.id === id) waiter.done()
    },
    tellProgress(id) {
      for (const { seen, ...waiter } of [...waiters]) if (waiter.id === id && 'revision' in seen) waiter.done()
    },
    close() {
      for (const { done } of [...waiters]) done()
    },
  }
}
