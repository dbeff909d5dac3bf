import type { Queryable } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'

/** Small, so that no lock and no transaction is long. */
const batch = 5_000
/** The rest is for the next time. */
const maxBatches = 20

/** Retention: deletes old rows of the change log, and takes the triggers from tables that nobody has followed for as long. */
export async function sweepChanges(db: Queryable, hours: number): Promise<void> {
  for (let done = 0; done < maxBatches; done++) {
    const [row] = await db.query(
      sql`SELECT svc.sweep_changes(make_interval(hours => ${hours}::integer), ${batch}::integer) AS count`,
    )
    if (Number(row?.count) < batch) return
  }
}
