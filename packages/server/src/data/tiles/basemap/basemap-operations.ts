import type { IncomingHttpHeaders } from 'node:http'
import Type from 'typebox'
import { noQuery } from '../../../api/http/input/query-string.ts'
import type { Operation } from '../../../api/http/operation.ts'
import { whenReady } from '../../../kernel/concurrency/when-ready.ts'
import { checkTile } from '../http/check-tile.ts'
import { described } from '../http/tile-answer.ts'
import { tileJson } from '../http/tile-json.ts'
import { cacheParameters, readExtension, readTile, type TileRequest, variesAddressOnly } from '../http/tile-request.ts'
import { operation, type TileServices } from '../http/tile-services.ts'
import type { ShownBasemap } from './basemap.ts'
import { describedBasemap, serveBasemap, serveReadyBasemap } from './serve-basemap.ts'

const basemapQuery = Type.Object({
  application: Type.Optional(
    Type.String({ format: 'uuid', maxLength: 36, description: 'The base map of this application, if it has its own' }),
  ),
  ...cacheParameters,
})

type Params = Readonly<Record<'z' | 'x' | 'y' | 'ext', string>>

/** Not geojson: it would be made of the tile in a thread, and this is for people without a key. */
const basemapForms = ['mvt', 'pbf'] as const

function readRequest(shown: ShownBasemap, params: Params, headers: IncomingHttpHeaders): TileRequest {
  const address = { tile: readTile(params), extension: readExtension(params.ext) }
  checkTile(describedBasemap(shown), address, basemapForms)
  return { ...address, parameters: {}, tree: noQuery, accept: headers['accept-encoding'] }
}

/** Operations of the built-in base map. Like the fonts, it is public. */
export const basemapOperations: readonly Operation<TileServices>[] = [
  operation({
    id: 'basemap.tile',
    method: 'GET',
    path: '/tiles/basemap/{z}/{x}/{y}.{ext}',
    summary: 'Get a tile of the base map',
    access: 'public',
    query: basemapQuery,
    isTile: true,
    success: {
      status: 200,
      description: 'The tile; 204 when there is nothing in it',
      contentType: 'application/vnd.mapbox-vector-tile',
    },
    failures: [204, 304],
    handle(context, { params, query }) {
      const { basemap, readThrough } = context.services.tiles
      return whenReady(basemap.get(query.application), (shown) =>
        serveBasemap(readThrough, shown, readRequest(shown, params, context.request.headers), context),
      )
    },
    answerNow({ services: { tiles }, tree, headers }, params) {
      const shown = tiles.basemap.get()
      if (shown instanceof Promise || !variesAddressOnly(tree)) return undefined
      return serveReadyBasemap(tiles.readThrough, shown, readRequest(shown, params, headers), { headers })
    },
  }),
  operation({
    id: 'basemap.describe',
    method: 'GET',
    path: '/tiles/basemap/index.json',
    summary: 'Get the TileJSON of the base map',
    access: 'public',
    query: basemapQuery,
    success: { status: 200, description: 'TileJSON 3.0.0', schema: Type.Unknown(), headers: ['ETag'] },
    failures: [304],
    // Clients must revalidate it, because it holds the URLs of the tiles, which contain their version.
    async handle({ request, services }, { query: { application } }) {
      const shown = await services.tiles.basemap.get(application)
      const links = { base: services.baseUrl(request) }
      const extra = application === undefined ? '' : `application=${application}`
      return described(request, tileJson(describedBasemap(shown), links, extra), { 'cache-control': 'no-cache' })
    },
  }),
]
