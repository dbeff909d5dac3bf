// Builds overviews: for each low zoom, a table with the rows that are worth drawing in crowded tiles (a pyramid).

import { lockApplication } from '../../../api/resource/lock-application.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { asPiece } from '../../../kernel/db/embedded/page-pieces.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { TileBudget } from '../source/tile-budget.ts'
import { isLonLat, mercatorPosition } from '../sql/mercator-sql.ts'
import { keyRank } from '../thinning/rank-sql.ts'
import { rowBytesSql } from '../thinning/row-bytes.ts'
import { cellBitsFor, chooseRates, rateAt, thinningBudget } from '../thinning/thinning-rule.ts'
import {
  beingBuilt,
  copiedColumns,
  countColumn,
  keyOf,
  type OverviewDataset,
  type OverviewThinning,
  overviewTable,
  rankColumn,
  sizeColumn,
  type TenantTable,
} from './overview.ts'
import { tileMetres } from './overview-grid.ts'
import { countOf, densestOf, enoughFor, findCrowded, makeRows, type OverviewSource } from './overview-rows.ts'
import { type Level, pickedInCrowded, pickRows } from './pick-rows.ts'

export type Buildable = {
  readonly dataset: OverviewDataset
  readonly geometry: Attribute
  readonly isPoint: boolean
  readonly table: TenantTable
  /** The rows' ranks, if not by their key. */
  readonly rank?: Sql
}

/** The job that builds. */
export type Builder = {
  readonly signal: AbortSignal
  /** False after the job was cancelled, replaced or taken by another worker. */
  isHeld(tx: Queryable): Promise<boolean>
  /** From 0 to 1. */
  onProgress(fraction: number): Promise<void>
}

export type OverviewLimits = TileBudget & {
  /** Smaller tables have no overview. */
  readonly minRows: number
}

/** The contents of the staged tables. */
export type OverviewTables = {
  readonly zooms: readonly number[]
  readonly rowCounts: readonly number[]
  /** The tiles made from these tables; see tileNumber. */
  readonly tiles: readonly number[]
  /** Absent if the table is too small for an overview. */
  readonly thinning?: OverviewThinning
}

/** Builds the tables of an overview beside those in use. They hold only what lies in crowded tiles. */
export async function buildTables(
  step: Step,
  buildable: Buildable,
  { minRows, ...budget }: OverviewLimits,
  { onProgress }: Pick<Builder, 'onProgress'>,
): Promise<OverviewTables> {
  const source = sourceOf(buildable)
  if (!source) return nothing
  const rows = await step((tx) => makeRows(tx, source))
  if (rows < minRows) return nothing
  const limits = thinningBudget(budget)
  const rowBytes = await step((tx) => rowBytesOf(tx, source))
  const found = await step((tx) => findCrowded(tx, source, enoughFor(limits, rowBytes)))
  const densest = await step((tx) => densestOf(tx, source, rowBytes))
  const [rates, cellBits] = [chooseRates(densest, limits), cellBitsFor(densest, limits)]
  // At a zoom that shows all points the table has no more of them than an overview would.
  const crowded = source.isPoint ? found.slice(0, rates.length) : found
  const thinning = { rates, cellBits, densest }
  if (crowded.length === 0) return { ...nothing, thinning }
  const highest = crowded.length - 1
  const rowCounts = await makeLevels({ source, thinning, highest, step, onProgress }, highest)
  return { zooms: [...crowded.keys()], rowCounts, tiles: crowded.flat(), thinning }
}

/** The rows that are measured, as many as tell a long row from a short one. */
const measured = 2_000

async function rowBytesOf(tx: Queryable, { base, columns, key }: OverviewSource): Promise<number> {
  const values = columns.map((name) => sql`q.${ident(name)}`)
  const some = sql`(SELECT * FROM ${base} AS q ORDER BY q.${ident(key)} LIMIT ${raw(String(measured))})`
  const [row] = await tx.query<{ bytes: number }>(sql`SELECT ${rowBytesSql(values)} AS bytes FROM ${some} AS q`)
  return row?.bytes ?? 0
}

const nothing: OverviewTables = { zooms: [], rowCounts: [], tiles: [] }

export type Step = <T>(work: (tx: Queryable) => Promise<T>) => Promise<T>

type Pyramid = Pick<Builder, 'onProgress'> & {
  readonly source: OverviewSource
  readonly thinning: OverviewThinning
  readonly highest: number
  readonly step: Step
}

/** The tables of a zoom and of those below it; returns their row counts. An index is made while the next table is. */
async function makeLevels(pyramid: Pyramid, zoom: number): Promise<number[]> {
  const { source, thinning, highest, step, onProgress } = pyramid
  await onProgress(1 - (1 + zoom) / (2 + highest))
  const level = {
    ...source,
    zoom,
    isHighest: zoom === highest,
    rate: rateAt(thinning.rates, zoom),
    cellBits: thinning.cellBits,
  }
  await step((tx) => pickRows(tx, level))
  const rows = await step((tx) => makeTable(tx, level))
  const below = zoom > 0 ? makeLevels(pyramid, zoom - 1) : []
  const [counts] = await Promise.all([below, step((tx) => indexTable(tx, level))])
  return [...counts, rows]
}

const wholeNumbers = new Set(['smallint', 'integer', 'bigint'])

/** Undefined if there can be no overview. */
function sourceOf({ dataset, geometry, isPoint, table, rank }: Buildable): OverviewSource | undefined {
  const key = keyOf(dataset)
  if (key === undefined) return undefined
  const keyType = dataset.attributes.find(({ name }) => name === key)?.dbType ?? ''
  return {
    key,
    geometry,
    isPoint,
    base: ident(table.schema, table.name),
    isPlain: isPoint && isLonLat(geometry) && wholeNumbers.has(keyType),
    columns: copiedColumns(dataset),
    rank: rank ?? keyRank(key),
    named: (part) => ident(table.schema, overviewTable(dataset.id, `${beingBuilt}${part}`)),
  }
}

/** Compiling (jit) a statement takes longer than it saves; the few statistics that tiles need are in a small sample. */
export const stepSettings = `
  SET LOCAL statement_timeout = '15min'; SET LOCAL lock_timeout = '10s'; SET LOCAL work_mem = '64MB'; SET LOCAL jit = off;
  SET LOCAL default_statistics_target = 30`

/**
 * Each step is its own transaction, so that no lock is held for long, nor the one session of the embedded database.
 * CREATE TABLE AS locks the tables it reads and then the schema, while deleting the application locks the schema first.
 */
export const stepsOf =
  (
    db: Db,
    { applicationId }: Pick<OverviewDataset, 'applicationId'>,
    { signal, isHeld }: Pick<Builder, 'signal' | 'isHeld'>,
  ): Step =>
  async (work) => {
    signal.throwIfAborted()
    return db.transaction(async (tx) => {
      await tx.script(stepSettings)
      await lockApplication(tx, applicationId)
      await demandJob(isHeld, tx)
      return work(tx)
    }, asPiece)
  }

/** Fencing: a worker that lost its job must not touch the tables of the next one. */
export async function demandJob(isHeld: Builder['isHeld'], tx: Queryable): Promise<void> {
  if (!(await isHeld(tx))) throw new Error('The job that builds the overview was cancelled or taken by another worker')
}

async function makeTable(tx: Queryable, level: Level): Promise<number> {
  const { zoom, cellBits, geometry, columns, named } = level
  const into = named(`new_${zoom}`)
  const copied = columns.map((name) => sql`q.${ident(name)}, `)
  const { shape, size, from } = shapesOf(level)
  await tx.query(sql`
    CREATE TABLE ${into} AS
    SELECT ${joinSql(copied, '')}${shape}::geometry(Geometry, 3857) AS ${ident(geometry.name)},
      p.n AS ${ident(countColumn)}, ${size} AS ${ident(sizeColumn)}, p.rank AS ${ident(rankColumn)}
    FROM ${from} ORDER BY ${raw(`(p.x >> ${cellBits})::int8 << 32 | (p.y >> ${cellBits})`)}`)
  return countOf(tx, into)
}

async function indexTable(tx: Queryable, { zoom, geometry, named }: Level): Promise<void> {
  const table = named(`new_${zoom}`)
  await tx.query(sql`CREATE INDEX ON ${table} USING gist (${ident(geometry.name)})`)
  // Tiles ask by place only: filters read the table itself.
  await tx.query(sql`ANALYZE ${table} (${ident(geometry.name)})`)
}

/** What the picked rows look like, and how they are found. */
function shapesOf(level: Level): Record<'shape' | 'size' | 'from', Sql> {
  const { zoom, base, key, geometry, isPoint, isPlain, named } = level
  const picked = sql`${pickedInCrowded(level)} AS p`
  if (isPlain) {
    const { x, y } = mercatorPosition(geometry)
    const shape = sql`ST_SetSRID(ST_Point(${x}, ${y}), 3857)`
    return { shape, size: raw('0::float4'), from: sql`${picked} JOIN ${base} AS q ON q.${ident(key)} = p.id` }
  }
  const tolerance = raw(String(tileMetres(zoom) / 2048))
  const simple = sql`CASE WHEN r.vertices > 1 THEN svc.simplified(r.shape, ${tolerance}) ELSE r.shape END`
  const from = sql`${picked} JOIN ${named('rows')} AS r USING (id) JOIN ${base} AS q ON q.${ident(key)} = r.key`
  return { shape: isPoint ? raw('r.shape') : simple, size: raw('r.size'), from }
}
