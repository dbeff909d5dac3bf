// Rate limits that all replicas share: counters of fixed windows, as rows of the database.
import { overLimit, type RefusingLimit } from '../limits/limits.ts'
import type { Queryable } from './db.ts'
import { sql } from './sql.ts'

export const hourSeconds = 3_600
/** Rows of a window that began longer ago count for nobody. */
const longestWindowSeconds = hourSeconds
const largestInteger = 2_147_483_647

/**
 * Counts one in each of these counters, which have a limit each. If one of them is full, counts in none, and answers the
 * seconds until its window ends.
 */
export async function countInWindow(
  db: Queryable,
  counters: readonly (readonly [name: string, most: number])[],
  seconds: number,
): Promise<number | undefined> {
  const names = counters.map(([name]) => name)
  const limits = counters.map(([, most]) => Math.min(most, largestInteger))
  const [row] = await db.query<{ wait: number | null }>(sql`
    SELECT svc.count_failure(${names}::text[], ${limits}::integer[], ${seconds}::int4) AS wait`)
  return row?.wait === null || row === undefined ? undefined : Math.max(1, row.wait)
}

type Refusal = { readonly limit: RefusingLimit; readonly seconds: number; readonly detail: string }
type Rate = Refusal & { readonly counter: string; readonly most: number }
type Rates = Refusal & {
  readonly counters: readonly (readonly [name: string, most: number])[]
  /** The limit that the refusal names. */
  readonly shown: number
}

/** Counts one, or throws 429 with the seconds to wait. A limit of 0 is none, and costs nothing. */
export async function demandRate(db: Queryable, { counter, most, ...rest }: Rate): Promise<void> {
  if (most > 0) await demandRates(db, { ...rest, counters: [[counter, most]], shown: most })
}

/** The same for several counters: where one is full, none counts. */
export async function demandRates(db: Queryable, { limit, counters, shown, seconds, detail }: Rates): Promise<void> {
  const wait = await countInWindow(db, counters, seconds)
  if (wait === undefined) return
  throw overLimit(limit, shown, `${detail} Wait for the seconds in the header Retry-After.`, {
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
