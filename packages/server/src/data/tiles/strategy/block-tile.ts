// Tiles from an engine without PostGIS. Its rows go to a worker as raw bytes; the worker projects and clips them.

import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { blame } from '../../../query/execution/connection.ts'
import type { Thinning } from '../../../query/execution/dialect.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import type { BlockSource } from '../../datasets/dataset-type.ts'
import type { DatasetLayer } from '../source/dataset-layer.ts'
import type { SelectedColumn } from '../sql/tile-columns.ts'
import { coordinatesOf } from '../sql/tile-sql.ts'
import type { MadeTile } from '../workers/tile-job.ts'
import { counted, featuresText, type MakeTile, type StrategyResult } from './run-tile-strategy.ts'

/** The query of one tile; the columns follow the geometry. */
export type BlockQuery = {
  readonly source: BlockSource
  readonly from: Sql
  readonly attributes: readonly [geometry: Attribute, ...Attribute[]]
  readonly columns: readonly SelectedColumn[]
  readonly values: readonly Sql[]
  readonly condition: Sql
  readonly thinning: Thinning
  readonly projection: Parameters<MakeTile>[2]
}

type Wanted = { readonly plan: Plan; inTile(): Plan; readonly columns: readonly SelectedColumn[] }

const timeoutMs = 30_000

/**
 * Undefined if the engine cannot test the whole filter or the reference system is unknown: then rows are read as text.
 */
export async function blockQuery(
  source: BlockSource,
  { attributes, geometry }: DatasetLayer,
  { plan, inTile, columns }: Wanted,
  signal: AbortSignal,
): Promise<BlockQuery | undefined> {
  const dialect = await source.connection.dialect({ ...source.subject, srid: 4326, timeoutMs, signal })
  const { thinning, definitions = {} } = dialect
  const projection = projectionOf(geometry, definitions)
  if (!thinning || !projection || dialect.where(plan.where).rest) return undefined
  const shown = [geometry, ...columns.flatMap(({ name }) => attributes.get(name) ?? [])] as const
  const { where } = inTile()
  const { from } = source.relation
  return {
    source,
    from: dialect.scan?.(from, where) ?? from,
    attributes: shown,
    columns,
    values: shown.map(dialect.column),
    // The engine tests bounding boxes only; the worker tests the shapes.
    condition: dialect.where(where).condition,
    thinning,
    projection,
  }
}

function projectionOf(geometry: Attribute, definitions: Definitions): BlockQuery['projection'] | undefined {
  if (coordinatesOf(geometry) === 'lonlat') return 'lonlat'
  const definition = definitions[geometry.srid ?? 0]
  // Plain WKB has no SRID.
  return definition && /^\s*\+proj=/.test(definition) ? { definitions: { 0: definition } } : undefined
}

type Work = {
  readonly make: MakeTile
  readonly shown: number
  /** The caller's limit is not above what the tile shows. */
  readonly isLimited: boolean
  readonly signal: AbortSignal
}

/**
 * Encodes all rows or, if there are too many, a thinned set: points by random choice, so that no part of the map stays
 * empty, other shapes by size.
 */
export async function blockTile(query: BlockQuery, work: Work): Promise<StrategyResult> {
  try {
    return await thinnedTile(query, work)
  } catch (error) {
    return blame(query.source.connection)(error)
  }
}

async function thinnedTile(query: BlockQuery, work: Work): Promise<StrategyResult> {
  const { columns, attributes } = query
  const { shown, isLimited } = work
  const isPoint = Boolean(attributes[0].isPoint)
  const { made, isWhole } = await tileOf(query, sql`LIMIT ${shown + 1}`, work)
  if (isWhole && made.refused === 0 && made.seen <= shown) return { made, columns, features: counted(made, isPoint) }
  const rows = isWhole && made.seen <= shown ? made.seen : await countOf(query, work)
  const features = (best: MadeTile): string => featuresText(best.shown, { rows, isExact: isPoint })
  if (isLimited) return { made, columns, features: features(made) }
  const { made: thinned } = await tileOf(
    query,
    isPoint ? drawn(query, made.shown / rows, shown) : largest(query, shown),
    work,
  )
  // If all rows get the same random number, thinning keeps all or none of them: then use the first attempt.
  const best = thinned.shown < made.shown / 2 ? made : thinned
  return { made: best, columns, features: features(best) }
}

/** Requests somewhat more than the tile can show. */
const reserve = 1.1

function drawn({ thinning, attributes }: BlockQuery, share: number, shown: number): Sql {
  const draw = thinning.draw(attributes)
  return sql`AND ${draw} < ${raw(String(share * reserve))}::DOUBLE ORDER BY ${draw} LIMIT ${shown + 1}`
}

const largest = ({ thinning, attributes: [geometry] }: BlockQuery, shown: number): Sql =>
  sql`ORDER BY ${thinning.size(geometry)} DESC NULLS LAST LIMIT ${shown + 1}`

/** The most bytes of rows in memory for one tile: a hundred times the largest tile. */
const maxBytes = 64 * 1024 * 1024

async function tileOf(
  query: BlockQuery,
  ending: Sql,
  { make, signal }: Work,
): Promise<{ made: MadeTile; isWhole: boolean }> {
  const { source, from, values, condition, columns, projection } = query
  const statement = sql`SELECT ${joinSql(values, ', ')} FROM ${from} AS q WHERE ${condition} ${ending}`
  const blocks: Uint8Array[] = []
  let bytes = 0
  for await (const block of await source.connection.selectBlocks(statement, { timeoutMs, signal })) {
    blocks.push(block)
    bytes += block.length
    if (bytes > maxBytes) break
  }
  return { made: await make({ blocks }, columns, projection), isWhole: bytes <= maxBytes }
}

async function countOf({ source, from, values, condition }: BlockQuery, { signal }: Work): Promise<number> {
  const statement = sql`SELECT count(${values[0] ?? raw('*')}) AS n FROM ${from} AS q WHERE ${condition}`
  const { batches } = await source.connection.select(statement, { timeoutMs, signal, atMost: 1 })
  return Number((await Array.fromAsync(batches)).flat(2)[0])
}
