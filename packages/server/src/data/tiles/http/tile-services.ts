/** The services that tile operations use. */
import type { FastifyRequest } from 'fastify'
import { operationUsing } from '../../../api/http/operation.ts'
import type { BaseServices } from '../../../api/resource/resource.ts'
import { createCellCounting } from '../aggregate/cell-answers.ts'
import { createCellTables } from '../aggregate/cell-tables.ts'
import { type Basemap, type BasemapOptions, createBasemap } from '../basemap/basemap.ts'
import type { TileUse } from '../cache/pending-slots.ts'
import { createReadThroughCache, type ReadThroughCache } from '../cache/read-through-cache.ts'
import { createRowCache } from '../cache/row-cache.ts'
import type { TileBudget } from '../source/tile-budget.ts'
import { createTileSourceCache, type TileSourceCache } from '../source/tile-source-cache.ts'
import type { TileMakers, TileSourceContext } from '../source/tile-source-type.ts'
import type { Tiling } from '../tiling.ts'

/** Makes tiles and caches their sources. */
export type Tiles = TileMakers & {
  readonly context: TileSourceContext
  readonly sources: TileSourceCache
  readonly basemap: Basemap
  readonly readThrough: ReadThroughCache
}

export type TileServices = {
  readonly tiles: Tiles
  /** The base URL that the client uses. */
  baseUrl(request: FastifyRequest): string
}

export const operation = operationUsing<TileServices>()

export type TilesOptions = {
  tiling: Tiling
  budget: TileBudget
  use: TileUse | undefined
  basemap: Omit<BasemapOptions, 'archives'>
}

/** What makes tiles, and counts rows by cell for queries. */
export const openTiles = (services: BaseServices, options: TilesOptions) => ({
  tiles: createTiles(services, options),
  cells: createCellCounting(options.tiling.workers),
})

function createTiles(services: BaseServices, { tiling, budget, use, ...options }: TilesOptions): Tiles {
  const { context, archives, workers, cache } = tiling
  const makers = {
    data: context.data,
    workers,
    budget,
    rowCache: createRowCache(),
    cellTables: createCellTables(),
    densest: tiling.densest,
    archives,
  }
  const sources = createTileSourceCache(services, context)
  const basemap = createBasemap({ ...options.basemap, archives: context.archives })
  return { ...makers, context, sources, basemap, readThrough: createReadThroughCache({ ...makers, cache, use }) }
}
