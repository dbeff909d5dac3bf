// Keeps overviews of tables on other servers, for datasets that ask for them (`metadata.tiles.overviews`).
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import { exactPartOf, type MachineShare } from '../../../kernel/concurrency/machine-share.ts'
import { cancelStatements } from '../../../kernel/db/cancel-statements.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import type { Jobs } from '../../../kernel/jobs/jobs.ts'
import type { Connections } from '../../databases/connection.ts'
import { tenantSchema } from '../../databases/tenant-schema.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { datasetTypeOf } from '../../datasets/dataset-types.ts'
import { wantsOverviews } from '../../datasets/overview-setting.ts'
import { stageForeign } from './build-foreign.ts'
import type { Builder } from './build-overview.ts'
import { foreignTableOf, type SeenTable } from './foreign-table.ts'
import { beingBuilt, type Overview, overviewOf, overviewTable } from './overview.ts'
import { builtRecord, noteProgress, noteState } from './overview-record.ts'
import type { OverviewJob } from './overviews.ts'
import { dropUnfinished, swapOverview } from './swap-overview.ts'

export type ForeignOverviewsOptions = {
  readonly db: Db
  readonly jobs: Pick<Jobs, 'work' | 'send' | 'cancel' | 'whenFree'>
  readonly share: MachineShare
  readonly connections: Pick<Connections, 'find' | 'open' | 'openOwn'>
  /** Smaller tables have no overview. */
  readonly minRows: number
  /** A table that changes is not read again before so much time has passed. */
  readonly rebuildMs: number
  findDataset(applicationId: string, id: string): Promise<Dataset | undefined>
  /** How many bytes the application may still store. */
  storageLeft(applicationId: string): Promise<number>
  onError(error: unknown): void
}

export type ForeignOverviews = {
  /** The overview, if its server has just confirmed that the table can be read. A missing or outdated one is queued. */
  find(dataset: Dataset): Promise<Overview | undefined>
  /** Ends the work on a dataset's overview. */
  cancel(datasetId: string): Promise<void>
}

/** As in the migration that makes the triggers. Not the queue of own tables, which slow servers must not hold up. */
const queue = 'foreign-overviews'
const buildsAtOnce = 2
/** A fingerprint is trusted for as long as other answers of that server are; see data/datasets/data-versions.ts. */
const trustMs = 15_000
const lookMs = 2_000
/** A table is read again when so many times the duration of the last build have passed: reading takes at most a tenth of the time. */
const patience = 10

export function createForeignOverviews(options: ForeignOverviewsOptions): ForeignOverviews {
  const { db, jobs, share, connections, minRows, rebuildMs, findDataset, onError } = options
  const seen = createLoadingCache<SeenTable | undefined>({ ttlMs: Math.min(trustMs, rebuildMs) })

  /** Undefined if there can be no overview of it. */
  async function lookAt(dataset: Dataset): Promise<SeenTable | undefined> {
    const record = await connections.find(dataset.applicationId, dataset.databaseId)
    if (!record || !datasetTypeOf(dataset).tableOf) return undefined
    const { host, port, user, db: name } = record
    const table = foreignTableOf(dataset, JSON.stringify([host, port, user, name]))
    const { isForeign, postgres: connection, fingerprint: look } = await connections.open(record)
    if (!table || !isForeign || !connection || !look) return undefined
    const options = { timeoutMs: lookMs, signal: AbortSignal.timeout(lookMs) }
    const fingerprint = await look(dataset.source, options)
    return fingerprint && { table, source: dataset.source, connection, fingerprint }
  }

  async function build({ applicationId, datasetId: id }: OverviewJob, builder: Omit<Builder, 'onProgress'>) {
    const dataset = await findDataset(applicationId, id)
    const found = dataset && wantsOverviews(dataset) ? await lookAt(dataset) : undefined
    if (!dataset || !found) return
    const place = { dataset, table: { schema: tenantSchema(applicationId) } }
    const version = versionOf(found)
    await noteState(db, id, { state: 'building', version })
    try {
      await db.transaction((tx) => dropUnfinished(tx, place))
      const onProgress = (fraction: number): Promise<void> => noteProgress(db, id, fraction)
      const storageLeft = Math.max(0, await options.storageLeft(applicationId))
      const { buildable, staged, oid } = await stageForeign(db, found, { ...builder, onProgress, minRows, storageLeft })
      const record = builtRecord(id, staged, { version, shape: found.table.shape })
      await swapOverview(db, buildable, { record, oid, isHeld: builder.isHeld })
    } catch (error) {
      // Cancelled: the next job of this dataset drops the parts, or nobody else does.
      if (builder.signal.aborted || !(await builder.isHeld(db))) {
        await jobs.whenFree(queue, id, (tx) => leave(tx, place))
        throw error
      }
      await db.transaction((tx) => dropUnfinished(tx, place)).catch(onError)
      const reason = error instanceof Error ? error.message : String(error)
      await noteState(db, id, { state: 'failed', version, error: reason })
      // Not thrown: the queue would try again at once, and read the whole table each time.
      onError(error)
    }
  }

  const concurrency = exactPartOf(buildsAtOnce, share)
  jobs.work<OverviewJob>(queue, { concurrency }, ({ data, isHeld }, signal) => build(data, { signal, isHeld }))

  return {
    async find(dataset) {
      if (!wantsOverviews(dataset)) return undefined
      const { applicationId, databaseId, id } = dataset
      const database = await connections.find(applicationId, databaseId)
      const key = `${id} ${dataset.revision} ${database?.revision}`
      // Without an answer of its server the tile is made from the table, and fails as all others do.
      const table = await seen.get(key, () => lookAt(dataset).catch(() => undefined))
      if (!table) return undefined
      const record = await recordOf(db, id)
      const fits = record !== undefined && isOf(record, table)
      if (isDue(record, table, { fits, minRows, rebuildMs })) {
        const order = jobs.send(queue, { applicationId, datasetId: id }, { singletonKey: id })
        order.catch(onError)
      }
      return fits ? apart(table, dataset, record, connections) : undefined
    },
    async cancel(datasetId) {
      await jobs.cancel(queue, datasetId)
      await cancelStatements(db, overviewTable(datasetId, beingBuilt))
    },
  }
}

type Place = { readonly dataset: Pick<Dataset, 'id'>; readonly table: { readonly schema: string } }

/** Removes what a cancelled build has left, also its state, if it noted one after the cancellation. */
async function leave(tx: Queryable, place: Place): Promise<void> {
  await dropUnfinished(tx, place)
  await tx.query(sql`
    DELETE FROM svc.overviews WHERE dataset_id = ${place.dataset.id}::uuid AND state = 'building' AND version IS NULL`)
}

const versionOf = ({ fingerprint: { table, rows } }: SeenTable): string => `${table} ${rows}`

type Recorded = {
  readonly state: string
  readonly version: string | null
  readonly shape: string | null
  readonly tiles: number[] | null
  readonly builtAt: Date | null
  readonly triedAt: Date
}

async function recordOf(db: Db, id: string): Promise<Recorded | undefined> {
  const [record] = await db.query<Recorded>(sql`
    SELECT state, version, shape, tiles, built_at AS "builtAt", tried_at AS "triedAt" FROM svc.overviews
    WHERE dataset_id = ${id}::uuid`)
  return record
}

/** Built of this table, and every column that it has is still there. */
const isOf = ({ version, shape }: Recorded, { table, fingerprint }: SeenTable): boolean =>
  shape === table.shape &&
  version?.split(' ')[0] === fingerprint.table &&
  table.columns.every(({ name }) => fingerprint.columns.has(name))

type Rule = { readonly fits: boolean; readonly minRows: number; readonly rebuildMs: number }

function isDue(record: Recorded | undefined, found: SeenTable, { fits, minRows, rebuildMs }: Rule): boolean {
  const { rowEstimate } = found.fingerprint
  if (!record) return rowEstimate === null || rowEstimate >= minRows
  const { state, version, builtAt, triedAt } = record
  if (state !== 'built' || !builtAt) return Date.now() - Number(triedAt) >= rebuildMs
  if (!fits) return true
  const tookMs = Number(builtAt) - Number(triedAt)
  return version !== versionOf(found) && Date.now() - Number(builtAt) >= Math.max(rebuildMs, patience * tookMs)
}

/** An overview that is read in the platform's database, with the rights of the application. */
async function apart(
  { table }: SeenTable,
  { id, applicationId }: Dataset,
  record: Recorded,
  connections: Pick<Connections, 'openOwn'>,
): Promise<Overview | undefined> {
  const overview = overviewOf(id, table.geometry, tenantSchema(applicationId), record)
  const { postgres: connection } = await connections.openOwn(applicationId)
  if (!overview || !connection) return undefined
  const relation = { from: overview.from(0), key: [], isTable: false }
  const columns = new Set(table.columns.map(({ name }) => name))
  return { ...overview, apart: { inSql: { connection, relation, isOurs: true }, columns } }
}
