// Checks before the table of a dataset is replaced.

import type { Queryable } from '../../../kernel/db/db.ts'
import { fitsIdentifier, maxIdentifierBytes } from '../../../kernel/db/identifier.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { type DatabaseLogin, loginKey } from '../../databases/login-key.ts'
import type { TableName } from '../../databases/postgres/introspect.ts'
import { UploadFault } from '../record/upload-fault.ts'
import type { Target } from './target.ts'

/** The dataset whose data an upload replaces. */
export type ReplacedDataset = {
  readonly databaseId: string
  readonly type: string
  readonly name: string
  readonly ownerId: number | null
  readonly source: string
  /**
   * The schema its table must be in: the application's, in the platform's database; undefined in the application's own
   * database.
   */
  readonly ownSchema: string | undefined
  tableIn(schema: string): TableName
}

/** What the upload was allowed to replace when it was sent. */
export type ReplacedSource = { readonly databaseId: string; readonly source: string }

const changed = (): UploadFault =>
  new UploadFault(
    'dataset_changed',
    'The dataset was given another source or database after the file was sent, so nothing was replaced. Send the file again.',
  )

/**
 * Refuses if the dataset now names something other than what was checked when the file was sent (time of check, time of
 * use).
 */
export function demandSameSource(now: ReplacedSource, sent: ReplacedSource | null): void {
  if (now.databaseId !== sent?.databaseId || now.source !== sent.source) throw changed()
}

/**
 * Refuses a table that must not be dropped. Tables are dropped with the platform's privileges, so only plain tables in
 * the application's own schema are allowed. In the application's own database its user's privileges decide.
 */
export async function demandReplaceable(
  db: Queryable,
  ownSchema: string | undefined,
  { schema, name }: TableName,
): Promise<void> {
  if (ownSchema !== undefined && schema !== ownSchema) {
    throw new UploadFault(
      'not_replaceable',
      'Only a table in the schema of the application can be replaced, and the table of this dataset lies in another schema.',
    )
  }
  if (ownSchema !== undefined && !fitsIdentifier(name)) {
    throw new UploadFault(
      'not_replaceable',
      `The name of the table has more than ${maxIdentifierBytes} bytes, so that it is cut. Give the dataset the name of the table as it is.`,
    )
  }
  if (name.startsWith('svc_')) {
    throw new UploadFault(
      'not_replaceable',
      'Tables whose names begin with svc_ belong to the service and cannot be replaced.',
    )
  }
  const [row] = await db.query<{ isPlain: boolean }>(sql`
    SELECT c.relkind = 'r' AND NOT c.relispartition AND NOT c.relrowsecurity
      AND NOT EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)) AS "isPlain"
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND c.relname = ${name}`)
  if (row && !row.isPlain) {
    throw new UploadFault(
      'dataset_in_use',
      'Only a plain table can be replaced, not a view, a partition, an inherited table or one with row security.',
    )
  }
}

/** Locks the database record until the end of the transaction; throws if it now points elsewhere. */
export async function demandSameLogin(tx: Queryable, { databaseId, loginKey: opened }: Target): Promise<void> {
  const [record] = await tx.query<DatabaseLogin>(sql`
    SELECT type, host, port, "user", db FROM svc.databases WHERE id = ${databaseId}::uuid FOR SHARE`)
  if (record && loginKey(record) === opened) return
  // Not the file's fault: the next attempt loads it to the new place.
  throw new Error('The database record was changed while the file was loaded into it')
}
