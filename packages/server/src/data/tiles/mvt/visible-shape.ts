import { clearParts, endPart, reserveNumbers, shapeKind, type TileShape } from './shape.ts'

/** The side of the smallest shape, in tiles: half a pixel. */
const leastSide = 1 / 1024

/**
 * A line or an area that is too small to be drawn is made as large as can be seen: where rows are thinned it stands for those beside it,
 * and may be the only one of its place.
 */
export function makeVisible(shape: TileShape, extent: number): void {
  const { bounds, kind } = shape
  const [west = 0, north = 0, east = 0, south = 0] = bounds
  const side = Math.max(1, Math.round(extent * leastSide))
  const isShape = kind === shapeKind.lines || kind === shapeKind.polygons
  if (!isShape || east - west >= side || south - north >= side) return
  const left = Math.floor((west + east - side) / 2)
  const top = Math.floor((north + south) / 2)
  clearParts(shape)
  const [right, bottom] = [left + side, top + side]
  const xy =
    kind === shapeKind.lines ? [left, top, right, top] : [left, top, right, top, right, bottom, left, bottom, left, top]
  reserveNumbers(shape, xy.length).set(xy)
  shape.length = xy.length
  endPart(shape, 0, false)
  bounds.set([left, top, right, kind === shapeKind.lines ? top : bottom])
}
