/** The services that tile operations use. */
import type { FastifyRequest } from 'fastify'
import { operationUsing } from '../../../api/http/operation.ts'
import type { BaseServices } from '../../../api/resource/resource.ts'
import { createReadThroughCache, type ReadThroughCache, type TileUse } from '../cache/read-through-cache.ts'
import { createRowCache } from '../cache/row-cache.ts'
import { type Basemap, createBasemap } from '../source/basemap.ts'
import { createTileSourceCache, type TileSourceCache } from '../source/tile-source-cache.ts'
import type { TileBudget, TileMakers, TileSourceContext } from '../source/tile-source-type.ts'
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

export function createTiles(services: BaseServices, tiling: Tiling, budget: TileBudget, use?: TileUse): Tiles {
  const { context, archives, workers, cache } = tiling
  const makers = { data: context.data, workers, budget, rowCache: createRowCache(), archives }
  const sources = createTileSourceCache(services, context)
  const basemap = createBasemap(context.archives)
  return { ...makers, context, sources, basemap, readThrough: createReadThroughCache({ ...makers, cache, use }) }
}
