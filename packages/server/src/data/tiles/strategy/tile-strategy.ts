// Chooses how a dataset's tile is made.
import { ApiError } from '../../../kernel/errors.ts'
import { overviewFringe } from '../overviews/overview.ts'
import type { TileSettings } from '../source/tile-settings.ts'
import type { PageSample } from '../sql/sample-sql.ts'
import type { ProjectionFallback } from '../sql/tile-sql.ts'
import { isTransformFault } from './projection-fallback.ts'

/** A strategy is chosen from facts alone, before any row is read. */
export type TileStrategy =
  /** The source has no SQL: all rows are read, and those of the tile are selected here. */
  | { readonly from: 'memory' }
  /** An engine without PostGIS selects the rows and sends them unchanged: they are projected and clipped here. */
  | { readonly from: 'blocks' }
  /** Fewer, precomputed rows, each standing for many. */
  | { readonly from: 'overview'; readonly clusterWidth?: number }
  | CrowdStrategy
  /** The rows themselves. With a `projection` they are transformed here, because the database cannot. */
  | { readonly from: 'table'; readonly clusterWidth?: number; readonly projection?: ProjectionFallback }

/** How a tile is made that has far more rows than it shows. `rows` is the planner's estimate, `most` the number shown. */
export type CrowdStrategy = { readonly rows: number; readonly most: number } & (
  | ({ readonly from: 'sample' } & PageSample)
  /** The largest shapes, without trying all of them first. */
  | { readonly from: 'largest' }
)

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
 * A cluster's width in tiles: a multiple of an overview's cells, so that clusters are the same with and without
 * overview.
 */
function clusterWidthOf({ cluster, geometryType, zoom }: TileFacts): number | undefined {
  if (!cluster || geometryType !== 'point' || zoom > cluster.maxZoom) return undefined
  return Math.max(1, Math.round((cluster.radius ?? 40) / 4)) / 128
}

/** The fallback after a failure. `findProjection` tells how rows can be transformed outside the database, if at all. */
export async function nextStrategy(
  strategy: TileStrategy,
  error: unknown,
  findProjection: () => Promise<ProjectionFallback | undefined>,
): Promise<TileStrategy | undefined> {
  const isRefused = error instanceof ApiError && /^(invalid_request|conflict)$/.test(error.code)
  // The overview was just replaced by one without this zoom.
  if (strategy.from === 'overview') return isRefused ? { ...strategy, from: 'table' } : undefined
  // An old server, or one that only speaks PostgreSQL's protocol, may have no samples.
  if (strategy.from === 'sample' || strategy.from === 'largest') return isRefused ? { from: 'table' } : undefined
  if (strategy.from !== 'table' || strategy.projection || !isTransformFault(error)) return undefined
  // Drops only rows that cannot be placed. No clusters, because those are made in the database.
  const projection = await findProjection()
  return projection && { from: 'table', projection }
}
