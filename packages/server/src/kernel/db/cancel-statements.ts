import type { Db } from './db.ts'
import { sql } from './sql.ts'

/** Cancels running statements of this role whose text contains `part`. The embedded database has no way to do this. */
export async function cancelStatements(db: Db, part: string): Promise<void> {
  if (db.kind !== 'postgres') return
  await db.query(sql`
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND state = 'active' AND usename = current_user AND datname = current_database()
      AND strpos(query, ${part}) > 0`)
}
