// Chooses how a dataset's tile is made.
import { ApiError } from '../../../kernel/errors.ts'
import { overviewFringe } from '../overviews/overview.ts'
import type { TileSettings } from '../source/tile-settings.ts'
import type { ProjectionFallback } from '../sql/tile-sql.ts'
import type { Thinned } from '../thinning/thinned-sql.ts'
import { cellBits } from '../thinning/thinning-rule.ts'
import { isTransformFault } from './projection-fallback.ts'

const tilePixels = 512

/** A strategy is chosen from facts alone, before any row is read. */
export type TileStrategy =
  /** The source has no SQL: all rows are read, and those of the tile are selected here. */
  | { readonly from: 'memory' }
  /** An engine without PostGIS selects the rows and sends them unchanged: they are projected and clipped here. */
  | { readonly from: 'blocks' }
  /** Fewer, precomputed rows, each standing for many. */
  | { readonly from: 'overview'; readonly clusterWidth?: number; readonly thinning?: ThinningChoice }
  /** The rows that a thinned zoom shows; see thinning/thinning-rule.ts. */
  | { readonly from: 'thinned'; readonly thinning: ThinningChoice }
  /** The rows themselves. With a `projection` they are transformed here, because the database cannot. */
  | { readonly from: 'table'; readonly clusterWidth?: number; readonly projection?: ProjectionFallback }

/** How a zoom is thinned, and how its rows are found: all of the tile are read, or some by index or by pages of the table. */
export type ThinningChoice = Thinned & {
  readonly read: 'all' | 'some' | 'pages'
  /** The overview is thinned less: for a tile source with smaller budgets than usual. */
  readonly isBelowOverview?: boolean
}

export type TileFacts = {
  /** The data can be queried in PostGIS. */
  readonly isInSql: boolean
  /** An engine sends row blocks and can test the whole filter. */
  readonly isInBlocks: boolean
  readonly isFiltered: boolean
  /** There is an overview of this tile. */
  readonly hasOverview: boolean
  readonly geometryType: string
  readonly zoom: number
  readonly cluster: TileSettings['cluster']
}

export function chooseStrategy(facts: TileFacts): TileStrategy {
  if (!facts.isInSql) return { from: facts.isInBlocks ? 'blocks' : 'memory' }
  const clusterWidth = clusterWidthOf(facts)
  const clusters = clusterWidth === undefined ? {} : { clusterWidth }
  // A filter needs the rows themselves. A wide cluster needs rows from further around the tile than an overview has.
  const canThin = facts.hasOverview && !facts.isFiltered && (clusterWidth ?? 0) <= overviewFringe
  return { from: canThin ? 'overview' : 'table', ...clusters }
}

/**
 * A cluster's width in tiles: a multiple of the cells in which an overview counts rows, so that clusters have the same rows with
 * and without overview.
 */
function clusterWidthOf({ cluster, geometryType, zoom }: TileFacts): number | undefined {
  if (!cluster || geometryType !== 'point' || zoom > cluster.maxZoom) return undefined
  const cells = 2 ** cellBits
  return Math.max(1, Math.round(((cluster.radius ?? 40) * cells) / tilePixels)) / cells
}

/** The fallback after a failure. `findProjection` tells how rows can be transformed outside the database, if at all. */
export async function nextStrategy(
  strategy: TileStrategy,
  error: unknown,
  findProjection: () => Promise<ProjectionFallback | undefined>,
): Promise<TileStrategy | undefined> {
  const isRefused = error instanceof ApiError && /^(invalid_request|conflict)$/.test(error.code)
  // The overview was just replaced by one without this zoom.
  if (strategy.from === 'overview' && isRefused) {
    const { thinning, ...rest } = strategy
    return thinning ? { from: 'thinned', thinning } : { ...rest, from: 'table' }
  }
  // An old server, or one that only speaks PostgreSQL's protocol, may have no samples, or no hash of a row's place.
  if (strategy.from === 'thinned') return isRefused ? { from: 'table' } : undefined
  if (strategy.from !== 'table' || strategy.projection || !isTransformFault(error)) return undefined
  // Drops only rows that cannot be placed. No clusters, because those are made in the database.
  const projection = await findProjection()
  return projection && { from: 'table', projection }
}
