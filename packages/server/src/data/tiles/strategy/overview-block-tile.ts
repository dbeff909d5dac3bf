// Tiles from the overview of a table that is files: its rows are thinned already, and stand in the order of places.
import { ident, joinSql, raw, sql } from '../../../kernel/db/sql.ts'
import { blame } from '../../../query/execution/connection.ts'
import type { FileOverview } from '../overviews/files/file-overview.ts'
import { countColumn } from '../overviews/overview.ts'
import type { DatasetLayer } from '../source/dataset-layer.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { tileMargin } from '../sql/tile-sql.ts'
import type { BlockQuery, WantedBlocks } from './block-query.ts'
import { blockTile, type RuleWork } from './block-tile.ts'
import { type BlockWork, numberOf, readBlocks, withCounts } from './read-blocks.ts'
import { featuresText, type StrategyResult } from './run-tile-strategy.ts'

type InBlocks = {
  readonly blocks: BlockQuery
  readonly wanted: WantedBlocks
  readonly work: RuleWork
  readonly isFiltered: boolean
}

/** From the overview where it has the rows; a filter needs the rows themselves. */
export async function blocksTile(
  { fileOverview }: Pick<LoadedTileSource, 'fileOverview'>,
  layer: DatasetLayer,
  { blocks, wanted, work, isFiltered }: InBlocks,
): Promise<StrategyResult> {
  const made = isFiltered ? undefined : await overviewBlockTile(fileOverview, blocks, layer, wanted, work)
  return made ?? blockTile(blocks, work)
}

/** Undefined where the overview has no rows of this zoom, or not all columns. */
async function overviewBlockTile(
  overview: FileOverview | undefined,
  query: BlockQuery,
  layer: DatasetLayer,
  wanted: WantedBlocks,
  work: BlockWork,
): Promise<StrategyResult | undefined> {
  const level = overview?.levelOf(work.zoom)
  if (!overview || !level || !query.columns.every(({ name }) => overview.columns.has(name))) return undefined
  const connection = await overview.connection()
  const table = level.table
  const dialect = await connection.dialect({ table, attributes: layer.attributes.values(), srid: 4326, ...work.limits })
  const { where } = wanted.inTile(tileMargin)
  const from = ident(table)
  const condition = dialect.where(where).condition
  const columns = level.isThinned ? withCounts(query.columns) : query.columns
  const values = query.names.map((name) => sql`q.${ident(name)}`)
  const isCounted = columns.length > query.columns.length
  const shown = isCounted ? [...values, sql`q.${ident(countColumn)}`] : values
  const order = level.isThinned ? raw('q.svc_class DESC, q.svc_rank') : raw('q.svc_rank')
  const rows = sql`SELECT ${joinSql(shown, ', ')} FROM ${dialect.scan?.(from, where) ?? from} AS q WHERE ${condition}
    ORDER BY ${order} LIMIT ${work.shown + 1}`
  const count = sql`SELECT ${level.isThinned ? raw('coalesce(sum(svc_count), 0)') : raw('count(*)')} FROM ${from} AS q WHERE ${condition}`
  try {
    const [blocks, total] = await Promise.all([readBlocks(connection, rows, work), numberOf(connection, count, work)])
    const made = await work.make({ blocks: blocks.blocks }, columns, query.projection)
    return { made, columns, features: featuresText(made.shown, { rows: total, isExact: query.isPoint }) }
  } catch (error) {
    return blame(connection)(error)
  }
}
