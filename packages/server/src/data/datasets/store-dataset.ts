// Stores the datasets of tables that the service loads.

import { touched } from '../../api/resource/store.ts'
import type { Queryable } from '../../kernel/db/db.ts'
import { json, type Sql, sql } from '../../kernel/db/sql.ts'
import type { Dataset } from './dataset-record.ts'
import { renamedRules } from './rules/renamed-rules.ts'
import type { Rule } from './rules/rule.ts'
import { renamedTime } from './time-setting.ts'

/** What loading a table reveals about it. */
export type LoadedTable = {
  readonly attributes: readonly object[]
  readonly bytes: number | null
  readonly rows: number
}

/** A dataset of a table that the service loaded. */
export type LoadedDataset = LoadedTable &
  Pick<Dataset, 'id' | 'applicationId' | 'databaseId' | 'source' | 'name' | 'metadata'> & {
    readonly description: string
    /** Null if the user has been deleted meanwhile. */
    readonly ownerId: number | null
    /** The table that is deleted with the dataset. */
    readonly uploadedTable: object | null
  }

export async function insertDataset(tx: Queryable, dataset: LoadedDataset): Promise<void> {
  const { id, applicationId, ownerId, databaseId, source, name, description, attributes, bytes, rows } = dataset
  const { metadata, uploadedTable } = dataset
  await tx.query(sql`
    INSERT INTO svc.datasets (id, application_id, owner_id, database_id, type, source, name, description, attributes, bytes, row_estimate, metadata,
      uploaded_table)
    VALUES (${id}::uuid, ${applicationId}::uuid,
      (SELECT id FROM svc.users WHERE id = ${ownerId} AND application_id = ${applicationId}::uuid), ${databaseId}::uuid, 'table', ${source},
      ${name}, ${description}, ${json(attributes)}, ${bytes}, ${rows}, ${json(metadata)}, ${uploadedTable && json(uploadedTable)})`)
}

/** Updates the dataset of a table that was reloaded. */
export async function updateDataset(
  tx: Queryable,
  id: string,
  { attributes, bytes, rows }: LoadedTable,
): Promise<void> {
  await tx.query(sql`
    UPDATE svc.datasets SET attributes = ${json(attributes)}, bytes = ${bytes}, row_estimate = ${rows}, ${touched}
    WHERE id = ${id}::uuid`)
}

/** The table is the dataset's own, and is deleted with it. */
export async function claimTable(tx: Queryable, id: string, table: object): Promise<void> {
  await tx.query(sql`UPDATE svc.datasets SET uploaded_table = ${json(table)} WHERE id = ${id}::uuid`)
}

/** What a table that is made with its dataset turned out to have. The record is not told yet, so its revision stays. */
export async function noteAttributes(tx: Queryable, id: string, attributes: readonly object[]): Promise<void> {
  await tx.query(sql`UPDATE svc.datasets SET attributes = ${json(attributes)} WHERE id = ${id}::uuid`)
}

/** Updates the datasets of a table whose columns were changed. */
export async function changeAttributes(tx: Queryable, ids: readonly string[], attributes: Sql): Promise<void> {
  await tx.query(sql`UPDATE svc.datasets SET attributes = ${attributes}, ${touched} WHERE id = ANY (${ids}::uuid[])`)
}

/** What names an attribute in the records follows where it has another name. */
export async function renameAttribute(tx: Queryable, ids: readonly string[], from: string, to: string): Promise<void> {
  await renameTimes(tx, ids, from, to)
  await renameInRules(tx, ids, from, to)
}

async function renameInRules(tx: Queryable, ids: readonly string[], from: string, to: string): Promise<void> {
  const rows = await tx.query<{ id: string; rules: readonly Rule[] }>(sql`
    SELECT id, rules FROM svc.datasets WHERE id = ANY (${ids}::uuid[]) AND jsonb_typeof(rules) = 'array'`)
  for (const { id, rules } of rows)
    await tx.query(sql`UPDATE svc.datasets SET rules = ${json(renamedRules(rules, from, to))} WHERE id = ${id}::uuid`)
}

async function renameTimes(tx: Queryable, ids: readonly string[], from: string, to: string): Promise<void> {
  const rows = await tx.query<{ id: string; time: unknown }>(sql`
    SELECT id, metadata -> 'time' AS time FROM svc.datasets WHERE id = ANY (${ids}::uuid[]) AND metadata -> 'time' IS NOT NULL`)
  for (const { id, time } of rows) {
    const renamed = renamedTime(time, from, to)
    if (renamed === undefined) continue
    await tx.query(sql`
      UPDATE svc.datasets SET metadata = jsonb_set(metadata, '{time}', ${json(renamed)}) WHERE id = ${id}::uuid`)
  }
}
