// What a caller may see of a tile source whose dataset has rules.
import { LRUCache } from 'lru-cache'
import type { Caller } from '../../../api/access/acl.ts'
import { narrow } from '../../datasets/rules/narrowing.ts'
import { layerOf } from './dataset-layer.ts'
import type { LoadedTileSource } from './tile-source-type.ts'
import { digestVersion } from './tile-version.ts'

const maxCallers = 1_000
/** By what is seen: the same object for callers who see the same, as it is for those whom nothing binds. */
const visible = new WeakMap<LoadedTileSource, LRUCache<string, LoadedTileSource>>()

const everywhere = [-180, -85.051_129, 180, 85.051_129] as const

/**
 * Overviews and the measured extent are of all rows, so tiles are made of the table, and may be anywhere. The version is another one, which keeps
 * the tiles apart in every cache, and shares them between those who see the same. Throws where the geometry is hidden.
 */
export function visibleTiles(loadedSource: LoadedTileSource, caller: Caller): LoadedTileSource {
  const { layer, overview: _, fileOverview: __, lastExtent: ___, ...others } = loadedSource
  if (!layer) return loadedSource
  const { dataset } = narrow(layer, caller)
  const { narrowing } = dataset
  if (!narrowing) return loadedSource
  const known = visible.get(loadedSource) ?? new LRUCache({ max: maxCallers })
  visible.set(loadedSource, known)
  const kept = known.get(narrowing.digest)
  if (kept) return kept
  const made: LoadedTileSource = {
    ...others,
    source: { ...others.source, extentLngLat: everywhere },
    version: digestVersion(others.version, narrowing.digest),
    layer: layerOf(dataset),
    isExtentEstimated: true,
    isNarrowed: true,
  }
  known.set(narrowing.digest, made)
  return made
}
