// The tile source of the built-in base map.
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import { builtInApplication } from '../tiling.ts'
import type { LoadedTileSource, TileArchives } from './tile-source-type.ts'

/** Answers at once while the archive is known, which is checked every second. */
export type Basemap = { get(): LoadedTileSource | Promise<LoadedTileSource> }

const uri = 'pmtiles://basemap.pmtiles'

export function createBasemap(archives: TileArchives): Basemap {
  const cache = createLoadingCache<LoadedTileSource>({ max: 1 })
  return { get: () => cache.fresh(uri) ?? cache.get(uri, () => load(archives)) }
}

async function load(archives: TileArchives): Promise<LoadedTileSource> {
  const archive = await archives.info(builtInApplication, uri)
  const { minZoom, maxZoom, bounds, attribution = '' } = archive
  return {
    source: {
      id: 'basemap',
      applicationId: builtInApplication,
      type: 'tilelive',
      source: uri,
      name: '',
      attribution,
      minZoom,
      maxZoom,
      extentLngLat: bounds,
      headers: { 'cache-control': 'public, max-age=86400' },
      metadata: {},
    },
    archive,
    name: archive.name ?? 'World',
    version: archive.version,
  }
}
