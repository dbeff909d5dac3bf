import { createLoadingCache } from '../../kernel/concurrency/loading-cache.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import type { ApplicationLimits } from '../../kernel/limits/limits.ts'

/** The limits of applications that differ from those of the installation, fresh to a second; at once where they are cached. */
export function createApplicationLimits(db: Db) {
  const cache = createLoadingCache<ApplicationLimits>()
  return (applicationId: string): ApplicationLimits | Promise<ApplicationLimits> =>
    cache.fresh(applicationId) ?? cache.get(applicationId, () => load(db, applicationId))
}

async function load(db: Db, applicationId: string): Promise<ApplicationLimits> {
  const [row] = await db.query<{ limits: ApplicationLimits }>(
    sql`SELECT limits FROM svc.applications WHERE id = ${applicationId}::uuid`,
  )
  return row?.limits ?? {}
}
