import { setTimeout } from 'node:timers/promises'
import type { Connections } from './databases/connection.ts'
import { tenantSchema } from './databases/tenant-schema.ts'
import { type Estimate, estimateSql, readEstimate } from './datasets/estimate.ts'
import { facts } from './datasets/introspect.ts'
import type { Dataset } from './datasets/sources.ts'
import type { Db } from './db/db.ts'
import { raw, sql } from './db/sql.ts'

const atOnce = 4
/** For all together: whoever lists datasets does not wait for a database that is down. */
const patienceMs = 2_000

/** About how many rows datasets have and where they are, by id: from statistics and from their tile sources. */
export function createEstimates(db: Db, connections: Connections) {
  return async (
    datasets: readonly { readonly id: string }[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Estimate>> => {
    const extents = await tileExtents(db, datasets)
    const found = new Map<string, Estimate>([...extents].map(([id, extent]) => [id, { rows: null, extent }]))
    const waiting = new AbortController()
    const end = AbortSignal.any([signal, waiting.signal])
    const tables = (datasets as readonly (Dataset & { id: string })[]).filter(({ type }) => type === 'table').values()
    const take = async (): Promise<void> => {
      for (const table of tables) {
        // What cannot be estimated is not known.
        const estimate = await estimateTable(db, connections, table, end).catch(() => undefined)
        if (end.aborted) return
        if (estimate) found.set(table.id, { ...estimate, extent: estimate.extent ?? extents.get(table.id) ?? null })
      }
    }
    const tooLong = setTimeout(patienceMs, undefined, { signal: waiting.signal }).catch(() => {})
    await Promise.race([Promise.all(Array.from({ length: atOnce }, take)), tooLong])
    waiting.abort()
    return found
  }
}

/** In our own database tenants may not ask for statistics, which tell of all tables: we ask, for those they may read. */
export async function estimateTable(
  db: Db,
  connections: Connections,
  dataset: Dataset,
  signal: AbortSignal,
): Promise<Estimate | undefined> {
  const record = await connections.find(dataset.applicationId, dataset.databaseId)
  if (!record) return undefined
  if (record.type === 'internal') {
    const tenant = tenantSchema(dataset.applicationId)
    const [row] = await db.transaction(async (tx) => {
      await tx.script(`SET LOCAL lock_timeout = '500ms'`)
      return tx.query(estimateSql(dataset, tenant, sql`${tenant}::name`))
    })
    return readEstimate(row)
  }
  const connection = await connections.open(record)
  const statement = estimateSql(dataset, connection.schema, raw('current_user'))
  const [row] = await facts(connection, { timeoutMs: patienceMs, signal, isOurs: true }, statement)
  return readEstimate(row)
}

/** Extents that were found by looking at the data, but for that of the whole world, which stands for not knowing. */
async function tileExtents(db: Db, datasets: readonly { id: string }[]): Promise<Map<string, readonly number[]>> {
  const rows = await db.query<{ id: string; extent: readonly number[] }>(sql`
    SELECT DISTINCT ON (d.id) d.id, t.extent_lng_lat AS extent
    FROM svc.datasets d JOIN svc.tilesources t ON t.application_id = d.application_id AND lower(t.source) = d.id::text
    WHERE d.id = ANY (${datasets.map(({ id }) => id)}::uuid[]) AND t.type = 'dataset' AND t.is_extent_found
    ORDER BY d.id, t.updated_at DESC`)
  const isWorld = ([west = 0, south = 0, east = 0, north = 0]: readonly number[]) =>
    west <= -180 && east >= 180 && south <= -85 && north >= 85
  return new Map(rows.filter(({ extent }) => !isWorld(extent)).map(({ id, extent }) => [id, extent]))
}
