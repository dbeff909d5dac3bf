// Drops overviews.
import type { Queryable } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { dropParts } from './swap-overview.ts'

/** Drops the overviews of a dataset whose data are replaced. */
export async function dropOverviews(tx: Queryable, schema: string, datasetId: string): Promise<void> {
  await dropParts(tx, { dataset: { id: datasetId }, table: { schema } })
  await tx.query(sql`DELETE FROM svc.overviews WHERE dataset_id = ${datasetId}::uuid`)
}
