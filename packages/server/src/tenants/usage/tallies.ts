/**
 * Usage counters of applications: additions in memory, written behind as additive upserts, so that no request waits for a
 * write and replicas add up. A process that is killed loses what it counted since the last write, ten seconds at most.
 */
import { unwatched, type Watch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { ident, joinSql, json, raw, sql } from '../../kernel/db/sql.ts'
import { type Counter, type Counts, counterNames, counters, noCounts } from './counters.ts'

export type Tallies = {
  add(applicationId: string, counter: Counter, by?: number): void
  /** An answered request. */
  addAnswer(applicationId: string, operation: string, status: number, bytes: number): void
  /** Writes what was counted. What could not be written is kept for the next time. */
  flush(): Promise<void>
  /** What this process has written since its start, by application; it never decreases. */
  readonly totals: ReadonlyMap<string, Counts>
  /** Writes the rest. */
  close(): Promise<void>
}

export type TalliesOptions = {
  readonly db: Db
  /** How many days are kept. */
  readonly days: number
  /** Whether `totals` are wanted. */
  readonly keepsTotals: boolean
  onError(error: unknown): void
  /** Watches the writing. */
  readonly watch?: Watch
}

const flushMs = 10_000
const sweepMs = 3_600_000

/** Operations whose successes have a counter of their own. */
const countedOperations: Readonly<Record<string, Counter>> = { 'uploads.create': 'uploads' }

export function createTallies({ db, days, keepsTotals, onError, watch = unwatched }: TalliesOptions): Tallies {
  const totals = new Map<string, Counts>()
  let pending = new Map<string, Counts>()
  let writing = Promise.resolve()
  const flushTimer = setInterval(() => void watch(flush).catch(onError), flushMs).unref()
  const sweepTimer = setInterval(() => void sweep(db, days).catch(onError), sweepMs).unref()

  function flush(): Promise<void> {
    writing = writing.catch(() => undefined).then(writePending)
    return writing
  }

  async function writePending(): Promise<void> {
    if (pending.size === 0) return
    const batch = pending
    pending = new Map()
    try {
      await write(db, batch)
    } catch (error) {
      for (const [id, counts] of batch) addAll(countsOf(pending, id), counts)
      throw error
    }
    if (keepsTotals) for (const [id, counts] of batch) addAll(countsOf(totals, id), counts)
  }

  return {
    totals,
    flush,
    add(applicationId, counter, by = 1) {
      countsOf(pending, applicationId)[counter] += by
    },
    addAnswer(applicationId, operation, status, bytes) {
      const counts = countsOf(pending, applicationId)
      counts.requests++
      counts.bytesOut += bytes
      if (status === 413 || status === 429) counts.refused++
      const own = countedOperations[operation]
      if (own && status < 400) counts[own]++
    },
    async close() {
      clearInterval(flushTimer)
      clearInterval(sweepTimer)
      await flush().catch(onError)
    },
  }
}

function countsOf(of: Map<string, Counts>, applicationId: string): Counts {
  const tally = of.get(applicationId)
  if (tally) return tally
  const counts = noCounts()
  of.set(applicationId, counts)
  return counts
}

function addAll(to: Counts, more: Counts): void {
  for (const name of counterNames) to[name] += more[name]
}

const columns = counterNames.map((name) => ident(counters[name].column))
const columnList = joinSql(columns, ', ')
const recordColumns = joinSql(
  columns.map((column) => sql`${column} float8`),
  ', ',
)
const additions = joinSql(
  columns.map((column) => sql`${column} = u.${column} + excluded.${column}`),
  ', ',
)

/**
 * Counts of applications that are gone are dropped. Rows are locked in one order, so that replicas that write at the same time
 * do not wait for each other in a circle.
 */
async function write(db: Db, batch: ReadonlyMap<string, Counts>): Promise<void> {
  const rows = [...batch].map(([id, counts]) => ({
    id,
    ...Object.fromEntries(counterNames.map((name) => [counters[name].column, counts[name]])),
  }))
  await db.query(sql`
    WITH known AS (
      SELECT a.id FROM svc.applications a WHERE a.id = ANY(${[...batch.keys()]}::uuid[]) ORDER BY a.id FOR KEY SHARE)
    INSERT INTO svc.usage AS u (application_id, day, ${columnList})
    SELECT t.id, ${today}, ${columnList} FROM jsonb_to_recordset(${json(rows)}) AS t(id uuid, ${recordColumns})
    JOIN known ON known.id = t.id ORDER BY t.id
    ON CONFLICT (application_id, day) DO UPDATE SET ${additions}`)
}

/** The UTC day, by the database's clock, so that all replicas agree. */
export const today = raw(`(clock_timestamp() AT TIME ZONE 'UTC')::date`)

async function sweep(db: Db, days: number): Promise<void> {
  await db.query(sql`DELETE FROM svc.usage WHERE day < ${today} - ${days}::int4`)
}
