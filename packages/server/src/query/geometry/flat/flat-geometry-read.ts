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
  positions(geometry, { view, at: start, stride, hasZ, isLittle }, count) {
    reserveVertices(geometry, count)
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
    bend: addArcs,
    join(geometry, at) {
      geometry.xy.copyWithin(at * 2, at * 2 + 2, geometry.vertexCount * 2)
      geometry.z.copyWithin(at, at + 1, geometry.vertexCount)
      geometry.vertexCount--
    },
  },
}
