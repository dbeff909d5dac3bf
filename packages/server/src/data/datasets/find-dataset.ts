// Loads dataset records for other parts of the service.

import type { StoredEntity } from '../../api/resource/rows.ts'
import type { Db, Row } from '../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { ServerFields } from '../databases/driver.ts'
import { serverKeyOf } from '../databases/drivers.ts'
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
  const rows = await db.query<
    Row & Omit<Dataset, 'databaseType' | 'serverKey'> & { database: ServerFields | null }
  >(sql`
    SELECT id, application_id AS "applicationId", database_id AS "databaseId", name, type, source, attributes, metadata,
           rules, rules_for AS "rulesFor", secrets, revision, (SELECT ${serverOf} FROM svc.databases d WHERE d.id = database_id) AS database
    FROM svc.datasets WHERE ${condition}`)
  return rows.map(({ database, ...row }) => ({ ...row, ...within(database), revision: String(row.revision) }))
}

/** SQL: the `ServerFields` of a row of `svc.databases`, called `d`. */
export const serverOf = raw(`jsonb_build_object('type', d.type, 'host', d.host, 'port', d.port, 'db', d.db)`)

const within = (database: ServerFields | null | undefined) => ({
  databaseType: database?.type ?? '',
  serverKey: database ? serverKeyOf(database) : '',
})

export type FindDatabase = (applicationId: string, id: string) => Promise<ServerFields | undefined>

/** The dataset of a record that was read for a caller. Secrets are write-only, so they are read separately. */
export async function datasetOf(
  db: Db,
  findDatabase: FindDatabase,
  { entity, revision }: StoredEntity,
): Promise<Dataset> {
  const record = entity as Omit<Dataset, 'secrets' | 'revision' | 'databaseType' | 'serverKey'>
  const hasSecrets = datasetTypeOf(record).secretsOrigin !== undefined
  const [database, secrets] = await Promise.all([
    findDatabase(record.applicationId, record.databaseId),
    hasSecrets ? sealedSecrets(db, record.id) : null,
  ])
  return { ...record, ...within(database), revision, secrets }
}

/** The encrypted secret headers of a dataset. */
export async function sealedSecrets(db: Db, id: string): Promise<string | null> {
  const [row] = await db.query<{ secrets: string | null }>(sql`SELECT secrets FROM svc.datasets WHERE id = ${id}::uuid`)
  return row?.secrets ?? null
}
