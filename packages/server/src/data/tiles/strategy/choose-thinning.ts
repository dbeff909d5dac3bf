// Chooses how a tile of a database's rows is thinned, before any row is read.
import type { DatasetLayer } from '../source/dataset-layer.ts'
import type { TileBudget } from '../source/tile-budget.ts'
import type { LoadedTileSource, TileData, TileMakers } from '../source/tile-source-type.ts'
import type { TileQuery } from '../sql/tile-sql.ts'
import { hasCells } from '../thinning/corners-sql.ts'
import { pagesOf, rowRank, sampleRank } from '../thinning/rank-sql.ts'
import { sampleOf } from '../thinning/sample-rows.ts'
import { cellBitsFor, chooseRates, rateAt, type ThinningBudget, thinningBudget } from '../thinning/thinning-rule.ts'
import type { ThinningChoice, TileStrategy } from './tile-strategy.ts'

/** More rows of a tile are sampled, and what they stand for is estimated; fewer are counted. */
const mostCounted = 40_000
/**
 * A larger table of the embedded database is soon drawn from its overview. Until then its tiles have fewer rows, since everybody waits
 * while they are read: of pages that were just written, each is read and written again.
 */
const sparing = { from: 100_000, part: 1 / 8 }
/** A smaller table fits into any tile. */
const leastRows = 1_000
/** Rows of a sample are read one after the other, which is faster than by index by about this factor. */
const sequential = 2

type Dense = {
  readonly inSql: NonNullable<TileData['inSql']>
  readonly query: TileQuery
  /** Of the tile source, whatever limit the caller gives. */
  readonly budget: TileBudget
  readonly isFiltered: boolean
  /** The caller wants fewer rows than the tile may show: the first ones. */
  readonly isLimited: boolean
}

type Services = Pick<TileMakers, 'densest'> & { readonly data: Pick<TileMakers['data'], 'table'> }
type Layered = { readonly layer: DatasetLayer; readonly overview: LoadedTileSource['overview'] }

/** The strategy with the thinning of its zoom. Clusters stand for their rows already. */
export async function withThinning(
  strategy: TileStrategy,
  services: Services,
  layered: Layered,
  dense: Dense,
): Promise<TileStrategy> {
  const isOverview = strategy.from === 'overview'
  if ((!isOverview && strategy.from !== 'table') || strategy.clusterWidth !== undefined) return strategy
  if (dense.isLimited && !isOverview) return strategy
  const thinning = await chooseThinning(services, layered, dense)
  if (!thinning) return strategy
  return isOverview ? { ...strategy, thinning } : { from: 'thinned', thinning }
}

/** Of a filter and the columns that are shown. */
const sampledRows = ({ dataset: { id, revision } }: DatasetLayer, { where, columns }: TileQuery) => ({
  key: JSON.stringify(['table', id, revision, where, columns.map(({ name }) => name)], exact),
  hasVersion: false,
})

/** JSON has no large integers. */
const exact = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

const partOf = ({ most, aim }: ThinningBudget, part: number): ThinningBudget => ({
  most: { rows: part * most.rows, bytes: part * most.bytes },
  aim: { rows: part * aim.rows, bytes: part * aim.bytes },
})

function thinOverview(
  { thinning: built, tableRank: rank }: NonNullable<LoadedTileSource['overview']>,
  limits: ThinningBudget,
  z: number,
  isPoint: boolean,
): ThinningChoice | undefined {
  const rate = Math.min(rateAt(built.rates, z), rateAt(chooseRates(built.densest, limits), z))
  if (rate === 1) return undefined
  const cellBits = Math.min(built.cellBits, cellBitsFor(built.densest, limits))
  const isBelowOverview = rate < rateAt(built.rates, z) || cellBits < built.cellBits
  return { rate, cellBits, rank, isPoint, read: 'all', isBelowOverview }
}

/** Undefined if the zoom shows all rows. */
async function chooseThinning(
  { data, densest }: Services,
  { overview, layer }: Layered,
  { inSql, query, budget, isFiltered }: Dense,
): Promise<ThinningChoice | undefined> {
  const { z } = query.tile
  const limits = thinningBudget(budget)
  // Multipoints have a size, and are in several cells.
  const isPoint = layer.geometryType === 'point'
  if (overview && !isFiltered) return thinOverview(overview, limits, z, isPoint)
  const table = await data.table(layer.dataset)
  if (!table || table.rows <= leastRows) return undefined
  const { loads, rowsIn } = await densest.of(sampledRows(layer, query), () =>
    sampleOf(table.rows, inSql, { ...query, isPoint }),
  )
  const part = !inSql.connection.server && !isFiltered && table.rows > sparing.from ? sparing.part : 1
  const spared = partOf(limits, part)
  const rate = rateAt(chooseRates(loads, spared), z)
  if (rate === 1) return undefined
  const cellBits = cellBitsFor(loads, spared)
  const thinned = { rate, cellBits, isPoint }
  const canSample = isPoint && !query.isWrapped && hasCells(query, isPoint) && table.rows > mostCounted
  // Rows of a page have a common rank in a sample of pages: where a table is stored by place they are shown in clumps.
  if (!canSample) return { ...thinned, rank: rowRank, read: 'all' }
  const sampled = { ...thinned, rank: sampleRank }
  const rows = rowsIn(query.tile)
  if (rows <= part * mostCounted) return { ...sampled, read: 'all' }
  const pages = pagesOf(rate) ?? 1
  const isByIndex = pages === 1 || pages * table.rows >= sequential * rows
  return { ...sampled, read: isByIndex ? 'some' : 'pages' }
}
