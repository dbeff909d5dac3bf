// WKB → flat arrays.

import { createWkbCursor, readWkb, type WkbCursor, type WkbSink } from '../encoding/wkb-reader.ts'
import { geometryCode } from '../geometry-type.ts'
import { addArcs } from './arc.ts'
import {
  createFlatGeometry,
  endLine,
  endPart,
  type FlatGeometry,
  reserveVertices,
  resetGeometry,
} from './flat-geometry.ts'

const cursor = createWkbCursor()

/** Reads the WKB or EWKB that lies in the bytes from `start` on into the geometry. Answers where it ends, and its SRID. */
export function readFlatGeometry(
  bytes: Uint8Array,
  start: number,
  geometry: FlatGeometry,
): Readonly<Pick<WkbCursor, 'at' | 'srid'>> {
  cursor.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  cursor.at = start
  cursor.end = bytes.byteLength
  readWkb(cursor, flatSink, geometry)
  return cursor
}

const flatSink: WkbSink<FlatGeometry> = {
  begin(parent, type, hasZ, isMember) {
    const geometry = isMember ? createFlatGeometry() : parent
    if (isMember) parent.members.push(geometry)
    resetGeometry(geometry, type, hasZ)
    return geometry
  },
  accepts: () => true,
  positions(geometry, cursor, count) {
    const { view, at: start, stride, hasZ, hasM, isLittle } = cursor
    reserveVertices(geometry, count)
    if (hasM) readMeasures(geometry, cursor, count)
    const { xy, z } = geometry
    let vertex = geometry.vertexCount
    for (let at = start; at < start + count * stride; at += stride, vertex++) {
      xy[vertex * 2] = view.getFloat64(at, isLittle)
      xy[vertex * 2 + 1] = view.getFloat64(at + 8, isLittle)
      z[vertex] = hasZ ? view.getFloat64(at + 16, isLittle) : 0
    }
    geometry.vertexCount = vertex
  },
  endLine,
  endPolygon(geometry, rings) {
    if (rings > 0 || geometry.type === geometryCode.MultiPolygon) endPart(geometry)
  },
  curves: {
    count: ({ vertexCount }) => vertexCount,
    bend(geometry, first) {
      geometry.m = undefined
      addArcs(geometry, first)
    },
    join(geometry, at) {
      geometry.xy.copyWithin(at * 2, at * 2 + 2, geometry.vertexCount * 2)
      geometry.z.copyWithin(at, at + 1, geometry.vertexCount)
      geometry.m?.copyWithin(at, at + 1, geometry.vertexCount)
      geometry.vertexCount--
    },
  },
}

/** The measures of the positions that come next. Behind an arc they are of no use, because the arc has none. */
function readMeasures(geometry: FlatGeometry, { view, at, stride, isLittle }: WkbCursor, count: number): void {
  const { vertexCount, isCurved, m } = geometry
  geometry.isMeasured = true
  if (isCurved) return
  const needed = vertexCount + count
  const measures = m && m.length >= needed ? m : new Float64Array(Math.max(needed, vertexCount * 2))
  if (m && measures !== m) measures.set(m.subarray(0, vertexCount))
  for (let index = 0; index < count; index++)
    measures[vertexCount + index] = view.getFloat64(at + (index + 1) * stride - 8, isLittle)
  geometry.m = measures
}
