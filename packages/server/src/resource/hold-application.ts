import type { Queryable } from '../db/db.ts'
import { sql } from '../db/sql.ts'

/**
 * Keeps an application from being deleted until the end of the transaction. To be called first: a deletion locks the
 * application before everything it owns, and two that lock in another order each wait for the other.
 */
export async function holdApplication(tx: Queryable, applicationId: string): Promise<void> {
  await tx.query(sql`SELECT FROM svc.applications WHERE id = ${applicationId}::uuid FOR KEY SHARE`)
}
