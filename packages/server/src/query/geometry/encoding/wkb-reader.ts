// The WKB reader: a parser that gives what it finds to a sink, such as flat arrays or the shape of a tile.

import { GeometryFault } from '../geometry-fault.ts'
import { geometryCode } from '../geometry-type.ts'
import { ewkbFlag } from './ewkb-writer.ts'

/** Where in the bytes reading is, where the value ends, and what the header read last says. */
export type WkbCursor = {
  view: DataView
  at: number
  end: number
  /** Of EWKB; 0 when it names none. */
  srid: number
  type: number
  hasZ: boolean
  hasM: boolean
  /** The bytes of a position. */
  stride: number
  isLittle: boolean
}

/** What is made of WKB. The reader finds the structure and checks the bounds; the sink takes the positions from the bytes. */
export type WkbSink<T> = {
  /** A geometry begins; answers what its parts are given to. `isMember`: it is one of a collection. */
  begin(target: T, type: number, hasZ: boolean, isMember: boolean): T
  /** A point, a line or a polygon follows (0, 1, 2), of so many positions or rings. False to have it stepped over. */
  accepts(target: T, dimension: number, count: number): boolean
  /** So many positions lie at the cursor, all of one point, line or ring. */
  positions(target: T, cursor: WkbCursor, count: number): void
  endLine(target: T, isHole: boolean): void
  endPolygon(target: T, rings: number): void
  /** Without it curves are refused. */
  readonly curves?: CurveSink<T>
}

type CurveSink<T> = {
  /** How many positions there are so far. */
  count(target: T): number
  /** The positions from `first` on are those of arcs. */
  bend(target: T, first: number): void
  /** The position at `at` repeats the end of the curve before it. */
  join(target: T, at: number): void
}

/** Codes of WKB beyond the seven types of GeoJSON. */
const wkb = {
  circularString: 8,
  compoundCurve: 9,
  curvePolygon: 10,
  multiCurve: 11,
  multiSurface: 12,
  polyhedralSurface: 15,
  tin: 16,
  triangle: 17,
} as const

/** Curves, surfaces and triangles, and the plain type that each is read as. */
export const plainTypes: Readonly<Record<number, number>> = {
  [wkb.circularString]: geometryCode.LineString,
  [wkb.compoundCurve]: geometryCode.LineString,
  [wkb.curvePolygon]: geometryCode.Polygon,
  [wkb.multiCurve]: geometryCode.MultiLineString,
  [wkb.multiSurface]: geometryCode.MultiPolygon,
  [wkb.polyhedralSurface]: geometryCode.MultiPolygon,
  [wkb.tin]: geometryCode.MultiPolygon,
  [wkb.triangle]: geometryCode.Polygon,
}

const maxDepth = 32
/** The least bytes of a geometry and of a ring. */
const leastGeometry = 5
const leastRing = 4

export function createWkbCursor(): WkbCursor {
  const view = new DataView(new ArrayBuffer(0))
  return { view, at: 0, end: 0, srid: 0, type: 0, hasZ: false, hasM: false, stride: 16, isLittle: true }
}

/** Reads WKB or EWKB, of either byte order, from the cursor on. Throws a GeometryFault where it makes no sense. */
export function readWkb<T>(cursor: WkbCursor, sink: WkbSink<T>, target: T): void {
  cursor.srid = 0
  readGeometry(cursor, sink, target, 0)
}

function damaged(why: string): GeometryFault {
  return new GeometryFault('invalid_file', `A geometry is damaged: ${why}.`)
}

function take(cursor: WkbCursor, size: number): number {
  const { at } = cursor
  if (size > cursor.end - at) throw damaged('it ends too early')
  cursor.at = at + size
  return at
}

function readHeader(cursor: WkbCursor): void {
  const { view } = cursor
  const at = take(cursor, leastGeometry)
  const order = view.getUint8(at)
  if (order > 1) throw damaged('its byte order is unknown')
  const isLittle = order === 1
  const code = view.getUint32(at + 1, isLittle)
  if ((code & ewkbFlag.srid) !== 0) cursor.srid = view.getUint32(take(cursor, 4), isLittle)
  const isoCode = code & ~(ewkbFlag.z | ewkbFlag.m | ewkbFlag.srid)
  const iso = Math.trunc(isoCode / 1000)
  if (iso > 3) throw damaged(`its type ${isoCode} is unknown`)
  const hasZ = (code & ewkbFlag.z) !== 0 || iso === 1 || iso === 3
  const hasM = (code & ewkbFlag.m) !== 0 || iso >= 2
  cursor.type = isoCode - iso * 1000
  cursor.hasZ = hasZ
  cursor.hasM = hasM
  cursor.stride = 16 + (hasZ ? 8 : 0) + (hasM ? 8 : 0)
  cursor.isLittle = isLittle
}

/** A count of things that take at least so many bytes each. */
function readCount(cursor: WkbCursor, least: number): number {
  const count = cursor.view.getUint32(take(cursor, 4), cursor.isLittle)
  if (count * least > cursor.end - cursor.at) throw damaged('it ends too early')
  return count
}

function readGeometry<T>(cursor: WkbCursor, sink: WkbSink<T>, parent: T, depth: number): void {
  if (depth > maxDepth) throw damaged('collections are nested too deep')
  readHeader(cursor)
  const type = plainTypes[cursor.type] ?? cursor.type
  if (type < geometryCode.Point || type > geometryCode.GeometryCollection)
    throw damaged(`its type ${cursor.type} is unknown`)
  const target = sink.begin(parent, type, cursor.hasZ, depth > 0)
  if (type <= geometryCode.Polygon) readSimple(cursor, sink, target, type, depth)
  else readMembers(cursor, sink, target, type, depth)
}

function readMembers<T>(cursor: WkbCursor, sink: WkbSink<T>, target: T, type: number, depth: number): void {
  const count = readCount(cursor, leastGeometry)
  for (let member = 0; member < count; member++) {
    if (type === geometryCode.GeometryCollection) readGeometry(cursor, sink, target, depth + 1)
    else {
      readHeader(cursor)
      readSimple(cursor, sink, target, type - 3, depth)
    }
  }
}

/** The rest of a point, line or polygon, whose header must be one of its kind. */
function readSimple<T>(cursor: WkbCursor, sink: WkbSink<T>, target: T, type: number, depth: number): void {
  if (cursor.type !== type && plainTypes[cursor.type] !== type) throw damaged('its parts are not of its type')
  if (type === geometryCode.Point) readPoint(cursor, sink, target)
  else if (type === geometryCode.LineString) readLine(cursor, sink, target, depth)
  else readPolygon(cursor, sink, target, depth)
}

/** A point of NaN is an empty one, and left out. */
function readPoint<T>(cursor: WkbCursor, sink: WkbSink<T>, target: T): void {
  const { view, at, stride, isLittle } = cursor
  if (stride > cursor.end - at) throw damaged('it ends too early')
  const isEmpty = Number.isNaN(view.getFloat64(at, isLittle)) && Number.isNaN(view.getFloat64(at + 8, isLittle))
  if (!isEmpty && sink.accepts(target, 0, 1)) sink.positions(target, cursor, 1)
  cursor.at = at + stride
}

function readLine<T>(cursor: WkbCursor, sink: WkbSink<T>, target: T, depth: number): void {
  if (cursor.type !== geometryCode.LineString) readCurve(cursor, sink, target, depth)
  else {
    const count = readCount(cursor, cursor.stride)
    const end = cursor.at + count * cursor.stride
    const isTaken = sink.accepts(target, 1, count)
    if (isTaken) sink.positions(target, cursor, count)
    cursor.at = end
    if (!isTaken) return
  }
  sink.endLine(target, false)
}

function readPolygon<T>(cursor: WkbCursor, sink: WkbSink<T>, target: T, depth: number): void {
  const isCurved = cursor.type === wkb.curvePolygon
  const rings = readCount(cursor, isCurved ? leastGeometry : leastRing)
  if (!sink.accepts(target, 2, rings)) return
  for (let ring = 0; ring < rings; ring++) {
    if (isCurved) {
      readHeader(cursor)
      readCurve(cursor, sink, target, depth + 1)
    } else readPositions(cursor, sink, target)
    sink.endLine(target, ring > 0)
  }
  sink.endPolygon(target, rings)
}

function readPositions<T>(cursor: WkbCursor, sink: WkbSink<T>, target: T): void {
  const count = readCount(cursor, cursor.stride)
  const end = cursor.at + count * cursor.stride
  sink.positions(target, cursor, count)
  cursor.at = end
}

/** A line, an arc string or a compound of both, each piece of which begins where the one before ended. */
function readCurve<T>(cursor: WkbCursor, sink: WkbSink<T>, target: T, depth: number): void {
  const { curves } = sink
  const isCurve = cursor.type === geometryCode.LineString || plainTypes[cursor.type] === geometryCode.LineString
  if (!curves || !isCurve) throw damaged(`its type ${cursor.type} is unknown`)
  if (depth > maxDepth) throw damaged('curves are nested too deep')
  const first = curves.count(target)
  if (cursor.type !== wkb.compoundCurve) {
    const isArc = cursor.type === wkb.circularString
    readPositions(cursor, sink, target)
    if (isArc) curves.bend(target, first)
    return
  }
  for (let pieces = readCount(cursor, leastGeometry); pieces > 0; pieces--) {
    const before = curves.count(target)
    readHeader(cursor)
    readCurve(cursor, sink, target, depth + 1)
    if (before > first && curves.count(target) > before) curves.join(target, before)
  }
}
