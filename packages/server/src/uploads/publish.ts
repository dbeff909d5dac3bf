import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db, Queryable } from '../db/db.ts'
import { json, raw, sql } from '../db/sql.ts'
import { holdApplication } from '../resource/hold-application.ts'
import { touched } from '../resource/store.ts'
import { cleanName, freeName } from './column-names.ts'
import { demandSameDestination, demandSameSource } from './replaced-table.ts'
import type { LoadingParts } from './run-upload.ts'
import { dropOverviews, putInPlace, type Staged, type TableName } from './staging.ts'
import type { StorageQuota } from './storage-quota.ts'
import type { Result } from './upload.ts'
import { codeOf, storageExceeded, UploadFault } from './upload-fault.ts'
import { type Claimed, complete, type LayerWarning } from './upload-state.ts'

/** What a map of a source is like. */
export type MapFacts = {
  minZoom: number
  maxZoom: number
  extentLngLat: readonly number[]
  attribution?: string
  name?: string
}

/** A table that is ready, and all that its dataset will say. */
export type Publishable = {
  readonly staged: Staged
  /** Of the dataset, and of its tile source. */
  readonly id: string
  readonly name: string
  readonly attributes: unknown
  readonly bytes: number | null
  readonly map?: MapFacts
  /** The dataset that gets new data. */
  readonly replaces?: { readonly table: TableName }
  /** Puts the overview in place that was made of the table. */
  readonly installOverview?: (tx: Queryable, table: TableName) => Promise<void>
}

const lockTimeout = '2s'
const tries = 10

/** Everything appears at once: tables, datasets, tile sources and the end of the upload. */
export async function publish(
  { db, storage }: Pick<LoadingParts, 'db' | 'storage'>,
  upload: Claimed,
  tables: readonly Publishable[],
  warnings: readonly LayerWarning[],
  signal: AbortSignal,
): Promise<void> {
  const results = tables.map(
    ({ id, map, staged }): Result => ({
      layer: staged.plan.layer.name,
      datasetId: id,
      tileSourceId: map ? id : null,
      featureCount: staged.plan.layer.featureCount,
    }),
  )
  await unlessLocked(signal, () =>
    db.transaction(async (tx) => {
      await tx.script(`SET LOCAL lock_timeout = '${lockTimeout}'`)
      await holdApplication(tx, upload.applicationId)
      await holdOwner(tx, upload)
      await complete(tx, upload, results, warnings)
      for (const table of tables) await publishTable(tx, upload, table)
      if (tables.some(({ staged }) => staged.target.isOwn)) await demandStorage(tx, storage, upload)
    }),
  )
}

/** Before the upload, as whoever deletes a user locks. */
async function holdOwner(tx: Queryable, { ownerId }: Claimed): Promise<void> {
  if (ownerId !== null) await tx.query(sql`SELECT FROM svc.users WHERE id = ${ownerId} FOR KEY SHARE`)
}

/** With the new tables in place and the old ones gone: a small file may have become a large table. */
async function demandStorage(tx: Queryable, storage: StorageQuota, { applicationId, id }: Claimed): Promise<void> {
  if ((await storage.left(tx, applicationId, id)) < 0) throw storageExceeded(storage.bytes)
}

/** Readers that take long hold the old table: they are waited for, but nobody is kept waiting behind us for long. */
async function unlessLocked(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === tries || !isPassing(error)) throw error
      await sleep(200 * attempt, undefined, { signal })
    }
  }
}

/** A lock that was not to be had, a deadlock, or a name that another upload took at the same moment (42P07, or 23505 in the catalog). */
function isPassing(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  const constraint = (error as { constraint?: unknown }).constraint
  return /^(55P03|40P01|42P07)$/.test(code) || (code === '23505' && /^pg_(class|type)_/.test(String(constraint)))
}

async function publishTable(tx: Queryable, upload: Claimed, table: Publishable): Promise<void> {
  const { staged, replaces } = table
  const { target } = staged
  if (replaces) {
    const [found] = await tx.query<{ databaseId: string; source: string }>(sql`
      SELECT database_id AS "databaseId", source FROM svc.datasets
      WHERE id = ${table.id}::uuid AND application_id = ${upload.applicationId}::uuid AND type = 'table'
      FOR NO KEY UPDATE`)
    if (!found) throw new UploadFault('dataset_gone', 'The dataset was deleted while the file was loaded.')
    demandSameSource(found, upload.replaces)
  }
  await demandSameDestination(tx, target)
  const inTarget = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    target.isOwn ? work(tx) : elsewhere(target.db, work)
  const place = await inTarget(async (there) => {
    const name = replaces?.table ?? { schema: target.schema, name: await newName(there, target.schema, table.name) }
    await putInPlace(there, staged, name, replaces !== undefined)
    return name
  })
  // The new ones take their places, where there are any. Until then the old values could be read there.
  if (replaces && target.isOwn && !table.installOverview) await dropOverviews(tx, target.schema, table.id)
  if (replaces) await updateDataset(tx, table)
  else await insertDataset(tx, upload, table, place)
  if (table.map) await putTileSource(tx, upload, table.id, 'dataset', table.id, { ...table.map, name: table.name })
  await table.installOverview?.(tx, place)
}

/** The tenant's own server: what it has committed stays, even if we fail then. */
const elsewhere = <T>(db: Db, work: (tx: Queryable) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.script(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    return work(tx)
  })

/** Readable in SQL, and free. */
async function newName(tx: Queryable, schema: string, name: string): Promise<string> {
  const cleaned = cleanName(name).toLowerCase().replace(/^svc_/, '') || 'upload'
  const stem = freeName(/^\d/.test(cleaned) ? `t_${cleaned}` : cleaned, () => false, 40)
  const taken = await tx.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND starts_with(c.relname, ${stem.slice(0, 20)})`)
  const names = new Set(taken.map((row) => row.name))
  return freeName(stem, (candidate) => names.has(candidate), 50)
}

async function updateDataset(tx: Queryable, { id, attributes, bytes }: Publishable): Promise<void> {
  await tx.query(sql`
    UPDATE svc.datasets SET attributes = ${json(attributes)}, bytes = ${bytes}, ${touched} WHERE id = ${id}::uuid`)
}

async function insertDataset(
  tx: Queryable,
  { applicationId, ownerId, options }: Claimed,
  { id, name, attributes, bytes, staged }: Publishable,
  place: TableName,
): Promise<void> {
  const metadata = options.attribution ? { attribution: options.attribution } : {}
  const { databaseId, destination } = staged.target
  const uploaded = { databaseId, destination, ...place }
  await tx.query(sql`
    INSERT INTO svc.datasets (id, application_id, owner_id, database_id, type, source, name, description, attributes, bytes, metadata,
      uploaded_table)
    VALUES (${id}::uuid, ${applicationId}::uuid,
      (SELECT id FROM svc.users WHERE id = ${ownerId} AND application_id = ${applicationId}::uuid), ${databaseId}::uuid, 'table', ${place.name},
      ${name}, ${options.description ?? ''}, ${json(attributes)}, ${bytes}, ${json(metadata)},
      ${json(uploaded)})`)
}

/** One that is there keeps what somebody chose for it. */
async function putTileSource(
  tx: Queryable,
  { applicationId }: Claimed,
  id: string,
  type: 'dataset' | 'tilelive',
  source: string,
  map: MapFacts,
): Promise<void> {
  const { minZoom, maxZoom, extentLngLat, attribution, name } = map
  await tx.query(sql`
    INSERT INTO svc.tilesources AS t
      (id, application_id, type, source, name, attribution, min_zoom, max_zoom, extent_lng_lat, is_extent_found, headers)
    VALUES (${id}::uuid, ${applicationId}::uuid, ${type}, ${source}, ${name ?? ''}, ${attribution ?? ''}, ${minZoom}, ${maxZoom},
      ${json(extentLngLat)}, true, '{}'::jsonb)
    ON CONFLICT (id) DO UPDATE SET ${touchedTileSource},
      attribution = coalesce(${attribution ?? null}, t.attribution),
      extent_lng_lat = CASE WHEN t.is_extent_found THEN excluded.extent_lng_lat ELSE t.extent_lng_lat END
    WHERE t.application_id = excluded.application_id`)
}

const touchedTileSource = raw("revision = t.revision + 1, updated_at = date_trunc('milliseconds', clock_timestamp())")

/** A file of tiles that is served as it is. */
export async function publishArchive(
  { db, storage }: Pick<LoadingParts, 'db' | 'storage'>,
  upload: Claimed,
  layer: string,
  source: string,
  map: MapFacts,
): Promise<void> {
  const id = randomUUID()
  await db.transaction(async (tx) => {
    await holdApplication(tx, upload.applicationId)
    await complete(tx, upload, [{ layer, datasetId: null, tileSourceId: id, featureCount: null }], [])
    await putTileSource(tx, upload, id, 'tilelive', source, map)
    await demandStorage(tx, storage, upload)
  })
}
