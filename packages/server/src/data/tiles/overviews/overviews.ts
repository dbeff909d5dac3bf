// Keeps the overviews of large tables up to date with background jobs.

import { exactPartOf, type MachineShare } from '../../../kernel/concurrency/machine-share.ts'
import { poll } from '../../../kernel/concurrency/retry.ts'
import { cancelStatements } from '../../../kernel/db/cancel-statements.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import type { Jobs } from '../../../kernel/jobs/jobs.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { layerOf } from '../source/dataset-layer.ts'
import { type Builder, stageOverview } from './build-overview.ts'
import {
  beingBuilt,
  copiedColumns,
  keyOf,
  type Overview,
  type OverviewDataset,
  type OwnTable,
  overviewOf,
  overviewTable,
  shapeOf,
} from './overview.ts'
import { builtRecord, noteProgress, noteState } from './overview-record.ts'
import { dropUnfinished, swapOverview } from './swap-overview.ts'

/** What overviews need from jobs. */
export type OverviewJobs = Pick<Jobs, 'work' | 'send' | 'put' | 'announce' | 'cancel'>

export type OverviewJob = { readonly applicationId: string; readonly datasetId: string }

export type OverviewsOptions = {
  db: Db
  jobs: OverviewJobs
  share: MachineShare
  /** Smaller tables have no overview. */
  minRows: number
  findDataset(applicationId: string, id: string): Promise<Dataset | undefined>
  /** The table of a dataset, if it is in the application's own schema. */
  tableOf(dataset: Dataset): Promise<OwnTable | undefined>
  onError(error: unknown): void
}

export type Overviews = {
  /** The current overview. A missing or outdated one is queued, not waited for. */
  find(dataset: Dataset): Promise<Overview | undefined>
  /** Queues the overview of loaded data in the transaction that stores their dataset; a table that is too small gets none. */
  queue(tx: Queryable, job: OverviewJob, rows: number): Promise<void>
  /** After the commit. */
  announce(): void
  /** Ends the work on a dataset's overview, so that its table can be dropped. */
  cancel(datasetId: string): Promise<void>
}

const queue = 'overviews'
const buildsAtOnce = 2
/** Wait until a table has not changed for this long, with an upper limit. */
const quietMs = 5_000
const maxQuietWaitMs = 60_000
/** Back-off after a failure, because every tile would request the build again. */
const backoffMs = 600_000

export function createOverviews(options: OverviewsOptions): Overviews {
  const { db, jobs, share, minRows, findDataset, tableOf, onError } = options
  const concurrency = exactPartOf(buildsAtOnce, share)

  async function build({ applicationId, datasetId: id }: OverviewJob, builder: Omit<Builder, 'onProgress'>) {
    const dataset = await findDataset(applicationId, id)
    const table = dataset && (await tableOf(dataset))
    if (!dataset || !table) return
    await quiet(db, table, builder.signal)
    const { geometry, geometryType } = layerOf(dataset)
    const facts = await factsOf(db, dataset, table)
    if (!facts) return
    const buildable = { dataset, geometry, isPoint: geometryType === 'point', table }
    await noteState(db, id, { state: 'building', version: facts.current })
    try {
      await db.transaction((tx) => dropUnfinished(tx, buildable))
      const onProgress = (fraction: number): Promise<void> => noteProgress(db, id, fraction)
      const staged = await stageOverview(db, buildable, minRows, { ...builder, onProgress })
      await swapOverview(db, buildable, {
        record: builtRecord(id, staged, { version: facts.current, shape: shapeOf(dataset, geometry) }),
        oid: facts.oid,
        ...builder,
      })
    } catch (error) {
      // Of a job that was cancelled nothing is noted, and whoever cancelled it or takes it next drops the tables.
      if (builder.signal.aborted || !(await builder.isHeld(db))) throw error
      await db.transaction((tx) => dropUnfinished(tx, buildable)).catch(onError)
      const reason = error instanceof Error ? error.message : String(error)
      await noteState(db, id, { state: 'failed', version: facts.current, error: reason }).catch(onError)
      throw error
    }
  }

  jobs.work<OverviewJob>(queue, { concurrency }, ({ data, isHeld }, signal) => build(data, { signal, isHeld }))

  return {
    async queue(tx, job, rows) {
      if (rows < minRows) return
      await noteState(tx, job.datasetId, { state: 'pending', version: '' })
      await jobs.put(tx, queue, job, job.datasetId)
    },
    announce: () => jobs.announce(queue),
    async cancel(datasetId) {
      await jobs.cancel(queue, datasetId)
      await cancelStatements(db, overviewTable(datasetId, beingBuilt))
    },
    async find(dataset) {
      const table = keyOf(dataset) === undefined ? undefined : await tableOf(dataset)
      const facts = table && (await factsOf(db, dataset, table))
      if (!table || !facts) return undefined
      const { geometry } = layerOf(dataset)
      const isWhole = copiedColumns(dataset).every((name) => facts.columns.includes(name))
      const isSame = facts.shape === shapeOf(dataset, geometry) && facts.version?.split(' ')[0] === facts.oid
      const fits = isSame && isWhole
      if (!isSettled(facts, fits, minRows)) {
        const { applicationId, id } = dataset
        const order = jobs.send(queue, { applicationId, datasetId: id }, { singletonKey: id })
        order.catch(onError)
      }
      return fits ? overviewOf(dataset.id, geometry, table.schema, facts) : undefined
    },
  }
}

type Facts = {
  readonly oid: string
  /** Estimated row count. */
  readonly rows: number
  /** The table's current columns. */
  readonly columns: string[]
  /** Changes with the data and with the table itself. */
  readonly current: string
  readonly version: string | null
  readonly shape: string | null
  readonly tiles: number[] | null
  readonly builtAt: Date | null
  readonly failedVersion: string | null
  readonly failedAt: Date | null
}

/** Nothing to do: up to date, too small, or recently failed. */
function isSettled(facts: Facts, fits: boolean, minRows: number): boolean {
  if (facts.version === null && facts.rows < minRows) return true
  if (fits && facts.version === facts.current) return true
  return facts.failedVersion === facts.current && Date.now() - Number(facts.failedAt) < backoffMs
}

/**
 * Undefined if there can be no overview: for a view, or for a table with rows that its application may not see. The
 * overview is built with our privileges and read with theirs.
 */
async function factsOf(
  db: Queryable,
  dataset: OverviewDataset,
  { schema, name }: OwnTable,
): Promise<Facts | undefined> {
  const [facts] = await db.query<Facts>(sql`
    SELECT c.oid::text AS oid, parts.rows,
      ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped) AS columns,
      concat_ws(' ', c.oid, c.relfilenode, svc.data_version(${schema}, CASE WHEN c.relkind = 'r' AND NOT c.relhassubclass THEN ${name}::text END)) AS current,
      o.version, o.shape, o.tiles, o.built_at AS "builtAt",
      CASE WHEN o.state = 'failed' THEN o.tried_version END AS "failedVersion", o.tried_at AS "failedAt"
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN svc.overviews o ON o.dataset_id = ${dataset.id}::uuid
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(CASE WHEN p.reltuples < 0 THEN svc.relation_bytes(p.oid, false) / 100 ELSE p.reltuples END), 0)::float8 AS rows
      FROM pg_class p WHERE p.oid = c.oid OR p.oid IN (SELECT relid FROM pg_partition_tree(c.oid) WHERE isleaf)) AS parts
    WHERE n.nspname = ${schema} AND c.relname = ${name} AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity
      AND has_table_privilege(${schema}, c.oid, 'SELECT')`)
  return facts
}

/** Waits until the table has not been written to for a while. */
async function quiet(db: Db, { schema, name }: OwnTable, signal: AbortSignal): Promise<void> {
  let missingMs = 0
  const isQuiet = async (): Promise<true | undefined> => {
    const [row] = await db.query<{ ms: number | null }>(sql`
      SELECT (extract(epoch FROM clock_timestamp() - max(at)) * 1000)::float8 AS ms FROM svc.data_changes
      WHERE schema_name = ${schema} AND table_name = ${name}`)
    missingMs = quietMs - (row?.ms ?? quietMs)
    return missingMs <= 0 || undefined
  }
  await poll(isQuiet, { withinMs: maxQuietWaitMs, pauseMs: () => missingMs, signal })
}
