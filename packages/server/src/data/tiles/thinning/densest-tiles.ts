// The loads of the densest tiles, measured once for all tiles of the same rows.
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import { untilAborted } from '../../../kernel/db/cursor.ts'
import type { TileLoad } from './thinning-rule.ts'

/** By zoom, the load of its densest tile. */
export type DensestTiles = readonly TileLoad[]

/** `key` changes with the rows. Whoever leaves does not end the measuring that others wait for. */
export type DensestTilesCache = {
  of(key: string, measure: () => Promise<DensestTiles>, signal: AbortSignal): Promise<DensestTiles>
}

const keptMs = 600_000

export function createDensestTiles(): DensestTilesCache {
  const known = createLoadingCache<DensestTiles>({ ttlMs: keptMs, max: 1_000 })
  return { of: (key, measure, signal) => untilAborted(known.get(key, measure), signal) }
}
