// WKB → shapes in units of a tile: projected, rounded, without repeated points.

import { readWkb, type WkbCursor, type WkbSink } from '../../../query/geometry/encoding/wkb-reader.ts'
import { GeometryFault } from '../../../query/geometry/geometry-fault.ts'
import type { PointConversion } from './convert.ts'
import { latitudeY, type TileProjection } from './projection.ts'
import { clearParts, endPart, reserveNumbers, resetShape, shapeKind, type TileShape } from './shape.ts'

/** A shape, and how coordinates become units of its tile. */
export type ProjectedShape = { readonly shape: TileShape; readonly projection: TileProjection }

/** Beyond this a double no longer holds every unit, and nothing on Earth is that far away. */
const farthest = 2 ** 52

/**
 * Reads WKB or EWKB of either byte order into the shape, projected and rounded to units, repeated points left out. Z and M
 * are ignored. Of a collection only the parts of the highest dimension are kept, which is what ST_AsMVTGeom does. False
 * when there is nothing to draw or the bytes make no sense; curves are not read.
 */
export function readShape(cursor: WkbCursor, target: ProjectedShape): boolean {
  const { shape } = target
  resetShape(shape)
  try {
    readWkb(cursor, shapeSink, target)
  } catch (error) {
    if (error instanceof GeometryFault) return false
    throw error
  }
  if (shape.length === 0 || !isNear(shape.bounds)) return false
  if (shape.kind === shapeKind.points) endPart(shape, 0, false)
  return true
}

/** False also when a bound is not a number. */
function isNear(bounds: Float64Array): boolean {
  const least = Math.min(bounds[0], bounds[1])
  const most = Math.max(bounds[2], bounds[3])
  return least > -farthest && most < farthest
}

const shapeSink: WkbSink<ProjectedShape> = {
  begin: (target) => target,
  /** A higher dimension drives out a lower one. */
  accepts({ shape }, dimension, count) {
    const kind = dimension + 1
    if (count === 0 || kind < shape.kind) return false
    if (kind > shape.kind) {
      shape.kind = kind
      clearParts(shape)
    }
    return true
  },
  positions: addPositions,
  endLine({ shape }, isHole) {
    endPart(shape, shape.parts === 0 ? 0 : shape.ends[shape.parts - 1], isHole)
  },
  endPolygon() {},
}

const toNowhere: PointConversion = () => [Number.NaN, Number.NaN]

/** In place: nobody reads the bytes again. */
function convertRun(
  { view, at, stride, isLittle }: WkbCursor,
  convert: PointConversion = toNowhere,
  count: number,
): void {
  for (let place = at; place < at + count * stride; place += stride) {
    const [x, y] = convert(view.getFloat64(place, isLittle), view.getFloat64(place + 8, isLittle))
    view.setFloat64(place, x, isLittle)
    view.setFloat64(place + 8, y, isLittle)
  }
}

/**
 * The one loop over coordinates: projects, rounds, leaves out repeated points and widens the bounds, which become NaN when a
 * coordinate is. Everything is a local variable, because here is where the time goes.
 */
function addPositions({ shape, projection }: ProjectedShape, cursor: WkbCursor, count: number): void {
  if (projection.converts) convertRun(cursor, projection.converts.get(cursor.srid), count)
  const { view, stride, isLittle } = cursor
  const { bounds } = shape
  const xy = reserveNumbers(shape, count * 2)
  const { isLonLat, xScale, xOffset, yScale, yOffset } = projection
  let west = bounds[0]
  let north = bounds[1]
  let east = bounds[2]
  let south = bounds[3]
  let { length } = shape
  let lastX = Number.NaN
  let lastY = Number.NaN
  let at = cursor.at
  for (let index = 0; index < count; index++, at += stride) {
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
  shape.length = length
  bounds[0] = west
  bounds[1] = north
  bounds[2] = east
  bounds[3] = south
}
