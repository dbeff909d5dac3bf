// Estimated row counts and extents for lists of datasets.
import { setTimeout } from 'node:timers/promises'
import type { Caller } from '../../../api/access/acl.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import type { TableEstimate } from '../../../query/execution/introspection.ts'
import { findDatasets } from '../../datasets/find-dataset.ts'
import { isBound } from '../../datasets/rules/narrowing.ts'
import type { Sources } from '../../datasets/sources.ts'

const atOnce = 4
/** One time limit for all estimates, so that a list does not wait for a database that is down. */
const patienceMs = 2_000

/** Estimates by dataset id, from statistics and from tile sources; none where rules bind the caller, since they are of all rows. */
export function createEstimates(db: Db, sources: Sources) {
  return async (
    listed: readonly { readonly id: string }[],
    signal: AbortSignal,
    caller: Caller,
  ): Promise<ReadonlyMap<string, TableEstimate>> => {
    const found = await findDatasets(
      db,
      listed.map(({ id }) => id),
    )
    const datasets = found.filter((dataset) => !isBound(caller, dataset))
    const extents = await tileExtents(
      db,
      datasets.map(({ id }) => id),
    )
    const estimates = new Map<string, TableEstimate>([...extents].map(([id, extent]) => [id, { rows: null, extent }]))
    const waiting = new AbortController()
    const end = AbortSignal.any([signal, waiting.signal])
    const waitingDatasets = datasets.values()
    const take = async (): Promise<void> => {
      for (const dataset of waitingDatasets) {
        // A failed estimate counts as unknown.
        const estimate = await sources.estimate(dataset, { timeoutMs: patienceMs, signal: end }).catch(() => undefined)
        if (end.aborted) return
        if (estimate)
          estimates.set(dataset.id, { ...estimate, extent: estimate.extent ?? extents.get(dataset.id) ?? null })
      }
    }
    const tooLong = setTimeout(patienceMs, undefined, { signal: waiting.signal }).catch(() => {})
    await Promise.race([Promise.all(Array.from({ length: atOnce }, take)), tooLong])
    waiting.abort()
    return estimates
  }
}

/** Measured extents. The whole world is left out, because it stands for unknown. */
async function tileExtents(db: Db, ids: readonly string[]): Promise<Map<string, readonly number[]>> {
  const rows = await db.query<{ id: string; extent: readonly number[] }>(sql`
    SELECT DISTINCT ON (d.id) d.id, t.extent_lng_lat AS extent
    FROM svc.datasets d JOIN svc.tilesources t ON t.application_id = d.application_id AND lower(t.source) = d.id::text
    WHERE d.id = ANY (${ids}::uuid[]) AND t.type = 'dataset' AND t.is_extent_found
    ORDER BY d.id, t.updated_at DESC`)
  const isWorld = ([west = 0, south = 0, east = 0, north = 0]: readonly number[]) =>
    west <= -180 && east >= 180 && south <= -85 && north >= 85
  return new Map(rows.filter(({ extent }) => !isWorld(extent)).map(({ id, extent }) => [id, extent]))
}
