import type { IncomingHttpHeaders } from 'node:http'
import Type from 'typebox'
import { noQuery } from '../../../api/http/input/query-string.ts'
import type { Operation } from '../../../api/http/operation.ts'
import { whenReady } from '../../../kernel/concurrency/when-ready.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { checkTile } from './check-tile.ts'
import { serveReadyTile, serveTile } from './serve-tile.ts'
import { described } from './tile-answer.ts'
import { tileJson } from './tile-json.ts'
import { cacheParameters, readExtension, readTile, type TileRequest, variesAddressOnly } from './tile-request.ts'
import { operation, type TileServices } from './tile-services.ts'

const cacheQuery = Type.Object(cacheParameters)

type Params = Readonly<Record<'z' | 'x' | 'y' | 'ext', string>>

/** Not geojson: it would be made of the tile in a thread, and this is for people without a key. */
const basemapForms = ['mvt', 'pbf'] as const

function readRequest(loadedSource: LoadedTileSource, params: Params, headers: IncomingHttpHeaders): TileRequest {
  const address = { tile: readTile(params), extension: readExtension(params.ext) }
  checkTile(loadedSource, address, basemapForms)
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
    query: cacheQuery,
    isTile: true,
    success: {
      status: 200,
      description: 'The tile; 204 when there is nothing in it',
      contentType: 'application/vnd.mapbox-vector-tile',
    },
    failures: [204, 304],
    handle(context, { params }) {
      const { basemap, readThrough } = context.services.tiles
      return whenReady(basemap.get(), (loadedSource) =>
        serveTile(readThrough, loadedSource, readRequest(loadedSource, params, context.request.headers), context),
      )
    },
    answerNow({ services: { tiles }, tree, headers }, params) {
      const loadedSource = tiles.basemap.get()
      if (loadedSource instanceof Promise || !variesAddressOnly(tree)) return undefined
      return serveReadyTile(tiles.readThrough, loadedSource, readRequest(loadedSource, params, headers), { headers })
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
      return described(request, tileJson(await services.tiles.basemap.get(), links, ''), {
        'cache-control': 'no-cache',
      })
    },
  }),
]
