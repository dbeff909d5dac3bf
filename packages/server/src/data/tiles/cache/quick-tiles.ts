// Small tiles that are made without a promise (strategy/compiled-tiles.ts), once for all who ask at the same time.
import { chooseCompression, compressions } from '../../../api/http/answers/compression.ts'
import type { TileRequest } from '../http/tile-request.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { beginCompiled, compiledFor } from '../strategy/compiled-tiles.ts'
import type { SmallTiles } from '../workers/small-tiles.ts'
import { type CachedTile, shareOf, type TileCache } from './tile-cache.ts'

type TileListener = (tile: CachedTile | undefined) => void

type QuickTileOptions = {
  readonly cache: TileCache
  /** Names a tile in the cache. */
  keyOf(loaded: LoadedTileSource, request: TileRequest): string
  readonly small: Pick<SmallTiles, 'expects' | 'begin'>
  /** What gives the slot back, or nothing if there is none. */
  tryEnter(owner: string): (() => void) | undefined
}

export function createQuickTiles({ cache, small, keyOf, tryEnter }: QuickTileOptions) {
  const waiting = new Map<string, TileListener[]>()

  return {
    /** Undefined if the tile is not known to be like others; what is answered begins it, or says that there is no place now. */
    of(loaded: LoadedTileSource, request: TileRequest): ((heard: TileListener) => boolean) | undefined {
      const form = compiledFor(small, loaded, request)
      if (!form) return undefined
      const key = keyOf(loaded, request)
      const owner = loaded.source.applicationId
      const compression = chooseCompression(request.accept, compressions) ?? 'identity'
      return (heard) => {
        const others = waiting.get(key)
        if (others) return others.push(heard) > 0
        const leave = tryEnter(owner)
        if (!leave) return false
        const isBegun = beginCompiled(small, form, request, compression, (tile) => {
          leave()
          if (tile) cache.put(shareOf(loaded), key, tile)
          const all = waiting.get(key) ?? []
          waiting.delete(key)
          for (const each of all) each(tile)
        })
        if (isBegun) waiting.set(key, [heard])
        else leave()
        return isBegun
      }
    },
  }
}
