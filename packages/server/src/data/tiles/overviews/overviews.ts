// Keeps the overviews of large tables up to date with background jobs.
import { poll } from '../../../kernel/concurrency/retry.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import type { Jobs } from '../../../kernel/jobs/jobs.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { layerOf } from '../source/dataset-layer.ts'
import { keyRank } from '../thinning/rank-sql.ts'
import {
  copiedColumns,
  keyOf,
  type Overview,
  type OverviewDataset,
  type OverviewThinning,
  overviewOf,
  shapeOf,
  type TenantTable,
} from './overview.ts'
import { type Build, type BuildOptions, createOverviewBuilds, type OverviewJob } from './overview-builds.ts'
import { noteState } from './overview-record.ts'
import { stageOverview } from './stage-overview.ts'

export type OverviewsOptions = BuildOptions & {
  readonly jobs: Pick<Jobs, 'put' | 'announce'>
  /** The table of a dataset, if it is in the application's own schema. */
  tableOf(dataset: Dataset): Promise<TenantTable | undefined>
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
/** Wait until a table has not changed for this long, with an upper limit. */
const quietMs = 5_000
const maxQuietWaitMs = 60_000
/** Back-off after a failure, because every tile would request the build again. */
const backoffMs = 600_000

export function createOverviews(options: OverviewsOptions): Overviews {
  const { db, jobs, minRows, budget, tableOf } = options

  async function prepare(dataset: Dataset, signal: AbortSignal): Promise<Build | undefined> {
    const table = await tableOf(dataset)
    if (!table) return undefined
    await quiet(db, table, signal)
    // Before the version is read, which changes when the table is watched.
    await db.query(sql`SELECT svc.watch_tables(${table.schema})`)
    const facts = await factsOf(db, dataset, table)
    if (!facts) return undefined
    const { geometry, geometryType } = layerOf(dataset)
    const buildable = { dataset, geometry, isPoint: geometryType === 'point', table }
    return {
      place: buildable,
      version: facts.current,
      shape: shapeOf(dataset, geometry),
      stage: async (builder) => ({
        buildable,
        oid: facts.oid,
        staged: await stageOverview(db, buildable, { minRows, ...budget }, builder),
      }),
    }
  }

  const builds = createOverviewBuilds(options, { queue, prepare, isTriedAgain: true })

  return {
    async queue(tx, job, rows) {
      if (rows < minRows) return
      await noteState(tx, job.datasetId, { state: 'pending', version: '' })
      await jobs.put(tx, queue, job, job.datasetId)
    },
    announce: () => jobs.announce(queue),
    cancel: builds.cancel,
    async find(dataset) {
      const key = keyOf(dataset)
      const table = key === undefined ? undefined : await tableOf(dataset)
      const facts = table && (await factsOf(db, dataset, table))
      if (key === undefined || !table || !facts) return undefined
      const { geometry } = layerOf(dataset)
      const isWhole = copiedColumns(dataset).every((name) => facts.columns.includes(name))
      const isSame = facts.shape === shapeOf(dataset, geometry) && facts.version?.split(' ')[0] === facts.oid
      const fits = isSame && isWhole
      if (!isSettled(facts, fits, minRows)) builds.order(dataset)
      return fits ? overviewOf(dataset.id, { geometry, rank: keyRank(key) }, table.schema, facts) : undefined
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
  readonly thinning: OverviewThinning | null
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
  { schema, name }: TenantTable,
): Promise<Facts | undefined> {
  const [facts] = await db.query<Facts>(sql`
    SELECT c.oid::text AS oid, parts.rows,
      ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped) AS columns,
      concat_ws(' ', c.oid, c.relfilenode, svc.data_version(${schema}, CASE WHEN c.relkind = 'r' AND NOT c.relhassubclass THEN ${name}::text END)) AS current,
      o.version, o.shape, o.tiles, o.thinning, o.built_at AS "builtAt",
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
async function quiet(db: Db, { schema, name }: TenantTable, signal: AbortSignal): Promise<void> {
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
