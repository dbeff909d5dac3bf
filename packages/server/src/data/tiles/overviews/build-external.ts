// Builds the overview of a table on another server from a copy, which is dropped afterwards.

import type { Db } from '../../../kernel/db/db.ts'
import { ident, sql } from '../../../kernel/db/sql.ts'
import { readableName } from '../../databases/postgres/introspect.ts'
import { tenantSchema } from '../../databases/tenant-schema.ts'
import { type Buildable, type Builder, type OverviewLimits, stepsOf } from './build-overview.ts'
import { copyLimits, copyRows, indexCopy, makeCopy } from './copy-rows.ts'
import { type DescribedTable, externalRows } from './external-table.ts'
import { beingBuilt, overviewTable, rankColumn } from './overview.ts'
import type { StagedOverview } from './overview-builds.ts'
import { stageOverview } from './stage-overview.ts'

type ExternalBuilder = Builder & { readonly limits: OverviewLimits; readonly storageLeft: number }

/** The part of the work that is copying. */
const copyShare = 0.7

export async function stageCopy(db: Db, seen: DescribedTable, builder: ExternalBuilder): Promise<StagedOverview> {
  const { signal, isHeld, onProgress, limits } = builder
  const { dataset, geometry, isPoint } = seen.table
  const name = overviewTable(dataset.id, `${beingBuilt}base`)
  const rank = sql`q.${ident(rankColumn)}`
  const buildable = { dataset, geometry, isPoint, rank, table: { schema: tenantSchema(dataset.applicationId), name } }
  await demandSystem(db, geometry.srid || 4326)
  const oid = await copyTable(db, seen, builder, buildable)
  const later = (fraction: number): Promise<void> => onProgress(copyShare + (1 - copyShare) * fraction)
  const staged = await stageOverview(db, buildable, limits, { signal, isHeld, onProgress: later })
  return { buildable, staged, oid }
}

/** Rows in a reference system that only the other server knows would be missing, without a word. */
async function demandSystem(db: Db, srid: number): Promise<void> {
  const [system] = await db.query(sql`SELECT FROM spatial_ref_sys WHERE srid = ${srid}::int4`)
  if (!system) throw new Error(`The reference system ${srid} is not known to the platform's database`)
}

/** Returns the oid of the copy. */
async function copyTable(
  db: Db,
  { table, source, connection, fingerprint }: DescribedTable,
  { signal, isHeld, onProgress, storageLeft }: ExternalBuilder,
  { dataset, table: { schema, name } }: Buildable,
): Promise<string> {
  const { ms, waitMs, ...limits } = copyLimits
  const ending = AbortSignal.any([signal, AbortSignal.timeout(ms)])
  const copy = { into: ident(schema, name), step: stepsOf(db, dataset, { signal: ending, isHeld }) }
  await makeCopy(table, copy)
  const from = readableName(source, connection.schema)
  const statement = externalRows(table, ident(from.schema, from.name))
  const options = { timeoutMs: waitMs, signal: ending, isStream: true, isTrusted: true }
  const { batches } = await connection.select(statement, options)
  await copyRows(batches, table, {
    ...copy,
    limits: { ...limits, bytes: Math.min(limits.bytes, storageLeft) },
    onRows: (rows) => onProgress((copyShare * rows) / Math.max(rows, fingerprint.rowEstimate ?? 0, 1)),
  })
  await indexCopy(table, copy)
  const [made] = await db.query<{ oid: string }>(sql`
    SELECT c.oid::text AS oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND c.relname = ${name}`)
  return made?.oid ?? ''
}
