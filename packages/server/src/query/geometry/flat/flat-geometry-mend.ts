// Repairs geometries of files: closes rings, and leaves out lines and rings that have too few positions.

import { geometryCode } from '../geometry-type.ts'
import { addVertex, createFlatGeometry, endLine, endPart, type FlatGeometry, resetGeometry } from './flat-geometry.ts'

/** How many rings had to be closed so far. */
export type MendCounts = { closedRings: number }

/**
 * The geometry such as PostGIS takes it: rings closed, lines and rings with too few points left out. Undefined when
 * nothing of it can be loaded. What was mended is counted.
 */
export function mended(geometry: FlatGeometry, counts: MendCounts): FlatGeometry | undefined {
  if (geometry.type === geometryCode.GeometryCollection) return mendCollection(geometry, counts)
  if (geometry.type === geometryCode.Point && isEmptyPoint(geometry)) {
    geometry.vertexCount = 0
    return geometry
  }
  if (!isFinite2d(geometry)) return undefined
  if (geometry.type === geometryCode.Point || geometry.type === geometryCode.MultiPoint) return geometry
  const isArea = geometry.type === geometryCode.Polygon || geometry.type === geometryCode.MultiPolygon
  if (areLinesSound(geometry, isArea)) return geometry
  return isArea ? mendArea(geometry, counts) : mendLines(geometry)
}

function mendCollection(geometry: FlatGeometry, counts: MendCounts): FlatGeometry | undefined {
  if (geometry.members.length === 0) return geometry
  geometry.members = geometry.members.flatMap((member) => mended(member, counts) ?? [])
  return geometry.members.length ? geometry : undefined
}

/** Formats without an empty point write one that is nowhere. */
function isEmptyPoint({ xy, vertexCount }: FlatGeometry): boolean {
  return vertexCount === 0 || (Number.isNaN(xy[0]) && Number.isNaN(xy[1]))
}

/** A height that is no number is taken for none. */
function isFinite2d({ xy, z, vertexCount, hasZ }: FlatGeometry): boolean {
  for (let at = 0; at < vertexCount * 2; at++) if (!Number.isFinite(xy[at])) return false
  if (hasZ) for (let at = 0; at < vertexCount; at++) if (!Number.isFinite(z[at])) z[at] = 0
  return true
}

function areLinesSound(geometry: FlatGeometry, isArea: boolean): boolean {
  let start = 0
  for (const end of geometry.lineEnds) {
    if (isArea ? end - start < 4 || !isClosed(geometry, start, end) : end - start === 1) return false
    if (end === start && (isArea || geometry.type === geometryCode.MultiLineString)) return false
    start = end
  }
  return true
}

function isClosed({ xy }: FlatGeometry, start: number, end: number): boolean {
  return xy[start * 2] === xy[end * 2 - 2] && xy[start * 2 + 1] === xy[end * 2 - 1]
}

function mendLines(geometry: FlatGeometry): FlatGeometry | undefined {
  const result = createFlatGeometry()
  resetGeometry(result, geometry.type, geometry.hasZ)
  let start = 0
  for (const end of geometry.lineEnds) {
    if (end - start > 1) copyLine(geometry, start, end, result)
    start = end
  }
  return result.lineEnds.length ? result : undefined
}

function mendArea(geometry: FlatGeometry, counts: MendCounts): FlatGeometry | undefined {
  const result = createFlatGeometry()
  resetGeometry(result, geometry.type, geometry.hasZ)
  let ring = 0
  for (const part of geometry.partEnds) {
    const first = ring
    for (; ring < part; ring++) {
      // Without its outer ring a polygon is nothing.
      if (!mendRing(geometry, ring, result, counts) && ring === first) ring = part
    }
    const before = result.partEnds.at(-1) ?? 0
    if (result.lineEnds.length > before) endPart(result)
    ring = part
  }
  return result.partEnds.length ? result : undefined
}

function mendRing(geometry: FlatGeometry, ring: number, result: FlatGeometry, counts: MendCounts): boolean {
  const start = ring === 0 ? 0 : (geometry.lineEnds[ring - 1] ?? 0)
  const end = geometry.lineEnds[ring] ?? start
  const isOpen = end > start && !isClosed(geometry, start, end)
  if (end - start + (isOpen ? 1 : 0) < 4) return false
  if (isOpen) counts.closedRings++
  copyLine(geometry, start, end, result, isOpen)
  return true
}

function copyLine(from: FlatGeometry, start: number, end: number, to: FlatGeometry, isOpen = false): void {
  for (let at = start; at < end + (isOpen ? 1 : 0); at++) {
    const source = at === end ? start : at
    addVertex(to, from.xy[source * 2] ?? 0, from.xy[source * 2 + 1] ?? 0, from.z[source] ?? 0)
  }
  endLine(to)
}
