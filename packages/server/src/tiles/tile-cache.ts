import { createShelves } from './shelves.ts'

/** What is kept of a tile: its bytes as they are sent, in each form that was asked for. */
export type CachedTile = {
  /** Grows as further forms are made. */
  readonly forms: Map<string, Uint8Array>
  /** Of the uncompressed tile; each form's own follows from it. */
  readonly etag: string
  /** `shown/total`; absent where nothing was counted. */
  readonly features?: string
}

/** The tiles used last, each application's among its own. */
export type TileCache = {
  get(owner: string, key: string): CachedTile | undefined
  put(owner: string, key: string, tile: CachedTile): void
  /** A form was added to a tile that is kept. */
  grow(owner: string, key: string): void
  readonly bytes: number
}

/** The key, the record and the maps around a tile. */
const overhead = 500

export function createTileCache(maxBytes: number): TileCache {
  const shelves = createShelves<CachedTile>(maxBytes)
  const put: TileCache['put'] = (owner, key, tile) => shelves.put(owner, key, tile, sizeOf(key, tile))
  return {
    get: shelves.get,
    put,
    grow(owner, key) {
      const tile = shelves.get(owner, key)
      if (tile) put(owner, key, tile)
    },
    get bytes() {
      return shelves.bytes
    },
  }
}

function sizeOf(key: string, { forms }: CachedTile): number {
  let bytes = overhead + 2 * key.length
  for (const form of forms.values()) bytes += form.byteLength
  return bytes
}
