// An LRU cache of tiles, fair between applications.
import type { Compression } from '../../../api/http/answers/compression.ts'
import { createFairLruCache } from './fair-lru-cache.ts'

/** A cached tile: its bytes in each requested form. */
export type CachedTile = {
  /** Grows as more forms are made. */
  readonly forms: Map<Compression, Uint8Array>
  /** The ETag of the uncompressed tile; those of the other forms are derived from it. */
  readonly etag: string
  /** `shown/total`; absent if nothing was counted. */
  readonly features?: string
}

/** Recently used tiles. When space is needed, the application that uses most loses its oldest. */
export type TileCache = {
  get(owner: string, key: string): CachedTile | undefined
  put(owner: string, key: string, tile: CachedTile): void
  /** Updates the size of a cached tile that got another form. */
  grow(owner: string, key: string): void
  readonly bytes: number
}

type Shared = { readonly source: { readonly applicationId: string }; readonly isNarrowed?: boolean }

/** Who loses tiles when space is needed. Those by rules are as many as callers have values, so they push out none that all callers share. */
export const shareOf = ({ source, isNarrowed }: Shared): string =>
  isNarrowed ? `${source.applicationId} by rules` : source.applicationId

export function formsOf(
  { bytes, compressed }: { bytes: Uint8Array; compressed?: Uint8Array },
  compression: Compression,
): Map<Compression, Uint8Array> {
  // Keeps only the compressed form to save memory; the plain one can be decompressed from it.
  return compressed ? new Map([[compression, compressed]]) : new Map([['identity', bytes]])
}

/** Bytes of the key, the record and the maps of an entry. */
const overhead = 500

export function createTileCache(maxBytes: number): TileCache {
  const tiles = createFairLruCache<CachedTile>(maxBytes)
  const put: TileCache['put'] = (owner, key, tile) => tiles.put(owner, key, tile, sizeOf(key, tile))
  return {
    get: tiles.get,
    put,
    grow(owner, key) {
      const tile = tiles.get(owner, key)
      if (tile) put(owner, key, tile)
    },
    get bytes() {
      return tiles.bytes
    },
  }
}

function sizeOf(key: string, { forms }: CachedTile): number {
  let bytes = overhead + 2 * key.length
  for (const form of forms.values()) bytes += form.byteLength
  return bytes
}
