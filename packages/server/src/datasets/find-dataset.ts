import type { Db, Row } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { Dataset } from './sources.ts'

export type FoundDataset = Dataset & { readonly id: string; readonly name: string; readonly revision: string }

/** A dataset of an application, for parts of the service that use it on the application's behalf. */
export async function findDataset(db: Db, applicationId: string, id: string): Promise<FoundDataset | undefined> {
  const [row] = await db.query<Row & FoundDataset>(sql`
    SELECT id, application_id AS "applicationId", database_id AS "databaseId", name, type, source, attributes, metadata,
           secrets, revision
    FROM svc.datasets WHERE application_id = ${applicationId}::uuid AND id = ${id}::uuid`)
  return row && { ...row, revision: String(row.revision) }
}
