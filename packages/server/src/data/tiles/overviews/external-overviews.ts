// Keeps overviews of tables on other servers, for datasets that ask for them (`metadata.tiles.overviews`).
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import type { Jobs } from '../../../kernel/jobs/jobs.ts'
import type { Connections } from '../../databases/connection.ts'
import { loginKey } from '../../databases/login-key.ts'
import { tenantSchema } from '../../databases/tenant-schema.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { datasetTypeOf } from '../../datasets/dataset-types.ts'
import { wantsOverviews } from '../../datasets/overview-setting.ts'
import { stageCopy } from './build-external.ts'
import { type DescribedTable, externalTableOf } from './external-table.ts'
import { type Overview, type OverviewThinning, overviewOf, rankColumn } from './overview.ts'
import { type Build, type BuildOptions, createOverviewBuilds } from './overview-builds.ts'
import { dropUnfinished, type OverviewTarget } from './swap-overview.ts'

export type ExternalOverviewsOptions = BuildOptions & {
  readonly jobs: Pick<Jobs, 'whenFree'>
  readonly connections: Pick<Connections, 'find' | 'open' | 'openPlatform'>
  /** A table that changes is not read again before so much time has passed. */
  readonly rebuildMs: number
  /** How many bytes the application may still store. */
  storageLeft(applicationId: string): Promise<number>
}

export type ExternalOverviews = {
  /** The overview, if its server has just confirmed that the table can be read. A missing or outdated one is queued. */
  find(dataset: Dataset): Promise<Overview | undefined>
  /** Ends the work on a dataset's overview. */
  cancel(datasetId: string): Promise<void>
}

/** As in the migration that makes the triggers. Not the queue of own tables, which slow servers must not hold up. */
const queue = 'foreign-overviews'
/** A fingerprint is trusted for as long as other answers of that server are; see data/datasets/data-versions.ts. */
const trustMs = 15_000
const lookMs = 2_000
/** A table is read again when so many times the duration of the last build have passed: reading takes at most a tenth of the time. */
const patience = 10

export function createExternalOverviews(options: ExternalOverviewsOptions): ExternalOverviews {
  const { db, jobs, connections, minRows, budget, rebuildMs } = options
  const seen = createLoadingCache<DescribedTable | undefined>({ ttlMs: Math.min(trustMs, rebuildMs) })

  /** Undefined if there can be no overview of it. */
  async function lookAt(dataset: Dataset): Promise<DescribedTable | undefined> {
    const record = await connections.find(dataset.applicationId, dataset.databaseId)
    if (!record || !datasetTypeOf(dataset).tableOf) return undefined
    const table = externalTableOf(dataset, loginKey(record))
    const { isExternal, postgres: connection, fingerprint: look } = await connections.open(record)
    if (!table || !isExternal || !connection || !look) return undefined
    const options = { timeoutMs: lookMs, signal: AbortSignal.timeout(lookMs) }
    const fingerprint = await look(dataset.source, options)
    return fingerprint && { table, source: dataset.source, connection, fingerprint }
  }

  async function prepare(dataset: Dataset): Promise<Build | undefined> {
    const table = wantsOverviews(dataset) ? await lookAt(dataset) : undefined
    if (!table) return undefined
    const { applicationId } = dataset
    return {
      place: { dataset, table: { schema: tenantSchema(applicationId) } },
      version: versionOf(table),
      shape: table.table.shape,
      async stage(builder) {
        const storageLeft = Math.max(0, await options.storageLeft(applicationId))
        return stageCopy(db, table, { ...builder, limits: { minRows, ...budget }, storageLeft })
      },
    }
  }

  const builds = createOverviewBuilds(options, {
    queue,
    prepare,
    leave: (place) => jobs.whenFree(queue, place.dataset.id, (tx) => dropLeft(tx, place)),
    // The queue would try again at once, and read the whole table each time.
    isTriedAgain: false,
  })

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
      if (isDue(record, table, { fits, minRows, rebuildMs })) builds.order(dataset)
      return fits ? external(table, dataset, record, connections) : undefined
    },
    cancel: builds.cancel,
  }
}

/** Removes what a cancelled build has left, also its state, if it noted one after the cancellation. */
async function dropLeft(tx: Queryable, place: OverviewTarget): Promise<void> {
  await dropUnfinished(tx, place)
  await tx.query(sql`
    DELETE FROM svc.overviews WHERE dataset_id = ${place.dataset.id}::uuid AND state = 'building' AND version IS NULL`)
}

const versionOf = ({ fingerprint: { table, rows } }: DescribedTable): string => `${table} ${rows}`

type OverviewState = {
  readonly state: string
  readonly version: string | null
  readonly shape: string | null
  readonly tiles: number[] | null
  readonly thinning: OverviewThinning | null
  readonly builtAt: Date | null
  readonly triedAt: Date
}

async function recordOf(db: Db, id: string): Promise<OverviewState | undefined> {
  const [record] = await db.query<OverviewState>(sql`
    SELECT state, version, shape, tiles, thinning, built_at AS "builtAt", tried_at AS "triedAt" FROM svc.overviews
    WHERE dataset_id = ${id}::uuid`)
  return record
}

/** Built of this table, and every column that it has is still there. */
const isOf = ({ version, shape }: OverviewState, { table, fingerprint }: DescribedTable): boolean =>
  shape === table.shape &&
  version?.split(' ')[0] === fingerprint.table &&
  table.columns.every(({ name }) => name === rankColumn || fingerprint.columns.has(name))

type Rule = { readonly fits: boolean; readonly minRows: number; readonly rebuildMs: number }

function isDue(record: OverviewState | undefined, table: DescribedTable, { fits, minRows, rebuildMs }: Rule): boolean {
  const { rowEstimate } = table.fingerprint
  if (!record) return rowEstimate === null || rowEstimate >= minRows
  const { state, version, builtAt, triedAt } = record
  if (state !== 'built' || !builtAt) return Date.now() - Number(triedAt) >= rebuildMs
  if (!fits) return true
  const tookMs = Number(builtAt) - Number(triedAt)
  return version !== versionOf(table) && Date.now() - Number(builtAt) >= Math.max(rebuildMs, patience * tookMs)
}

/** An overview that is read in the platform's database, with the rights of the application. */
async function external(
  { table }: DescribedTable,
  { id, applicationId }: Dataset,
  record: OverviewState,
  connections: Pick<Connections, 'openPlatform'>,
): Promise<Overview | undefined> {
  const overview = overviewOf(id, table, tenantSchema(applicationId), record)
  const { postgres: connection } = await connections.openPlatform(applicationId)
  if (!overview || !connection) return undefined
  const relation = { from: overview.from(0), key: [], isTable: false }
  const columns = new Set(table.columns.map(({ name }) => name))
  return { ...overview, external: { inSql: { connection, relation, isTrusted: true }, columns } }
}
