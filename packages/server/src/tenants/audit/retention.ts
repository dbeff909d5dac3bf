import type { Queryable } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'

/** Small, so that no lock and no transaction is long. */
const batch = 5_000
/** The rest is for the next time: entries come in more slowly than this. */
const maxBatches = 20

/** Retention: deletes the entries of the audit log that are older than so many days. */
export async function sweepAudit(db: Queryable, days: number): Promise<void> {
  for (let done = 0; done < maxBatches; done++) {
    const [row] = await db.query(sql`SELECT svc.sweep_audit(${days}::integer, ${batch}::integer) AS count`)
    if (Number(row?.count) < batch) return
  }
}
