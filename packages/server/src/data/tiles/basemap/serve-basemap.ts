// Chooses between the bundled world and the streets, tile by tile.

import type { Answer } from '../../../api/http/operation.ts'
import { ApiError, type ErrorCode } from '../../../kernel/errors.ts'
import { world as wholeWorld } from '../archives/description.ts'
import type { ReadThroughCache } from '../cache/read-through-cache.ts'
import { serveReadyTile, serveTile } from '../http/serve-tile.ts'
import type { TileRequest } from '../http/tile-request.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import type { ShownBasemap } from './basemap.ts'
import { isWorldwide } from './street-tiles.ts'

type Context = Parameters<typeof serveTile>[3]

/** What the TileJSON describes: all zooms, and the whole world, which the bundled tiles fill. */
export function describedBasemap({ world, streets }: ShownBasemap): LoadedTileSource {
  if (!streets) return world
  const { tiles } = streets
  if (isWorldwide(tiles)) return tiles
  const attribution = [tiles.source.attribution, world.source.attribution].filter((text) => text !== '').join(' ')
  return { ...tiles, source: { ...tiles.source, attribution, extentLngLat: wholeWorld } }
}

export function serveBasemap(
  readThrough: ReadThroughCache,
  shown: ShownBasemap,
  request: TileRequest,
  context: Context,
): Answer | Promise<Answer> {
  const { world, streets } = shown
  const isOfWorld = worldOf(shown, request)
  if (!streets || isOfWorld) return serveTile(readThrough, isOfWorld ?? world, request, context)
  return serveStreets(readThrough, { world, streets }, request, context)
}

/** Nothing if the tile has to be fetched. */
export function serveReadyBasemap(
  readThrough: ReadThroughCache,
  shown: ShownBasemap,
  request: TileRequest,
  conditions: Parameters<typeof serveReadyTile>[3],
): Answer | undefined {
  const world = worldOf(shown, request)
  return world && serveReadyTile(readThrough, world, request, conditions)
}

/** The bundled world below streets: the addresses of tiles name the version of the streets, caches must not take one for the other. */
const below = (world: LoadedTileSource, { version }: LoadedTileSource): LoadedTileSource => ({
  ...world,
  version,
  source: { ...world.source, id: 'basemap-below' },
})

/** The bundled world, where it is what this tile shows. */
function worldOf({ world, streets }: ShownBasemap, { tile: { z } }: TileRequest): LoadedTileSource | undefined {
  if (!streets) return world
  const isItsZoom = z <= world.source.maxZoom && (!isWorldwide(streets.tiles) || streets.isDown())
  return isItsZoom ? below(world, streets.tiles) : undefined
}

async function serveStreets(
  readThrough: ReadThroughCache,
  { world, streets }: Required<ShownBasemap>,
  request: TileRequest,
  context: Context,
): Promise<Answer> {
  const answer = streets.isDown() ? undefined : await tileOfStreets()
  if (answer && answer.status !== 204) return answer
  if (request.tile.z > world.source.maxZoom) throw noTile()
  return serveTile(readThrough, below(world, streets.tiles), request, context)

  async function tileOfStreets(): Promise<Answer | undefined> {
    try {
      const found = await serveTile(readThrough, streets.tiles, request, context)
      streets.noteTile()
      return found
    } catch (error) {
      if (context.signal.aborted || !isOfServer(error)) throw error
      streets.noteTile(error)
      return undefined
    }
  }
}

/** Refusals of this server, such as too many tiles at once, are no fault of the other. */
const refusalsOfServer: readonly string[] = ['busy', 'client_left', 'shutting_down'] satisfies ErrorCode[]
const isOfServer = (error: unknown): boolean => !(error instanceof ApiError) || !refusalsOfServer.includes(error.code)

/** MapLibre draws the tile above where there is none, but only where the answer is 404. */
const noTile = (): ApiError => new ApiError('not_found', 'There is no tile here; the one above shows this place.')
