import { GeometryFault } from '../geometry-fault.ts'

/** A geometry of any type in a few flat arrays, which are used again for the next feature. */
export type FlatGeometry = {
  /** A number of `geometryCode`. */
  type: number
  hasZ: boolean
  xy: Float64Array
  z: Float64Array
  /** Measures, only where the source has them and keeps them; arcs that were made straight have none. */
  m: Float64Array | undefined
  vertexCount: number
  /** For every line or ring the vertex after its last. */
  lineEnds: number[]
  /** For every polygon the ring after its last. */
  partEnds: number[]
  /** Of a collection only. */
  members: FlatGeometry[]
  /** Arcs were replaced by straight lines. */
  isCurved: boolean
  /** The source has measures, be they in `m` or not. */
  isMeasured: boolean
}

/** More vertices in one feature would take the memory of the process. */
const maxVertices = 4_000_000

export function createFlatGeometry(): FlatGeometry {
  return {
    type: 0,
    hasZ: false,
    xy: new Float64Array(32),
    z: new Float64Array(16),
    m: undefined,
    vertexCount: 0,
    lineEnds: [],
    partEnds: [],
    members: [],
    isCurved: false,
    isMeasured: false,
  }
}

export function resetGeometry(geometry: FlatGeometry, type: number, hasZ: boolean): void {
  geometry.type = type
  geometry.hasZ = hasZ
  geometry.m = undefined
  geometry.vertexCount = 0
  geometry.isCurved = false
  geometry.isMeasured = false
  // Only where there is something: setting the length of an array costs more than all else here.
  if (geometry.lineEnds.length) geometry.lineEnds = []
  if (geometry.partEnds.length) geometry.partEnds = []
  if (geometry.members.length) geometry.members = []
}

/** Makes room for so many more vertices. */
export function reserveVertices(geometry: FlatGeometry, count: number): void {
  const needed = geometry.vertexCount + count
  if (needed * 2 <= geometry.xy.length) return
  if (needed > maxVertices)
    throw new GeometryFault('feature_too_large', `A geometry has more than ${maxVertices} vertices.`)
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
