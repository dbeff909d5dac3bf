import type { Convert } from './convert.ts'
import { latitudeY, type Projection } from './projection.ts'
import { clearParts, endPart, reserveNumbers, resetShape, type Shape, shapeKind } from './shape.ts'

/** Where in the bytes reading is, and where the value ends. */
export type Cursor = { view: DataView; at: number; end: number; srid: number }

const code = {
  point: 1,
  lineString: 2,
  polygon: 3,
  multiPoint: 4,
  multiLineString: 5,
  multiPolygon: 6,
  collection: 7,
  polyhedralSurface: 15,
  tin: 16,
  triangle: 17,
} as const

const maxDepth = 32
/** Beyond this a double no longer holds every unit, and nothing on Earth is that far away. */
const farthest = 2 ** 52

/**
 * Reads WKB or EWKB of either byte order into the shape, projected and rounded to units, repeated points left out. Z and M
 * are ignored. Of a collection only the parts of the highest dimension are kept, which is what ST_AsMVTGeom does. False
 * when there is nothing to draw or the bytes make no sense; curves are not read.
 */
export function readWkb(cursor: Cursor, shape: Shape, projection: Projection): boolean {
  resetShape(shape)
  cursor.srid = 0
  if (!readGeometry(cursor, shape, projection, 0) || shape.length === 0) return false
  if (!isNear(shape.bounds)) return false
  if (shape.kind === shapeKind.points) endPart(shape, 0, false)
  return true
}

/** False also when a bound is not a number. */
function isNear(bounds: Float64Array): boolean {
  const least = Math.min(bounds[0] as number, bounds[1] as number)
  const most = Math.max(bounds[2] as number, bounds[3] as number)
  return least > -farthest && most < farthest
}

function readGeometry(cursor: Cursor, shape: Shape, projection: Projection, depth: number): boolean {
  const { view } = cursor
  if (cursor.end - cursor.at < 9 || depth > maxDepth) return false
  const order = view.getUint8(cursor.at)
  if (order > 1) return false
  const isLittle = order === 1
  const type = view.getUint32(cursor.at + 1, isLittle)
  cursor.at += 5
  if ((type & 0x20000000) !== 0) {
    cursor.srid = view.getUint32(cursor.at, isLittle)
    cursor.at += 4
  }
  const isoType = type & 0x1fffffff
  const iso = Math.floor(isoType / 1000)
  if (iso > 3) return false
  const hasZ = type >= 0x80000000 || iso === 1 || iso === 3
  const hasM = (type & 0x40000000) !== 0 || iso >= 2
  const step = 16 + (hasZ ? 8 : 0) + (hasM ? 8 : 0)
  switch (isoType - iso * 1000) {
    case code.point:
      return readPoint(cursor, shape, projection, step, isLittle)
    case code.lineString:
      return readLine(cursor, shape, projection, step, isLittle)
    case code.polygon:
    case code.triangle:
      return readPolygon(cursor, shape, projection, step, isLittle)
    case code.multiPoint:
    case code.multiLineString:
    case code.multiPolygon:
    case code.collection:
    case code.polyhedralSurface:
    case code.tin:
      return readMembers(cursor, shape, projection, isLittle, depth)
    default:
      return false
  }
}

function readMembers(cursor: Cursor, shape: Shape, projection: Projection, isLittle: boolean, depth: number): boolean {
  const count = readCount(cursor, isLittle, 9)
  for (let index = 0; index < count; index++) {
    if (!readGeometry(cursor, shape, projection, depth + 1)) return false
  }
  return count >= 0
}

/** A count of things that take `size` bytes at least, or -1 when the bytes cannot hold as many. */
function readCount(cursor: Cursor, isLittle: boolean, size: number): number {
  if (cursor.end - cursor.at < 4) return -1
  const count = cursor.view.getUint32(cursor.at, isLittle)
  cursor.at += 4
  return count * size <= cursor.end - cursor.at ? count : -1
}

/** A higher dimension drives out a lower one. */
function take(shape: Shape, kind: number): void {
  if (kind > shape.kind) {
    shape.kind = kind
    clearParts(shape)
  }
}

function readPoint(c: Cursor, shape: Shape, projection: Projection, step: number, isLittle: boolean): boolean {
  const { view, at } = c
  if (c.end - at < step) return false
  const isEmpty = Number.isNaN(view.getFloat64(at, isLittle)) && Number.isNaN(view.getFloat64(at + 8, isLittle))
  if (isEmpty || shape.kind > shapeKind.points) {
    c.at = at + step
    return true
  }
  take(shape, shapeKind.points)
  readRun(c, shape, projection, 1, step, isLittle)
  return true
}

function readLine(c: Cursor, shape: Shape, projection: Projection, step: number, isLittle: boolean): boolean {
  const count = readCount(c, isLittle, step)
  if (count <= 0 || shape.kind > shapeKind.lines) {
    c.at += count * step
    return count >= 0
  }
  take(shape, shapeKind.lines)
  const start = shape.length
  readRun(c, shape, projection, count, step, isLittle)
  endPart(shape, start, false)
  return true
}

function readPolygon(c: Cursor, shape: Shape, projection: Projection, step: number, isLittle: boolean): boolean {
  const rings = readCount(c, isLittle, 4)
  if (rings <= 0) return rings === 0
  take(shape, shapeKind.polygons)
  for (let ring = 0; ring < rings; ring++) {
    const count = readCount(c, isLittle, step)
    if (count < 0) return false
    const start = shape.length
    readRun(c, shape, projection, count, step, isLittle)
    endPart(shape, start, ring > 0)
  }
  return true
}

const toNowhere: Convert = () => [Number.NaN, Number.NaN]

/** In place: nobody reads the bytes again. */
function convertRun(
  { view, at }: Cursor,
  convert: Convert = toNowhere,
  count: number,
  step: number,
  isLittle: boolean,
): void {
  for (let place = at; place < at + count * step; place += step) {
    const [x, y] = convert(view.getFloat64(place, isLittle), view.getFloat64(place + 8, isLittle))
    view.setFloat64(place, x, isLittle)
    view.setFloat64(place + 8, y, isLittle)
  }
}

/**
 * The one loop over coordinates: projects, rounds, leaves out repeated points and widens the bounds, which become NaN when a
 * coordinate is. Everything is a local variable, because here is where the time goes.
 */
function readRun(
  cursor: Cursor,
  shape: Shape,
  projection: Projection,
  count: number,
  step: number,
  isLittle: boolean,
): void {
  if (projection.converts) convertRun(cursor, projection.converts.get(cursor.srid), count, step, isLittle)
  const { view } = cursor
  const { bounds } = shape
  const xy = reserveNumbers(shape, count * 2)
  const { isLonLat, xScale, xOffset, yScale, yOffset } = projection
  let west = bounds[0] as number
  let north = bounds[1] as number
  let east = bounds[2] as number
  let south = bounds[3] as number
  let { length } = shape
  let lastX = Number.NaN
  let lastY = Number.NaN
  let at = cursor.at
  for (let index = 0; index < count; index++, at += step) {
    const x = Math.floor(view.getFloat64(at, isLittle) * xScale + xOffset + 0.5)
    const sourceY = view.getFloat64(at + 8, isLittle)
    const y = Math.floor((isLonLat ? latitudeY(projection, sourceY) : sourceY * yScale + yOffset) + 0.5)
    if (x === lastX && y === lastY) continue
    west = Math.min(west, x)
    east = Math.max(east, x)
    north = Math.min(north, y)
    south = Math.max(south, y)
    xy[length] = lastX = x
    xy[length + 1] = lastY = y
    length += 2
  }
  cursor.at = at
  shape.length = length
  bounds[0] = west
  bounds[1] = north
  bounds[2] = east
  bounds[3] = south
}
