import type { Params } from '../crud.ts'
import { queryString } from '../query-string.ts'
import { type Path, path } from '../request.ts'
import type { Send, Sender } from '../send.ts'
import type { Session } from '../session.ts'
import type { JsonObject, TileParams, TileSetParams } from '../types.ts'

/** A dataset's own parameters go into the URL like the declared ones. */
type DatasetParams = { readonly [name: string]: unknown }
/** `apiKey` goes into the URL, for programs that cannot send a header. */
type AddressParams<Declared = unknown> = Declared & DatasetParams & { readonly apiKey?: string }

export interface TileCoordinates {
  readonly z: number
  readonly x: number
  readonly y: number
  /** The file extension; images of an archive are png, jpg, webp or avif. @defaultValue `mvt` */
  readonly ext?: string
}

/** Without coordinates, the URL template that map libraries fill in. */
type TileTemplate = Partial<TileCoordinates>

function address({ url }: Session, at: Path, { apiKey, ...query }: AddressParams = {}): string {
  return url + at() + queryString({ ...query, 'api-key': apiKey })
}

const tilePath = (id: string, { z, x, y, ext = 'mvt' }: TileCoordinates): Path =>
  path`/tiles/${id}/${z}/${x}/${y}.${ext}`

/** Tiles of tile sources and datasets. The server's built-in base map has the id `basemap`. */
export const tilesGroup = ({ json: send, bytes }: { json: Send; bytes: Sender['bytes'] }, session: Session) => ({
  /** The URL of the TileJSON, for the `url` of a MapLibre source. */
  url: (id: string, params?: AddressParams<TileSetParams>) => address(session, path`/tiles/${id}/index.json`, params),
  /** The URL of a tile, or the URL template of all tiles. */
  tileUrl(id: string, tile: TileTemplate = {}, params?: AddressParams<TileParams>): string {
    const { z = '{z}', x = '{x}', y = '{y}', ext = 'mvt' } = tile
    return address(session, () => `${path`/tiles/${id}`()}/${z}/${x}/${y}.${ext}`, params)
  },
  describe: <T = JsonObject>(id: string, params?: Params<TileSetParams & DatasetParams>) =>
    send<T>('GET', path`/tiles/${id}/index.json`, params),
  /** The bytes of a tile; null if the tile is empty. */
  get: (id: string, tile: TileCoordinates, params?: Params<TileParams & DatasetParams>) =>
    bytes(tilePath(id, tile), params),
  /** A generated style that shows the tiles. */
  style: <T = JsonObject>(id: string, params?: Params<TileSetParams & DatasetParams>) =>
    send<T>('GET', path`/tiles/${id}/style.json`, params),
})

/** Styles in MapLibre's format. */
export const mapsGroup = (send: Send, session: Session) => ({
  /** The URL of a style, for the `style` of a MapLibre map. */
  url: (id: string, params?: { readonly apiKey?: string }) => address(session, path`/maps/${id}.json`, params),
  style: <T = JsonObject>(id: string, params?: Params) => send<T>('GET', path`/maps/${id}.json`, params),
  /** The names of the fonts that styles can use. */
  fonts: (params?: Params) => send<string[]>('GET', path`/fonts.json`, params, { isPublic: true }),
})
