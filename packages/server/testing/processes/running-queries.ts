import { readdirSync, readlinkSync, statSync } from 'node:fs'
import type { Db } from '../../src/kernel/db/db.ts'
import { sql } from '../../src/kernel/db/sql.ts'

/** How many queries of tenants the server is working on or holding open; only an administrator of PostgreSQL sees them. */
export async function runningQueries(db: Db): Promise<number> {
  if (db.kind === 'embedded') return spools()
  const [row] = await db.query<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND usename LIKE 'app!_%' ESCAPE '!' AND state <> 'idle'`,
  )
  return Number(row?.n)
}

/** Answers of the embedded database that wait on disk: files that are open, have no name any more and hold something. */
function spools(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    const link = `/proc/self/fd/${fd}`
    const path = attempt(() => readlinkSync(link)) ?? ''
    return /pgsql_tmp\/graticule_.*\(deleted\)$/.test(path) && (attempt(() => statSync(link).size) ?? 0) > 0
  }).length
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
