import { VectorTile, type VectorTileFeature } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import type { Tile } from './projection.ts'

type Feature = ReturnType<VectorTileFeature['toGeoJSON']>

/** The features of a tile, clipped and rounded as they are in it, in degrees. */
export function tileAsGeoJson(
  bytes: Uint8Array,
  { x, y, z }: Tile,
): { type: 'FeatureCollection'; features: Feature[] } {
  const layers = Object.values(new VectorTile(new PbfReader(bytes)).layers)
  const features = layers.flatMap((layer) =>
    Array.from({ length: layer.length }, (_, index) => layer.feature(index).toGeoJSON(x, y, z)),
  )
  return { type: 'FeatureCollection', features }
}
