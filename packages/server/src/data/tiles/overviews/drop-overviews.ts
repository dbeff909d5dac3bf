// Drops overviews.
import type { Queryable } from '../../../kernel/db/db.ts'
import { ident, sql } from '../../../kernel/db/sql.ts'
import { overviewTable } from './overview.ts'

/** Drops the overviews of a dataset whose data are replaced. */
export async function dropOverviews(tx: Queryable, schema: string, datasetId: string): Promise<void> {
  const tables = await tx.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND c.relkind = 'r' AND starts_with(c.relname, ${overviewTable(datasetId, '')})`)
  for (const { name } of tables) await tx.query(sql`DROP TABLE ${ident(schema, name)}`)
  await tx.query(sql`DELETE FROM svc.overviews WHERE dataset_id = ${datasetId}::uuid`)
}
