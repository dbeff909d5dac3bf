/**
 * Analyses a vector tile: layers, feature counts, and bytes per attribute. Parses the tile itself, so that it also works for
 * archives, whose tiles the server only passes on.
 */
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'

export interface TileLayer {
  name: string
  features: number
  kinds: string[]
  /** Largest first; the geometry is named `geometryName`. */
  attributes: { name: string; bytes: number }[]
  /** The properties of the first features. */
  sample: Record<string, string | number | boolean>[]
}

/** The name of the coordinates in `attributes`. */
export const geometryName = 'geometry'
const sampleSize = 5

export function tileContents(bytes: ArrayBuffer): TileLayer[] {
  const { layers } = new VectorTile(new PbfReader(bytes))
  const sizes = new PbfReader(bytes).readFields(readTile, new Map<string, Map<string, number>>())
  return Object.values(layers).map((layer) => {
    const features = Array.from({ length: Math.min(layer.length, maxScanned) }, (_, index) => layer.feature(index))
    const byAttribute = [...(sizes.get(layer.name) ?? [])].map(([name, size]) => ({ name, bytes: size }))
    return {
      name: layer.name,
      features: layer.length,
      kinds: [...new Set(features.map(({ type }) => kinds[type] ?? 'unknown'))],
      attributes: byAttribute.sort((one, other) => other.bytes - one.bytes),
      sample: features.slice(0, sampleSize).map(({ properties }) => ({ ...properties })),
    }
  })
}

const kinds = ['unknown', 'points', 'lines', 'areas']
/** Enough features to find all geometry types. */
const maxScanned = 1000

const fields = { layer: 3, name: 1, feature: 2, key: 3, value: 4, tags: 2, geometry: 4 }

interface LayerSizes {
  name: string
  keys: string[]
  keyBytes: number[]
  valueBytes: number[]
  /** For each feature, alternating indexes of keys and values. */
  tags: number[][]
  geometry: number
}

function readTile(tag: number, sizes: Map<string, Map<string, number>>, pbf: PbfReader): void {
  if (tag !== fields.layer) return
  const begun: LayerSizes = { name: '', keys: [], keyBytes: [], valueBytes: [], tags: [], geometry: 0 }
  const layer = pbf.readMessage(readLayer, begun)
  sizes.set(layer.name, bytesByAttribute(layer))
}

function readLayer(tag: number, layer: LayerSizes, pbf: PbfReader): void {
  const start = pbf.pos
  if (tag === fields.name) layer.name = pbf.readString()
  else if (tag === fields.feature) pbf.readMessage(readFeature, layer)
  else if (tag === fields.key) {
    layer.keys.push(pbf.readString())
    layer.keyBytes.push(pbf.pos - start + 1)
  } else if (tag === fields.value) {
    pbf.readBytes()
    layer.valueBytes.push(pbf.pos - start + 1)
  }
}

function readFeature(tag: number, layer: LayerSizes, pbf: PbfReader): void {
  const start = pbf.pos
  if (tag === fields.tags) layer.tags.push(pbf.readPackedVarint())
  else if (tag === fields.geometry) {
    pbf.readBytes()
    layer.geometry += pbf.pos - start + 1
  }
}

/** A value shared by several attributes counts for the first of them. */
function bytesByAttribute({ keys, keyBytes, valueBytes, tags, geometry }: LayerSizes): Map<string, number> {
  const bytes = keys.map((_, index) => keyBytes[index] ?? 0)
  const counted = new Set<number>()
  for (const pairs of tags) {
    for (let index = 0; index + 1 < pairs.length; index += 2) {
      const [key = 0, value = 0] = [pairs[index], pairs[index + 1]]
      bytes[key] = (bytes[key] ?? 0) + varintLength(key) + varintLength(value)
      if (counted.has(value)) continue
      counted.add(value)
      bytes[key] = (bytes[key] ?? 0) + (valueBytes[value] ?? 0)
    }
  }
  return new Map([[geometryName, geometry], ...keys.map((key, index) => [key, bytes[index] ?? 0] as const)])
}

const varintLength = (value: number): number => Math.max(1, Math.ceil(Math.log2(value + 1) / 7))
