// Loads dataset records for other parts of the service.
import type { Db, Row } from '../db/db.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Stored } from '../resource/rows.ts'
import type { Dataset } from './dataset-record.ts'
import { datasetTypeOf } from './dataset-types.ts'

/** A dataset of an application, for internal work on the application's behalf. */
export async function findDataset(db: Db, applicationId: string, id: string): Promise<Dataset | undefined> {
  const [dataset] = await datasetsWhere(db, sql`application_id = ${applicationId}::uuid AND id = ${id}::uuid`)
  return dataset
}

/** Datasets that the caller is known to have access to. */
export const findDatasets = (db: Db, ids: readonly string[]): Promise<Dataset[]> =>
  datasetsWhere(db, sql`id = ANY (${ids}::uuid[])`)

async function datasetsWhere(db: Db, condition: Sql): Promise<Dataset[]> {
  const rows = await db.query<Row & Dataset>(sql`
    SELECT id, application_id AS "applicationId", database_id AS "databaseId", name, type, source, attributes, metadata,
           secrets, revision, (SELECT type FROM svc.databases d WHERE d.id = database_id) AS "databaseType"
    FROM svc.datasets WHERE ${condition}`)
  return rows.map((row) => ({ ...row, revision: String(row.revision) }))
}

export type FindDatabase = (applicationId: string, id: string) => Promise<{ readonly type: string } | undefined>

/** The dataset of a record that was read for a caller. Secrets are write-only, so they are read separately. */
export async function datasetOf(db: Db, findDatabase: FindDatabase, { entity, revision }: Stored): Promise<Dataset> {
  const record = entity as Omit<Dataset, 'secrets' | 'revision' | 'databaseType'>
  const hasSecrets = datasetTypeOf(record).secretsOrigin !== undefined
  const [database, secrets] = await Promise.all([
    findDatabase(record.applicationId, record.databaseId),
    hasSecrets ? sealedSecrets(db, record.id) : null,
  ])
  return { ...record, revision, databaseType: database?.type ?? '', secrets }
}

/** The encrypted secret headers of a dataset. */
export async function sealedSecrets(db: Db, id: string): Promise<string | null> {
  const [row] = await db.query<{ secrets: string | null }>(sql`SELECT secrets FROM svc.datasets WHERE id = ${id}::uuid`)
  return row?.secrets ?? null
}
