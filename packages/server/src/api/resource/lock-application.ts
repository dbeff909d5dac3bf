import type { Queryable } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'

/**
 * Locks an application against deletion until the end of the transaction. To be called first: a deletion locks the
 * application before everything it owns, and the opposite order would be a deadlock.
 */
export async function lockApplication(tx: Queryable, applicationId: string): Promise<void> {
  await tx.query(sql`SELECT FROM svc.applications WHERE id = ${applicationId}::uuid FOR KEY SHARE`)
}
