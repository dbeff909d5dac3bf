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
           secrets, revision
    FROM svc.datasets WHERE ${condition}`)
  return rows.map((row) => ({ ...row, revision: String(row.revision) }))
}

/** The dataset of a record that was read for a caller. Secrets are write-only, so they are read separately. */
export async function datasetOf(db: Db, { entity, revision }: Stored): Promise<Dataset> {
  const record = entity as Omit<Dataset, 'secrets' | 'revision'>
  const hasSecrets = datasetTypeOf(record).secretsOrigin !== undefined
  return { ...record, revision, secrets: hasSecrets ? await sealedSecrets(db, record.id) : null }
}

/** The encrypted secret headers of a dataset. */
export async function sealedSecrets(db: Db, id: string): Promise<string | null> {
  const [row] = await db.query<{ secrets: string | null }>(sql`SELECT secrets FROM svc.datasets WHERE id = ${id}::uuid`)
  return row?.secrets ?? null
}
