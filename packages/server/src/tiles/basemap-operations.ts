import Type from 'typebox'
import { ApiError } from '../errors.ts'
import type { Operation } from '../http/operation.ts'
import { serveTile } from './serve-tile.ts'
import { described } from './tile-answer.ts'
import { tileJson } from './tile-json.ts'
import { cacheParameters, readTile } from './tile-request.ts'
import { operation, type TileServices } from './tile-services.ts'
import type { LoadedTileSource } from './tile-source-type.ts'
import { builtInApplication } from './tiling.ts'

const cacheQuery = Type.Object(cacheParameters)
const uri = 'pmtiles://basemap.pmtiles'

async function learn({ tiles: { means } }: TileServices): Promise<LoadedTileSource> {
  const archive = await means.archives.info(builtInApplication, uri)
  const { minZoom, maxZoom, bounds, attribution = '' } = archive
  return {
    source: {
      id: 'basemap',
      applicationId: builtInApplication,
      type: 'tilelive',
      source: uri,
      name: '',
      attribution,
      minZoom,
      maxZoom,
      extentLngLat: bounds,
      headers: { 'cache-control': 'public, max-age=86400' },
      metadata: {},
    },
    archive,
    name: archive.name ?? 'World',
    version: archive.version,
  }
}

/** Operations of the built-in base map. Like the fonts, it is public. */
export const basemapOperations: readonly Operation<TileServices>[] = [
  operation({
    id: 'basemap.tile',
    method: 'GET',
    path: '/tiles/basemap/{z}/{x}/{y}.{ext}',
    summary: 'Get a tile of the base map',
    access: 'public',
    query: cacheQuery,
    success: {
      status: 200,
      description: 'The tile; 204 when there is nothing in it',
      contentType: 'application/vnd.mapbox-vector-tile',
    },
    failures: [204, 304],
    async handle(context, { params }) {
      const tile = readTile(params)
      const known = await learn(context.services)
      if (params.ext !== 'mvt' && params.ext !== 'pbf')
        throw new ApiError('not_found', 'The base map has only mvt and pbf tiles.')
      const { minZoom, maxZoom } = known.source
      if (tile.z < minZoom || tile.z > maxZoom)
        throw new ApiError('not_found', `There are tiles from zoom ${minZoom} to ${maxZoom}.`)
      const accept = context.request.headers['accept-encoding']
      return serveTile(
        context.services.tiles.readThrough,
        known,
        { tile, extension: params.ext, parameters: {}, tree: {}, accept },
        context,
      )
    },
  }),
  operation({
    id: 'basemap.describe',
    method: 'GET',
    path: '/tiles/basemap/index.json',
    summary: 'Get the TileJSON of the base map',
    access: 'public',
    query: cacheQuery,
    success: { status: 200, description: 'TileJSON 3.0.0', schema: Type.Unknown(), headers: ['ETag'] },
    failures: [304],
    // Clients must revalidate it, because it holds the URLs of the tiles, which contain their version.
    handle: async ({ request, services }) => {
      const links = { base: services.baseUrl(request) }
      return described(request, tileJson(await learn(services), links, ''), { 'cache-control': 'no-cache' })
    },
  }),
]
