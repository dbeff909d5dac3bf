import { geometryWarnings } from './geometry-warnings.ts'
import { type Extent, type GeometryType, ReadFault, type Warning } from './reader.ts'

/** A geometry of any type in a few flat arrays, which are used again for the next feature. */
export type FlatGeometry = {
  /** The code of OGC, 1 to 7. */
  type: number
  hasZ: boolean
  xy: Float64Array
  z: Float64Array
  vertexCount: number
  /** For every line or ring the vertex after its last. */
  lineEnds: number[]
  /** For every polygon the ring after its last. */
  partEnds: number[]
  /** Of a collection only. */
  members: FlatGeometry[]
}

export const ogc = {
  point: 1,
  lineString: 2,
  polygon: 3,
  multiPoint: 4,
  multiLineString: 5,
  multiPolygon: 6,
  collection: 7,
} as const

const typeNames: readonly GeometryType[] = [
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
]

/** More vertices in one feature would take the memory of the process. */
const maxVertices = 4_000_000

export function createFlatGeometry(): FlatGeometry {
  return {
    type: 0,
    hasZ: false,
    xy: new Float64Array(32),
    z: new Float64Array(16),
    vertexCount: 0,
    lineEnds: [],
    partEnds: [],
    members: [],
  }
}

export function resetGeometry(geometry: FlatGeometry, type: number, hasZ: boolean): void {
  geometry.type = type
  geometry.hasZ = hasZ
  geometry.vertexCount = 0
  geometry.lineEnds.length = 0
  geometry.partEnds.length = 0
  if (geometry.members.length) geometry.members = []
}

/** Makes room for so many more vertices. */
export function reserveVertices(geometry: FlatGeometry, count: number): void {
  const needed = geometry.vertexCount + count
  if (needed * 2 <= geometry.xy.length) return
  if (needed > maxVertices)
    throw new ReadFault('feature_too_large', `A geometry has more than ${maxVertices} vertices.`)
  const size = Math.min(Math.max(needed, geometry.xy.length), maxVertices)
  const [xy, z] = [new Float64Array(size * 2), new Float64Array(size)]
  xy.set(geometry.xy.subarray(0, geometry.vertexCount * 2))
  z.set(geometry.z.subarray(0, geometry.vertexCount))
  geometry.xy = xy
  geometry.z = z
}

export function addVertex(geometry: FlatGeometry, x: number, y: number, z: number): void {
  const at = geometry.vertexCount
  if (at * 2 >= geometry.xy.length) reserveVertices(geometry, 1)
  geometry.xy[at * 2] = x
  geometry.xy[at * 2 + 1] = y
  geometry.z[at] = z
  geometry.vertexCount = at + 1
}

export function endLine(geometry: FlatGeometry): void {
  geometry.lineEnds.push(geometry.vertexCount)
}

export function endPart(geometry: FlatGeometry): void {
  geometry.partEnds.push(geometry.lineEnds.length)
}

/** What the geometries of a layer have in common, and what was wrong with them. */
export type GeometrySummary = {
  types: Set<GeometryType>
  hasZ: boolean
  extent: Extent
  loaded: number
  dropped: number
  closed: number
}

export function createGeometrySummary(): GeometrySummary {
  const extent: Extent = [Infinity, Infinity, -Infinity, -Infinity]
  return { types: new Set(), hasZ: false, extent, loaded: 0, dropped: 0, closed: 0 }
}

/** The geometry takes part in the layer's type and extent. */
export function summarise(summary: GeometrySummary, geometry: FlatGeometry): void {
  countIn(summary, geometry.type)
  widen(summary, geometry)
}

/** The same of one of which only the type and the box are known. */
export function summariseBox(
  summary: GeometrySummary,
  type: number,
  west: number,
  south: number,
  east: number,
  north: number,
): void {
  countIn(summary, type)
  const { extent } = summary
  if (west < extent[0]) extent[0] = west
  if (south < extent[1]) extent[1] = south
  if (east > extent[2]) extent[2] = east
  if (north > extent[3]) extent[3] = north
}

function countIn(summary: GeometrySummary, type: number): void {
  const name = typeNames[type - 1]
  if (name) summary.types.add(name)
  summary.loaded++
}

function widen(summary: GeometrySummary, geometry: FlatGeometry): void {
  if (geometry.hasZ) summary.hasZ = true
  const { extent } = summary
  const { xy, vertexCount } = geometry
  for (let at = 0; at < vertexCount * 2; at += 2) {
    const x = xy[at] as number
    const y = xy[at + 1] as number
    if (x < extent[0]) extent[0] = x
    if (x > extent[2]) extent[2] = x
    if (y < extent[1]) extent[1] = y
    if (y > extent[3]) extent[3] = y
  }
  for (const member of geometry.members) widen(summary, member)
}

/** What a scanned layer of so many features says of its geometries. */
export function geometryFindings(
  { types, hasZ, extent, loaded, dropped, closed }: GeometrySummary,
  featureCount: number,
): { geometryTypes: Set<GeometryType>; hasZ: boolean; extent?: Extent; warnings: Warning[] } {
  const missingCount = featureCount - loaded - dropped
  const warnings = geometryWarnings({ invalidCount: dropped, missingCount, hasGeometry: types.size > 0 })
  if (closed)
    warnings.push({ code: 'unclosed_ring', message: 'Rings that were not closed were closed.', count: closed })
  return { geometryTypes: types, hasZ, ...(extent[0] <= extent[2] ? { extent } : {}), warnings }
}
