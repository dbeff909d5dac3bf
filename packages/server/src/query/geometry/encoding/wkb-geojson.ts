// WKB → GeoJSON.
import { createFlatGeometry, type FlatGeometry } from '../flat/flat-geometry.ts'
import { readFlatGeometry } from '../flat/flat-geometry-read.ts'
import { hasCurves, isMeasured } from '../flat/flat-geometry-write.ts'
import { GeometryFault } from '../geometry-fault.ts'
import { geometryCode, geometryTypes } from '../geometry-type.ts'
import type { LooseGeometry } from './geojson-ewkb.ts'

/** WKB or EWKB as a GeoJSON geometry; undefined when the bytes are something else, or more than that. */
export function parseWkb(bytes: Uint8Array): { geometry: LooseGeometry; srid?: number } | undefined {
  const flat = createFlatGeometry()
  try {
    const { at, srid } = readFlatGeometry(bytes, 0, flat)
    if (at !== bytes.length) return undefined
    const geometry = geoJsonOf(flat)
    if (hasCurves(flat)) geometry.isCurved = true
    if (isMeasured(flat)) geometry.isMeasured = true
    return { geometry, ...(srid !== 0 && { srid }) }
  } catch (error) {
    if (error instanceof GeometryFault) return undefined
    throw error
  }
}

function geoJsonOf(geometry: FlatGeometry): LooseGeometry {
  const type = geometryTypes[geometry.type - 1] ?? 'GeometryCollection'
  if (type === 'GeometryCollection') return { type, geometries: geometry.members.map(geoJsonOf) }
  return { type, coordinates: coordinatesOf(geometry) }
}

function coordinatesOf(geometry: FlatGeometry): unknown {
  const { type, xy, z, hasZ, vertexCount, lineEnds, partEnds } = geometry
  const positions = Array.from({ length: vertexCount }, (_, vertex) => {
    const position = [xy[vertex * 2], xy[vertex * 2 + 1]]
    return hasZ ? [...position, z[vertex]] : position
  })
  if (type === geometryCode.Point) return positions[0] ?? []
  if (type === geometryCode.LineString || type === geometryCode.MultiPoint) return positions
  const lines = split(positions, lineEnds)
  return type === geometryCode.MultiPolygon ? split(lines, partEnds) : lines
}

function split<T>(items: readonly T[], ends: readonly number[]): T[][] {
  return ends.map((end, index) => items.slice(ends[index - 1] ?? 0, end))
}
