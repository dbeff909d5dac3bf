// Rate limits that all replicas share: counters of fixed windows, as rows of the database.
import { overLimit, type RefusingLimit } from '../limits/limits.ts'
import type { Queryable } from './db.ts'
import { sql } from './sql.ts'

export const hourSeconds = 3_600
/** Rows of a window that began longer ago count for nobody. */
const longestWindowSeconds = hourSeconds
const largestInteger = 2_147_483_647

type Counter = readonly [name: string, most: number]

/**
 * Counts one in each of these counters, which have a limit each. If one of them is full, counts in none, and answers the
 * seconds until its window ends.
 */
export async function countInWindow(
  db: Queryable,
  counters: readonly Counter[],
  seconds: number,
): Promise<number | undefined> {
  const names = counters.map(([name]) => name)
  const limits = counters.map(([, most]) => Math.min(most, largestInteger))
  const [row] = await db.query<{ wait: number | null }>(sql`
    SELECT svc.count_failure(${names}::text[], ${limits}::integer[], ${seconds}::int4) AS wait`)
  return row?.wait === null || row === undefined ? undefined : Math.max(1, row.wait)
}

type Rate = {
  readonly limit: RefusingLimit
  /** The refusal names the limit of the first. */
  readonly counters: readonly [Counter, ...Counter[]]
  readonly seconds: number
  readonly detail: string
}

/** Counts one, or throws 429 with the seconds to wait: where one counter is full, none counts. A limit of 0 is none, and costs nothing. */
export async function demandRate(db: Queryable, { limit, counters, seconds, detail }: Rate): Promise<void> {
  const limited = counters.filter(([, most]) => most > 0)
  const wait = limited.length > 0 ? await countInWindow(db, limited, seconds) : undefined
  if (wait === undefined) return
  throw overLimit(limit, counters[0][1], `${detail} Wait for the seconds in the header Retry-After.`, {
    headers: { 'Retry-After': String(wait) },
  })
}

/** Deletes counters whose window has ended. Locked rows are skipped until the next time. */
export async function sweepWindows(db: Queryable): Promise<void> {
  await db.query(sql`
    DELETE FROM svc.login_failures WHERE bucket IN (
      SELECT bucket FROM svc.login_failures WHERE started_at < now() - make_interval(secs => ${longestWindowSeconds})
      FOR UPDATE SKIP LOCKED)`)
}
