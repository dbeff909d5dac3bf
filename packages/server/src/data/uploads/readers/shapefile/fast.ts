// Fast path of shapefiles: sound shapes are copied byte by byte, because .shp and EWKB store vertices alike.
import { reserve } from '../../../../query/geometry/encoding/byte-writer.ts'
import {
  beginGeometry,
  type GeometryWriter,
  isSamePosition,
  writeCount,
  writeHeader,
} from '../../../../query/geometry/encoding/ewkb-writer.ts'
import type { ByteWindow } from '../engine/byte-window.ts'

const pointContent = 20
const partContent = 44
const vertexBytes = 16
/** Codes above it are of shapes with measures, which lie behind the vertices and are dropped. */
const measured = 20

/** The types of shapes that can be plain. */
const shapeKind = { point: 1, line: 3, area: 5 } as const

/** Up to so many vertices a loop is faster than a call. */
const fewVertices = 16

/**
 * Copies a point, or one sound line or ring, from the .shp to EWKB: the vertices are written alike in both. Answers nothing
 * where the shape is another one or may be damaged: then it has to be read.
 */
export function copyPlainShape(
  shp: ByteWindow,
  start: number,
  end: number,
  writer: GeometryWriter,
): 'Point' | 'LineString' | 'Polygon' | undefined {
  if (writer.hasZ || end - start < pointContent) return undefined
  const code = shp.view.getInt32(start, true)
  const kind = code > measured ? code - measured : code
  if (kind === shapeKind.point) return copyPoint(shp, start + 4, writer) ? 'Point' : undefined
  const isArea = kind === shapeKind.area
  if ((kind !== shapeKind.line && !isArea) || !isPlainPart(shp.view, start, end, isArea)) return undefined
  return copyPart(shp, start, writer, isArea) ? (isArea ? 'Polygon' : 'LineString') : undefined
}

/** Whether it is of one part, long enough, and closed where it has to be. */
function isPlainPart(view: DataView, start: number, end: number, isArea: boolean): boolean {
  const at = start + partContent + 4
  if (at > end || view.getUint32(start + 36, true) !== 1 || view.getUint32(start + partContent, true) !== 0)
    return false
  const count = view.getUint32(start + 40, true)
  if (count < (isArea ? 4 : 2) || count * vertexBytes > end - at) return false
  return !isArea || isSamePosition(view, at, at + (count - 1) * vertexBytes)
}

function copyPoint(shp: ByteWindow, at: number, writer: GeometryWriter): boolean {
  beginGeometry(writer)
  writeHeader(writer, 'Point')
  return copyVertices(shp, at, 1, writer)
}

function copyPart(shp: ByteWindow, start: number, writer: GeometryWriter, isArea: boolean): boolean {
  const count = shp.view.getUint32(start + 40, true)
  beginGeometry(writer)
  writeHeader(writer, isArea ? 'Polygon' : 'LineString')
  if (isArea) writeCount(writer, 1)
  writeCount(writer, count)
  return copyVertices(shp, start + partContent + 4, count, writer)
}

/** False when one is not finite. */
function copyVertices({ bytes, view }: ByteWindow, start: number, count: number, writer: GeometryWriter): boolean {
  const size = count * vertexBytes
  const { box, length } = writer
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  let sum = 0
  for (let at = start; at < start + size; at += vertexBytes) {
    const x = view.getFloat64(at, true)
    const y = view.getFloat64(at + 8, true)
    // Of whatever is not finite that is not 0.
    sum += x - x + (y - y)
    if (x < west) west = x
    if (x > east) east = x
    if (y < south) south = y
    if (y > north) north = y
  }
  if (sum !== 0) return false
  box[0] = west
  box[1] = south
  box[2] = east
  box[3] = north
  reserve(writer, size)
  if (count > fewVertices) writer.bytes.set(bytes.subarray(start, start + size), length)
  else
    for (let done = 0; done < size; done += 8)
      writer.view.setFloat64(length + done, view.getFloat64(start + done, true), true)
  writer.length = length + size
  return true
}
