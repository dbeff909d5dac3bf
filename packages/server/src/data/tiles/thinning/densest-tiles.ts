// What samples of rows tell of the densest tiles: taken once for all tiles of the same rows.
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import { untilAborted } from '../../../kernel/db/cursor.ts'
import type { TileLoad } from './thinning-rule.ts'

export type DensestTiles = {
  /** By zoom, the loads of its densest tiles. */
  readonly loads: readonly (readonly TileLoad[])[]
  /** About how many rows are read to find those of a tile by index; 0 for few. */
  rowsIn(tile: { readonly z: number; readonly x: number; readonly y: number }): number
}

/** Changes with the rows. Without a version, what was found is believed for a minute. */
export type SampledRows = { readonly key: string; readonly hasVersion: boolean }

/** The rows of a version of a file that answer a question: its filter, and values of parameters. */
export const rowsOfFile = (
  { id, revision }: { readonly id: string; readonly revision: string },
  version: string | undefined,
  question: readonly unknown[],
): SampledRows => ({ key: JSON.stringify(['file', id, revision, version, question]), hasVersion: true })

/** Whoever leaves does not end the sampling that others wait for. */
export type DensestTilesCache = {
  of(rows: SampledRows, sample: () => Promise<DensestTiles>, signal?: AbortSignal): Promise<DensestTiles>
}

const keptMs = 600_000
const believedMs = 60_000

export function createDensestTiles(): DensestTilesCache {
  const known = createLoadingCache<DensestTiles>({ ttlMs: keptMs, max: 1_000 })
  return {
    of: ({ key, hasVersion }, sample, signal) =>
      untilAborted(known.get(key, sample, hasVersion ? keptMs : believedMs), signal),
  }
}
