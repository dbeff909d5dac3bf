// Tiles from an engine without PostGIS, thinned by the rule of thinning-rule.ts. Rows go to a worker as raw bytes, which projects
// and clips them.

import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { blame } from '../../../query/execution/connection.ts'
import type { TileBudget } from '../source/tile-budget.ts'
import type { DensestTiles, DensestTilesCache, SampledRows } from '../thinning/densest-tiles.ts'
import {
  alwaysShown,
  cellBits,
  chooseRates,
  rankLimit,
  ranks,
  rateAt,
  type TileLoad,
  thinningBudget,
} from '../thinning/thinning-rule.ts'
import type { MadeTile } from '../workers/tile-job.ts'
import { squareOf } from './block-grid.ts'
import { measureLoads, sizeClassSql } from './block-loads.ts'
import { type BlockQuery, whole } from './block-query.ts'
import { type BlockWork, numberOf, readBlocks, withCounts } from './read-blocks.ts'
import { counted, featuresText, type StrategyResult } from './run-tile-strategy.ts'

export type RuleWork = BlockWork & {
  /** What rates are chosen for. */
  readonly budget: TileBudget
  readonly densest: DensestTilesCache
  readonly sampled: SampledRows
  readonly signal: AbortSignal
  /** How long it waits for what is measured once. */
  readonly waitMs?: number
}

const usualWaitMs = 60_000

/** A tile of all its rows or, at a thinned zoom, of those that the rule shows. */
export async function blockTile(query: BlockQuery, work: RuleWork): Promise<StrategyResult> {
  try {
    const { loads } = await densestTiles(query, work)
    const rates = chooseRates(loads, thinningBudget(work.budget))
    const isThinned = work.zoom < rates.length
    return isThinned
      ? await thinnedTile(query, work, thinningAt(work.zoom, rates, loads[work.zoom] ?? []))
      : await plainTile(query, work)
  } catch (error) {
    return blame(query.source.connection)(error)
  }
}

/** The first tiles of a large file wait for them for a while; measuring goes on for those who ask next. */
async function densestTiles(
  query: BlockQuery,
  { densest, sampled, signal, waitMs = usualWaitMs }: RuleWork,
): Promise<DensestTiles> {
  const late = AbortSignal.timeout(waitMs)
  const measured = densest.of(sampled, () => measureLoads(query), AbortSignal.any([signal, late]))
  return measured.catch((error) => {
    throw error === late.reason ? notMeasured() : error
  })
}

const notMeasured = (): ApiError =>
  new ApiError('query_timeout', 'The rows of this map are counted for its first tiles. Try again in a minute.')

/** All rows. Should the estimate have been wrong, those with the lowest ranks. */
async function plainTile(query: BlockQuery, work: RuleWork): Promise<StrategyResult> {
  const { columns, values, isPoint, rank } = query
  const { from, condition } = query.inTile()
  const rows = sql`SELECT ${joinSql(values, ', ')} FROM ${from} AS q WHERE ${condition}`
  const { made, isWhole } = await tileOf(query, sql`${rows} LIMIT ${work.shown + 1}`, columns, work)
  if (isWhole && made.refused === 0 && made.seen <= work.shown)
    return { made, columns, features: counted(made, isPoint) }
  const [{ made: best }, total] = await Promise.all([
    tileOf(query, sql`${rows} ORDER BY ${rank} LIMIT ${work.shown + 1}`, columns, work),
    countOf(query, work),
  ])
  return { made: best, columns, features: featuresText(best.shown, { rows: total, isExact: isPoint }) }
}

/** How a zoom is thinned. Only rows below `drawn` are looked at, which are all of them unless the densest tile has very many. */
type ZoomThinning = { readonly zoom: number; readonly rate: number; readonly drawn: number }

/** More rows of a tile than these are not sorted into cells: then some of them are, and the rows of cells are estimated. */
const mostRows = 100_000

function thinningAt(zoom: number, rates: readonly number[], densest: readonly TileLoad[]): ZoomThinning {
  const rate = rateAt(rates, zoom)
  const rows = densest.flat().reduce((sum, load) => sum + load.rows, 0)
  // Steps of two, so that an estimate that changes a little changes nothing.
  const share = rows <= mostRows ? 1 : 2 ** -Math.ceil(Math.log2(rows / mostRows))
  return { zoom, rate, drawn: Math.max(share, Math.min(1, rate)) * ranks }
}

async function thinnedTile(query: BlockQuery, work: RuleWork, thinning: ZoomThinning): Promise<StrategyResult> {
  const columns = withCounts(query.columns)
  const isNamed = columns.length > query.columns.length
  const { from, condition } = query.inTile(query.grid.margin + 1e-6)
  const statement = shownRows(query, thinning, { from, condition })
  const shown = query.columns.map((_, index) => raw(`v${index + 1}`))
  const rows = sql`SELECT ${joinSql([raw('v0'), ...shown, ...(isNamed ? [raw('svc_count')] : [])], ', ')} FROM (${statement}) AS q
    ORDER BY svc_class DESC, svc_rank LIMIT ${work.shown + 1}`
  const isCounted = thinning.drawn >= ranks
  const [{ made }, total] = await Promise.all([
    tileOf(query, rows, columns, work),
    isCounted ? countOf(query, work) : estimateOf(query, thinning, work),
  ])
  return { made, columns, features: featuresText(made.shown, { rows: total, isExact: isCounted && query.isPoint }) }
}

/**
 * The rows that the rule shows, of the relation under a condition: their values as v0, v1 and so on, and svc_count, svc_class and
 * svc_rank. What a cell hides is shared out among those that it shows.
 */
function shownRows(
  { values, rank, grid, isPoint }: Pick<BlockQuery, 'values' | 'rank' | 'grid' | 'isPoint'>,
  { zoom, rate, drawn }: ZoomThinning,
  { from, condition }: { readonly from: Sql; readonly condition: Sql },
): Sql {
  const named = values.map((value, index) => sql`${value} AS ${raw(`v${index}`)}`)
  const names = raw(values.map((_, index) => `v${index}`).join(', '))
  const size = isPoint ? raw('0') : sizeClassSql(grid.width, whole(2 ** zoom))
  const limits = Array.from({ length: alwaysShown + 1 }, (_, one) => `WHEN ${one} THEN ${rankLimit(rate, one)}`)
  const limit = isPoint ? whole(rankLimit(rate)) : raw(`CASE svc_class ${limits.join(' ')} END`)
  const part = drawn < ranks ? sql` AND ${rank} < ${whole(drawn)}` : raw('')
  const placed = sql`
    SELECT ${joinSql(named, ', ')}, ${rank} AS svc_rank, ${size} AS svc_class,
      ${squareOf(grid.x, zoom + cellBits)} AS cell_x, ${squareOf(grid.y, zoom + cellBits)} AS cell_y
    FROM ${from} AS q WHERE ${condition}${part}`
  const rows = raw(`round(${isPoint ? 'members' : classTotal} * ${ranks / drawn})::BIGINT`)
  return sql`
    SELECT ${names}, svc_class, svc_rank, rows // shown + CASE WHEN place <= rows % shown THEN 1 ELSE 0 END AS svc_count
    FROM (
      SELECT *, ${rows} AS rows FROM (
        SELECT *, count(*) OVER class AS members, count(*) FILTER (is_shown) OVER class AS shown,
          row_number() OVER (PARTITION BY cell_x, cell_y, svc_class ORDER BY is_shown DESC, svc_rank) AS place
        FROM (SELECT *, svc_rank < ${limit} OR turn = 1 AS is_shown FROM (
          SELECT *, row_number() OVER (PARTITION BY cell_x, cell_y ORDER BY svc_class = ${whole(alwaysShown)}, svc_rank) AS turn
          FROM (${placed}) AS placed) AS turned) AS tested
        WINDOW class AS (PARTITION BY cell_x, cell_y, svc_class)) AS numbered) AS counted
    WHERE is_shown`
}

/** With the rows of classes of which a cell shows none, for the class of its first row; see standsFor. */
const classTotal =
  '(members + CASE WHEN min(turn) OVER (PARTITION BY cell_x, cell_y, svc_class) = 1 THEN count(*) FILTER (shown = 0) OVER (PARTITION BY cell_x, cell_y) ELSE 0 END)'

async function tileOf(
  { source, projection }: BlockQuery,
  statement: Sql,
  columns: BlockQuery['columns'],
  work: BlockWork,
): Promise<{ made: MadeTile; isWhole: boolean }> {
  const { blocks, isWhole } = await readBlocks(source.connection, statement, work)
  return { made: await work.make({ blocks }, columns, projection), isWhole }
}

function countOf(query: BlockQuery, work: BlockWork, part: Sql = raw('')): Promise<number> {
  const { source, values } = query
  const { from, condition } = query.inTile()
  const statement = sql`SELECT count(${values[0] ?? raw('*')}) AS n FROM ${from} AS q WHERE ${condition}${part}`
  return numberOf(source.connection, statement, work)
}

async function estimateOf(query: BlockQuery, { drawn }: ZoomThinning, work: RuleWork): Promise<number> {
  const rows = await countOf(query, work, sql` AND ${query.rank} < ${whole(drawn)}`)
  return Math.round((rows * ranks) / drawn)
}
