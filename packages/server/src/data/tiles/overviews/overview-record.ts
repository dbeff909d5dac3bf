// The record of an overview in svc.overviews: its state, what it was built from, and the tiles that it has.
import type { Queryable } from '../../../kernel/db/db.ts'
import { type Sql, sql } from '../../../kernel/db/sql.ts'
import type { OverviewTables } from './build-overview.ts'

/** Notes a new state of the build. What an earlier build left in use stays as it is. */
export async function noteState(
  db: Queryable,
  id: string,
  {
    state,
    version,
    error = null,
  }: { state: 'pending' | 'building' | 'failed'; version: string; error?: string | null },
): Promise<void> {
  await db.query(sql`
    INSERT INTO svc.overviews (dataset_id, state, tried_version, error)
    SELECT id, ${state}, ${version}, ${error} FROM svc.datasets WHERE id = ${id}::uuid FOR KEY SHARE
    ON CONFLICT (dataset_id) DO UPDATE SET state = excluded.state, tried_version = excluded.tried_version,
      progress = 0, tried_at = clock_timestamp(), error = excluded.error`)
}

export async function noteProgress(db: Queryable, id: string, fraction: number): Promise<void> {
  await db.query(sql`
    UPDATE svc.overviews SET progress = ${fraction}::float8 WHERE dataset_id = ${id}::uuid AND state = 'building'`)
}

export type BuiltFrom = { readonly version: string; readonly shape: string }

/** The statement that records a finished build. */
export const builtRecord = (
  datasetId: string,
  { zooms, rowCounts, tiles, thinning }: OverviewTables,
  { version, shape }: BuiltFrom,
): Sql => sql`
  UPDATE svc.overviews SET state = 'built', progress = 1, version = ${version}, shape = ${shape},
    zooms = ${zooms}::int4[], row_counts = ${rowCounts}::int8[], tiles = ${tiles}::int8[], thinning = ${thinning ? JSON.stringify(thinning) : null}::jsonb,
    built_at = clock_timestamp(), error = NULL
  WHERE dataset_id = ${datasetId}::uuid`
