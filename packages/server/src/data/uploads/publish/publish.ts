// Publishes loaded tables as datasets in one transaction.
import { randomUUID } from 'node:crypto'
import { lockApplication } from '../../../api/resource/lock-application.ts'
import { linear, retry } from '../../../kernel/concurrency/retry.ts'
import { codeOf, isPassing } from '../../../kernel/db/database-error.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { cutIdentifier } from '../../../kernel/db/identifier.ts'
import { sql } from '../../../kernel/db/sql.ts'
import type { TableName } from '../../databases/postgres/introspect.ts'
import type { Inspection } from '../../datasets/dataset-type.ts'
import { insertDataset, type LoadedDataset, type LoadedTable, updateDataset } from '../../datasets/store-dataset.ts'
import { dropOverviews } from '../../tiles/overviews/drop-overviews.ts'
import { putTileSource } from '../../tiles/source/store-tile-source.ts'
import type { TileSourceCoverage } from '../../tiles/source/tile-source-type.ts'
import type { MeasuredQuota } from '../http/storage-quota.ts'
import { cleanName, freeName } from '../load/column-names.ts'
import { demandSameLogin, demandSameSource } from '../load/replaced-table.ts'
import type { StagedTable } from '../load/staged-table.ts'
import { putInPlace } from '../load/staging.ts'
import type { LayerResult } from '../record/upload.ts'
import { storageExceeded, UploadFault } from '../record/upload-fault.ts'
import { type ClaimedUpload, complete, type LayerWarning } from '../record/upload-state.ts'
import type { LoadingParts } from '../run/loading-parts.ts'
import { tellReplaced } from './tell-replaced.ts'

/** A loaded table with everything that its dataset says. */
export type Publishable = {
  readonly staged: StagedTable
  /** The id of the dataset, and of its tile source. */
  readonly id: string
  readonly name: string
  readonly attributes: Inspection['attributes']
  readonly bytes: number | null
  readonly map?: TileSourceCoverage
  /** Set if the data of an existing dataset are replaced. */
  readonly replaces?: { readonly table: TableName }
}

const lockTimeout = '2s'

type Parts = Pick<LoadingParts, 'db' | 'storage' | 'overviews'>

/** Tables, datasets, tile sources and the end of the upload become visible atomically. Their overviews follow. */
export async function publish(
  { db, storage, overviews }: Parts,
  upload: ClaimedUpload,
  tables: readonly Publishable[],
  warnings: readonly LayerWarning[],
  signal: AbortSignal,
): Promise<void> {
  const results = tables.map(
    ({ id, map, staged }): LayerResult => ({
      layer: staged.plan.layer.name,
      datasetId: id,
      tileSourceId: map ? id : null,
      featureCount: staged.plan.layer.featureCount,
    }),
  )
  await unlessLocked(signal, async () => {
    // A job that reads the old table would hold up its removal.
    for (const { id, replaces } of tables) if (replaces) await overviews.cancel(id)
    const quota = await storage.measure(db, upload.applicationId)
    await db.transaction(async (tx) => {
      await tx.script(`SET LOCAL lock_timeout = '${lockTimeout}'`)
      await lockApplication(tx, upload.applicationId)
      await holdOwner(tx, upload)
      await complete(tx, upload, results, warnings)
      for (const table of tables) await publishTable(tx, upload, table, overviews)
      if (tables.some(({ staged }) => staged.target.isPlatform)) await demandStorage(tx, quota, upload)
    })
  })
  overviews.announce()
}

/** Locks the owner before the upload, in the same order as deleting a user does. */
async function holdOwner(tx: Queryable, { ownerId }: ClaimedUpload): Promise<void> {
  if (ownerId !== null) await tx.query(sql`SELECT FROM svc.users WHERE id = ${ownerId} FOR KEY SHARE`)
}

/** Checked with the new tables in place and the old ones gone, because a small file may become a large table. */
async function demandStorage(tx: Queryable, quota: MeasuredQuota, { id }: ClaimedUpload): Promise<void> {
  if ((await quota.left(tx, id)) < 0) throw storageExceeded(quota.bytes)
}

/**
 * Retries on a lock timeout: slow readers of the old table are waited for, but with a short timeout, so that nothing
 * queues behind us for long.
 */
const unlessLocked = (signal: AbortSignal, work: () => Promise<void>): Promise<void> =>
  retry(work, { tries: 10, pauseMs: linear(200), signal, isPassing: isForLater })

/**
 * Transient errors: a lock timeout, a deadlock, somebody who changes the old table, or a name that another upload took at the
 * same moment (42P07, or 23505 in the catalog).
 */
function isForLater(error: unknown): boolean {
  const code = codeOf(error)
  const constraint = (error as { constraint?: unknown }).constraint
  return isPassing(error) || code === '42P07' || (code === '23505' && /^pg_(class|type)_/.test(String(constraint)))
}

async function publishTable(
  tx: Queryable,
  upload: ClaimedUpload,
  table: Publishable,
  overviews: Parts['overviews'],
): Promise<void> {
  const { staged, replaces } = table
  const { target } = staged
  if (replaces) {
    const [dataset] = await tx.query<{ databaseId: string; source: string }>(sql`
      SELECT database_id AS "databaseId", source FROM svc.datasets
      WHERE id = ${table.id}::uuid AND application_id = ${upload.applicationId}::uuid AND type = 'table'
      FOR NO KEY UPDATE`)
    if (!dataset) throw new UploadFault('dataset_gone', 'The dataset was deleted while the file was loaded.')
    demandSameSource(dataset, upload.replaces)
  }
  await demandSameLogin(tx, target)
  const inTarget = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    target.isPlatform ? work(tx) : inExternal(target.db, work)
  const tableName = await inTarget(async (there) => {
    const name = replaces?.table ?? { schema: target.schema, name: await newName(there, target.schema, table.name) }
    await putInPlace(there, staged, name, replaces !== undefined)
    return name
  })
  // They show the old values.
  if (replaces && target.isPlatform) await dropOverviews(tx, target.schema, table.id)
  if (replaces && !target.isPlatform) await tellReplaced(tx, upload.applicationId, target, tableName)
  if (replaces) await updateDataset(tx, table.id, loadedOf(table))
  else await insertDataset(tx, datasetOf(upload, table, tableName))
  const { id, map, name } = table
  const { applicationId } = upload
  if (map) await putTileSource(tx, { id, applicationId, type: 'dataset', source: id }, { ...map, name })
  if (map && target.isPlatform)
    await overviews.queue(tx, { applicationId, datasetId: id }, staged.plan.layer.featureCount)
}

/** On the tenant's own server a commit is separate: it stays even if we fail afterwards. */
const inExternal = <T>(db: Db, work: (tx: Queryable) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.script(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    return work(tx)
  })

/** A free name that is readable in SQL. */
async function newName(tx: Queryable, schema: string, name: string): Promise<string> {
  const cleaned = cleanName(name).toLowerCase().replace(/^svc_/, '') || 'upload'
  const stem = freeName(/^\d/.test(cleaned) ? `t_${cleaned}` : cleaned, () => false, 40)
  const taken = await tx.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND starts_with(c.relname, ${cutIdentifier(stem, 20)})`)
  const names = new Set(taken.map((row) => row.name))
  return freeName(stem, (candidate) => names.has(candidate), 50)
}

function loadedOf({ attributes, bytes, staged }: Publishable): LoadedTable {
  return { attributes, bytes, rows: staged.plan.layer.featureCount }
}

function datasetOf(
  { applicationId, ownerId, options }: ClaimedUpload,
  table: Publishable,
  tableName: TableName,
): LoadedDataset {
  const { databaseId, loginKey } = table.staged.target
  return {
    ...loadedOf(table),
    id: table.id,
    applicationId,
    databaseId,
    source: tableName.name,
    name: table.name,
    description: options.description ?? '',
    ownerId,
    metadata: options.attribution ? { attribution: options.attribution } : {},
    uploadedTable: { databaseId, destination: loginKey, ...tableName },
  }
}

/** Publishes a tile archive that is served as it is. */
export async function publishArchive(
  { db, storage }: Pick<LoadingParts, 'db' | 'storage'>,
  upload: ClaimedUpload,
  layer: string,
  source: string,
  map: TileSourceCoverage,
): Promise<void> {
  const id = randomUUID()
  const quota = await storage.measure(db, upload.applicationId)
  await db.transaction(async (tx) => {
    await lockApplication(tx, upload.applicationId)
    await complete(tx, upload, [{ layer, datasetId: null, tileSourceId: id, featureCount: null }], [])
    await putTileSource(tx, { id, applicationId: upload.applicationId, type: 'tilelive', source }, map)
    await demandStorage(tx, quota, upload)
  })
}
