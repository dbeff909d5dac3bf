import type { Params } from '../crud.ts'
import { queryString } from '../query-string.ts'
import { type Path, path } from '../request.ts'
import type { Send, Sender } from '../send.ts'
import type { Session } from '../session.ts'
import type { JsonObject, TileParams, TileSetParams } from '../types.ts'

/** A dataset's own parameters go into the address like the declared ones. */
type Own = { readonly [name: string]: unknown }
/** `apiKey` goes into the address, for readers that cannot send a header. */
type AddressParams<Declared = unknown> = Declared & Own & { readonly apiKey?: string }

export interface TileCoordinates {
  readonly z: number
  readonly x: number
  readonly y: number
  /** `mvt` unless given; the images of an archive are png, jpg, webp or avif. */
  readonly ext?: string
}

/** Without coordinates it is the template that map libraries fill in. */
type TileTemplate = Partial<TileCoordinates>

function address({ url }: Session, at: Path, { apiKey, ...query }: AddressParams = {}): string {
  return url + at() + queryString({ ...query, 'api-key': apiKey })
}

const tilePath = (id: string, { z, x, y, ext = 'mvt' }: TileCoordinates): Path =>
  path`/tiles/${id}/${z}/${x}/${y}.${ext}`

/** Tiles of tile sources and datasets; `basemap` is the id of the map of the world that comes with the server. */
export const tilesGroup = ({ json: send, bytes }: { json: Send; bytes: Sender['bytes'] }, session: Session) => ({
  /** The address of the TileJSON: what a source of MapLibre takes as its `url`. */
  url: (id: string, params?: AddressParams<TileSetParams>) => address(session, path`/tiles/${id}/index.json`, params),
  /** The address of a tile, or the template of all. */
  tileUrl(id: string, tile: TileTemplate = {}, params?: AddressParams<TileParams>): string {
    const { z = '{z}', x = '{x}', y = '{y}', ext = 'mvt' } = tile
    return address(session, () => `${path`/tiles/${id}`()}/${z}/${x}/${y}.${ext}`, params)
  },
  describe: <T = JsonObject>(id: string, params?: Params<TileSetParams & Own>) =>
    send<T>('GET', path`/tiles/${id}/index.json`, params),
  /** The bytes of a tile; null where there is nothing in it. */
  get: (id: string, tile: TileCoordinates, params?: Params<TileParams & Own>) => bytes(tilePath(id, tile), params),
  /** A style that shows the tiles. */
  style: <T = JsonObject>(id: string, params?: Params<TileSetParams & Own>) =>
    send<T>('GET', path`/tiles/${id}/style.json`, params),
})

/** Styles as MapLibre reads them. */
export const mapsGroup = (send: Send, session: Session) => ({
  /** The address of a style: what a map of MapLibre takes as its `style`. */
  url: (id: string, params?: { readonly apiKey?: string }) => address(session, path`/maps/${id}.json`, params),
  style: <T = JsonObject>(id: string, params?: Params) => send<T>('GET', path`/maps/${id}.json`, params),
  /** The fonts that styles may name. */
  fonts: (params?: Params) => send<string[]>('GET', path`/fonts.json`, params, { isPublic: true }),
})
