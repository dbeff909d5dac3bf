import { fromGeojsonVt } from '@maplibre/vt-pbf'
import type { Feature } from 'geojson'
import GeoJSONVT from 'geojson-vt'
import { zxyToTileId } from 'pmtiles'
import type { NumberedTile } from './pmtiles-writer.ts'
import { cleanFeature, type TileFeature } from './tile-geometry.ts'

/** The same things at a range of zoom levels. A feature is left out below its property `min_zoom`. */
export type Band = { layer: string; from: number; to: number; features: Feature[]; tolerance?: number }

type Tile = { z: number; x: number; y: number; layers: Record<string, { features: TileFeature[] }> }

const extent = 4096

/** Cuts all bands into vector tiles. */
export function cutTiles(bands: readonly Band[]): NumberedTile[] {
  const tiles = new Map<number, Tile>()
  for (const band of bands) addBand(tiles, band)
  return [...tiles].map(([id, { layers }]) => ({
    id,
    bytes: fromGeojsonVt(layers as unknown as Parameters<typeof fromGeojsonVt>[0], { version: 2, extent }),
  }))
}

function addBand(tiles: Map<number, Tile>, { layer, from, to, features, tolerance = 3 }: Band): void {
  // One level more than is used: the library does not simplify the deepest.
  const options = { maxZoom: to + 1, indexMaxZoom: to, indexMaxPoints: 0, tolerance, buffer: 64, extent }
  const index = new GeoJSONVT({ type: 'FeatureCollection', features }, options)
  for (const { z, x, y } of index.tileCoords) {
    if (z < from || z > to) continue
    const cut = index.getTile(z, x, y) as { features: TileFeature[] } | null
    const visible = (cut?.features ?? []).filter(({ tags }) => Number(tags?.min_zoom ?? 0) <= Math.max(z, deepest(z)))
    const clean = visible.flatMap((feature) => cleanFeature(feature) ?? [])
    if (clean.length === 0) continue
    const id = zxyToTileId(z, x, y)
    const tile = tiles.get(id) ?? { z, x, y, layers: {} }
    tiles.set(id, tile)
    const there = tile.layers[layer]?.features ?? []
    tile.layers[layer] = { features: [...there, ...clean] }
  }
}

export const maxZoom = 6

/** The deepest tiles are drawn for all closer views too, so they hold what appears there. */
const deepest = (z: number): number => (z === maxZoom ? 15 : z)
