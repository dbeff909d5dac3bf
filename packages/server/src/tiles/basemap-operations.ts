import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ApiError } from '../errors.ts'
import { type Operation, operation } from '../http/operation.ts'
import type { Known, TileArchives } from './known-sources.ts'
import { serveTile } from './serve-tile.ts'
import type { ServedTiles } from './served-tiles.ts'
import { described } from './tile-answer.ts'
import { tileJson } from './tile-json.ts'
import { cacheParameters, readTile } from './tile-request.ts'

/** The application that the base map belongs to: none. */
export const nobody = ''
const cacheQuery = Type.Object(cacheParameters)
const uri = 'pmtiles://basemap.pmtiles'

export type BasemapDependencies = {
  archiveInfo: TileArchives
  served: ServedTiles
  baseUrl(request: FastifyRequest): string
}

/** The map of the world that comes with the service. It is for everybody, like the fonts. */
export function basemapOperations({ archiveInfo, served, baseUrl }: BasemapDependencies): Operation[] {
  const learn = async (): Promise<Known> => {
    const archive = await archiveInfo.info(nobody, uri)
    const { minZoom, maxZoom, bounds, attribution = '' } = archive
    return {
      source: {
        id: 'basemap',
        applicationId: nobody,
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
  return [
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
        const known = await learn()
        if (params.ext !== 'mvt' && params.ext !== 'pbf')
          throw new ApiError('not_found', 'The base map has only mvt and pbf tiles.')
        const { minZoom, maxZoom } = known.source
        if (tile.z < minZoom || tile.z > maxZoom)
          throw new ApiError('not_found', `There are tiles from zoom ${minZoom} to ${maxZoom}.`)
        const accept = context.request.headers['accept-encoding']
        return serveTile(served, known, { tile, extension: params.ext, parameters: {}, tree: {}, accept }, context)
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
      // Its tiles' addresses hold their version, so it is asked for again each time.
      handle: async ({ request }) =>
        described(request, tileJson(await learn(), { base: baseUrl(request) }, ''), { 'cache-control': 'no-cache' }),
    }),
  ]
}
