import { addArcs, plainTypes } from './arc.ts'
import {
  addVertex,
  createFlatGeometry,
  endLine,
  endPart,
  type FlatGeometry,
  ogc,
  reserveVertices,
  resetGeometry,
} from './flat-geometry.ts'
import { ReadFault } from './reader.ts'
import { ewkbFlag } from './wkb.ts'

type Cursor = { readonly view: DataView; at: number; readonly end: number }
type Header = { type: number; hasZ: boolean; hasM: boolean; isLittle: boolean }

const maxDepth = 32

/** Reads WKB or EWKB into the geometry. */
export function readWkb(bytes: Uint8Array, start: number, geometry: FlatGeometry): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  readGeometry({ view, at: start, end: bytes.byteLength }, geometry, 0)
}

function damaged(why: string): ReadFault {
  return new ReadFault('invalid_file', `A geometry is damaged: ${why}.`)
}

function take(cursor: Cursor, size: number): number {
  const { at } = cursor
  if (size > cursor.end - at) throw damaged('it ends too early')
  cursor.at = at + size
  return at
}

function readHeader(cursor: Cursor): Header {
  const order = cursor.view.getUint8(take(cursor, 1))
  if (order > 1) throw damaged('its byte order is unknown')
  const isLittle = order === 1
  const code = cursor.view.getUint32(take(cursor, 4), isLittle)
  if (code & ewkbFlag.srid) take(cursor, 4)
  const plain = code & 0x0fffffff
  const dimensions = Math.trunc(plain / 1000)
  return {
    type: plain % 1000,
    hasZ: (code & ewkbFlag.z) !== 0 || dimensions === 1 || dimensions === 3,
    hasM: (code & ewkbFlag.m) !== 0 || dimensions === 2 || dimensions === 3,
    isLittle,
  }
}

/** A count of things that take at least so many bytes each. */
function readCount(cursor: Cursor, { isLittle }: Header, least: number): number {
  const count = cursor.view.getUint32(take(cursor, 4), isLittle)
  if (count * least > cursor.end - cursor.at) throw damaged('it ends too early')
  return count
}

function readGeometry(cursor: Cursor, geometry: FlatGeometry, depth: number): void {
  if (depth > maxDepth) throw damaged('collections are nested too deep')
  const header = readHeader(cursor)
  const type = plainTypes[header.type] ?? header.type
  resetGeometry(geometry, type, header.hasZ)
  if (type === ogc.point) readRun(cursor, header, geometry, 1)
  else if (type === ogc.lineString) {
    readCurveBody(cursor, header, geometry, depth)
    endLine(geometry)
  } else if (type === ogc.polygon) readSurfaceBody(cursor, header, geometry, depth)
  else if (type === ogc.multiPoint) readMembers(cursor, header, () => readPoint(cursor, geometry))
  else if (type === ogc.multiLineString) readMembers(cursor, header, () => readCurve(cursor, geometry, depth))
  else if (type === ogc.multiPolygon) readMembers(cursor, header, () => readSurface(cursor, geometry, depth))
  else if (type === ogc.collection) readMembers(cursor, header, () => readMember(cursor, geometry, depth))
  else throw damaged(`its type ${header.type} is unknown`)
}

function readMembers(cursor: Cursor, header: Header, read: () => void): void {
  const count = readCount(cursor, header, 5)
  for (let member = 0; member < count; member++) read()
}

function readMember(cursor: Cursor, geometry: FlatGeometry, depth: number): void {
  const member = createFlatGeometry()
  readGeometry(cursor, member, depth + 1)
  if (member.hasZ) geometry.hasZ = true
  geometry.members.push(member)
}

function readPoint(cursor: Cursor, geometry: FlatGeometry): void {
  const header = readHeader(cursor)
  if (header.type !== 1) throw damaged('a multi-point holds something other than points')
  readRun(cursor, header, geometry, 1)
}

function readCurve(cursor: Cursor, geometry: FlatGeometry, depth: number): void {
  const header = readHeader(cursor)
  if (![2, 8, 9].includes(header.type)) throw damaged('a multi-line holds something other than lines')
  readCurveBody(cursor, header, geometry, depth)
  endLine(geometry)
}

function readSurface(cursor: Cursor, geometry: FlatGeometry, depth: number): void {
  const header = readHeader(cursor)
  if (![3, 10, 17].includes(header.type)) throw damaged('a multi-polygon holds something other than polygons')
  readSurfaceBody(cursor, header, geometry, depth)
}

function readCurveBody(cursor: Cursor, header: Header, geometry: FlatGeometry, depth: number): void {
  if (depth > maxDepth) throw damaged('curves are nested too deep')
  const first = geometry.vertexCount
  if (header.type !== 9) {
    readRun(cursor, header, geometry, readCount(cursor, header, strideOf(header)))
    if (header.type === 8) addArcs(geometry, first)
    return
  }
  readMembers(cursor, header, () => {
    const before = geometry.vertexCount
    readCurveBody(cursor, readHeader(cursor), geometry, depth + 1)
    // Each piece begins where the one before ended.
    if (before > first && geometry.vertexCount > before) removeVertex(geometry, before)
  })
}

function readSurfaceBody(cursor: Cursor, header: Header, geometry: FlatGeometry, depth: number): void {
  const isCurved = header.type === 10
  const rings = readCount(cursor, header, isCurved ? 5 : 4)
  for (let ring = 0; ring < rings; ring++) {
    if (isCurved) readCurveBody(cursor, readHeader(cursor), geometry, depth + 1)
    else readRun(cursor, header, geometry, readCount(cursor, header, strideOf(header)))
    endLine(geometry)
  }
  if (rings > 0 || geometry.type === ogc.multiPolygon) endPart(geometry)
}

function strideOf({ hasZ, hasM }: Header): number {
  return 16 + (hasZ ? 8 : 0) + (hasM ? 8 : 0)
}

function readRun(cursor: Cursor, header: Header, geometry: FlatGeometry, count: number): void {
  const stride = strideOf(header)
  const start = take(cursor, count * stride)
  reserveVertices(geometry, count)
  const { view } = cursor
  for (let at = start; at < start + count * stride; at += stride) {
    const z = header.hasZ ? view.getFloat64(at + 16, header.isLittle) : 0
    addVertex(geometry, view.getFloat64(at, header.isLittle), view.getFloat64(at + 8, header.isLittle), z)
  }
}

function removeVertex(geometry: FlatGeometry, at: number): void {
  geometry.xy.copyWithin(at * 2, at * 2 + 2, geometry.vertexCount * 2)
  geometry.z.copyWithin(at, at + 1, geometry.vertexCount)
  geometry.vertexCount--
}
