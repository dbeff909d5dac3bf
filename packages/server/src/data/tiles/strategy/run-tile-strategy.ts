// Runs the strategies of tile-strategy.ts that query a database.
import type { Sql } from '../../../kernel/db/sql.ts'
import { blame } from '../../../query/execution/connection.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import type { Coordinates, Tile } from '../mvt/projection.ts'
import { overviewRank, weight } from '../overviews/overview.ts'
import type { TileData } from '../source/tile-source-type.ts'
import { clusterColumns, clusterSql } from '../sql/cluster-sql.ts'
import { sampleSql } from '../sql/sample-sql.ts'
import type { SelectedColumn } from '../sql/tile-columns.ts'
import { roughTotalOf, sqlRows, totalOf } from '../sql/tile-rows.ts'
import { bySize, coordinatesOf, type TileQuery, tileMargin, tileSql } from '../sql/tile-sql.ts'
import { hasCells } from '../thinning/corners-sql.ts'
import { countedAs, thinnedSql } from '../thinning/thinned-sql.ts'
import type { MadeTile, TileRows } from '../workers/tile-job.ts'
import { projectionFallback } from './projection-fallback.ts'
import { nextStrategy, type ThinningChoice, type TileStrategy } from './tile-strategy.ts'

/** Encodes rows with these columns after the geometry. */
export type MakeTile = (
  rows: TileRows,
  columns: readonly SelectedColumn[],
  projection: Coordinates | { readonly definitions: Definitions },
) => Promise<MadeTile>

/** What the strategies that query a database need. */
export type SqlWork = {
  readonly inSql: NonNullable<TileData['inSql']>
  /** On the table. */
  readonly query: TileQuery
  /** On the overview, if it has this tile, and where it is. */
  readonly overview: Pick<SqlWork, 'inSql' | 'query'> | undefined
  readonly make: MakeTile
  readonly shown: number
  /** The caller's limit is not above what the tile shows. */
  readonly isLimited: boolean
  /** Every row whose box touches the tile is drawn in it, so counts are exact. */
  readonly isSure: boolean
  readonly signal: AbortSignal
}

export type StrategyResult = {
  readonly made: MadeTile
  readonly columns: readonly SelectedColumn[]
  /** Features in the tile and in the data. */
  readonly features: string
  readonly statement?: Sql
  readonly repeat?: RepeatableTile
  /** Where the statement ran, if not where the table is. */
  readonly inSql?: SqlWork['inSql']
}

/** How other tiles of the zoom are made, as long as they are small. */
export type RepeatableTile = {
  readonly inSql: SqlWork['inSql']
  readonly columns: readonly SelectedColumn[]
  readonly projection: Coordinates
  statementFor(tile: Tile): Sql
  /** Undefined if the tile turns out to be made otherwise. */
  featuresOf(made: MadeTile): string | undefined
}

/** Runs the strategy and, after a failure, its fallback if there is one. */
export async function runInSql(strategy: TileStrategy, work: SqlWork): Promise<StrategyResult> {
  const { inSql, query, signal } = work
  try {
    return await run(strategy, work)
  } catch (error) {
    const findProjection = () => projectionFallback(inSql, query, tileMargin, signal)
    const next = await nextStrategy(strategy, error, findProjection)
    const { connection } = strategy.from === 'overview' ? (work.overview?.inSql ?? inSql) : inSql
    if (!next) return blame(connection)(error)
    const { repeat: _, ...result } = await runInSql(next, work)
    return result
  }
}

function run(strategy: TileStrategy, work: SqlWork): Promise<StrategyResult> {
  const { query } = work
  if (strategy.from === 'overview') return overviewTile(strategy, work)
  if (strategy.from === 'thinned') return thinnedTile(strategy.thinning, work)
  if (strategy.from !== 'table') throw new Error('The rows are in a database')
  const { clusterWidth, projection } = strategy
  if (clusterWidth !== undefined) return summedTile(query, clusterWidth, work)
  return rowTile(projection ? { ...query, fallback: projection } : query, work)
}

/** There are more rows than the tile shows. */
const isCut = (made: MadeTile, shown: number): boolean => made.shown + made.refused > shown || made.seen > shown

/** One feature per row. If there are too many, a second query selects the largest, which takes longer. */
async function rowTile(query: TileQuery, work: SqlWork): Promise<StrategyResult> {
  const { inSql, make, shown, isLimited, isSure, signal } = work
  const { columns } = query
  const coordinates = coordinatesOf(query.geometry)
  const projection = query.fallback ?? coordinates
  const first = tileSql(query)
  const made = await make(await sqlRows(inSql, first, columns, signal), columns, projection)
  if (!isCut(made, shown)) {
    const repeat: RepeatableTile = {
      inSql,
      columns,
      projection: coordinates,
      statementFor: (tile) => tileSql({ ...query, tile }),
      featuresOf: (other) => (isCut(other, shown) ? undefined : counted(other, isSure)),
    }
    return { made, columns, statement: first, features: counted(made, isSure), ...(!query.fallback && { repeat }) }
  }
  const total = await roughTotalOf(inSql, query, signal)
  const isExact = total.isCounted && isSure
  const counts = (best: MadeTile): string => featuresText(best.shown, { rows: total.rows, isExact })
  if (query.isPoint || isLimited) return { made, columns, statement: first, features: counts(made) }
  const second = tileSql({ ...query, order: [bySize(query.geometry), ...query.order] })
  const best = await make(await sqlRows(inSql, second, columns, signal), columns, projection)
  return { made: best, columns, statement: second, features: counts(best) }
}

/**
 * What the features stand for is a column of theirs, so nothing else has to be counted. Rows of one page of the table may have the same rank: which
 * of them come first depends on the plan, so each tile is planned by itself.
 */
async function thinnedTile(thinning: ThinningChoice, work: SqlWork): Promise<StrategyResult> {
  const { query } = work
  const { rate, cellBits, read } = thinning
  const sample = { rate, cellBits, isByIndex: read === 'some' }
  const { repeat: _, ...result } = await countedTile({
    ...work,
    isExact: read === 'all' && hasCells(query, thinning.isPoint),
    statementFor: () => (read === 'all' ? thinnedSql(query, thinning) : sampleSql(query, sample)),
  })
  return result
}

type CountedWork = SqlWork & Pick<RepeatableTile, 'statementFor'> & { readonly isExact: boolean }

async function countedTile({
  inSql,
  query,
  make,
  signal,
  isExact,
  statementFor,
}: CountedWork): Promise<StrategyResult> {
  const columns = [...query.columns, countedAs(weight)]
  const projection = coordinatesOf(query.geometry)
  const statement = statementFor(query.tile)
  const made = await make(await sqlRows(inSql, statement, columns, signal), columns, projection)
  const featuresOf = ({ shown, rows }: MadeTile): string => featuresText(shown, { rows, isExact })
  const repeat = { inSql, columns, projection, statementFor, featuresOf }
  return { made, columns, statement, features: featuresOf(made), repeat }
}

/** The overview may be in another database than the table. */
async function overviewTile(
  { clusterWidth, thinning }: Extract<TileStrategy, { from: 'overview' }>,
  work: SqlWork,
): Promise<StrategyResult> {
  const there = work.overview ?? work
  const { inSql, query } = there
  const inOverview = { ...work, ...there }
  if (clusterWidth !== undefined || !thinning) return { ...(await summedTile(query, clusterWidth, inOverview)), inSql }
  // A caller's limit takes the first rows, and all are counted.
  if (work.isLimited) {
    const columns = [...query.columns, countedAs(weight)]
    return { ...(await summedTile({ ...query, columns }, undefined, inOverview)), inSql }
  }
  const counted = { ...query, columns: [...query.columns, countedAs(weight)] }
  const own = { ...thinning, rank: overviewRank }
  const statementFor = (tile: Tile): Sql =>
    thinning.isBelowOverview ? thinnedSql({ ...query, tile }, own) : tileSql({ ...counted, tile })
  return { ...(await countedTile({ ...inOverview, isExact: true, statementFor })), inSql }
}

/** Features that may stand for many rows, so the rows are counted separately. */
async function summedTile(query: TileQuery, clusterWidth: number | undefined, work: SqlWork): Promise<StrategyResult> {
  const { inSql, make, isSure, signal } = work
  const isClustered = clusterWidth !== undefined
  const columns = isClustered ? clusterColumns(query.columns) : query.columns
  const statement = isClustered ? clusterSql(query, clusterWidth) : tileSql(query)
  const projection = isClustered ? 'mercator' : coordinatesOf(query.geometry)
  const [made, rows] = await Promise.all([
    sqlRows(inSql, statement, columns, signal).then((tileRows) => make(tileRows, columns, projection)),
    totalOf(inSql, query, signal),
  ])
  return { made, columns, statement, features: featuresText(made.shown, { rows, isExact: isSure }) }
}

/** Refused rows were not tested against the tile, so the count is exact only if there are none or all rows are sure. */
export const counted = ({ shown, refused }: MadeTile, isSure: boolean): string =>
  featuresText(shown, { rows: shown + refused, isExact: isSure || refused === 0 })

export const featuresText = (shown: number, { rows, isExact }: { rows: number; isExact: boolean }): string =>
  `${shown}/${isExact ? '' : '~'}${Math.max(rows, shown)}`
