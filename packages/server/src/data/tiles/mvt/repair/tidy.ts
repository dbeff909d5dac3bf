import { shapeKind, type TileShape, type Window } from '../shape.ts'
import { makeValid } from './make-valid.ts'

/**
 * Leaves out what the format forbids or nobody sees: points on the way between their neighbours, lines without length, rings
 * without area, the holes of such rings, and polygons with a hole that is all of the window. Polygons are made valid, with outer
 * rings of positive area and holes of negative. Undefined when nothing is left. The coordinates are small integers, so all of
 * this is exact.
 */
export function tidyShape(shape: TileShape, window: Window): TileShape | undefined {
  let tidy = shape
  if (shape.kind === shapeKind.lines) tidyLines(shape)
  else if (shape.kind === shapeKind.polygons) {
    tidyPolygons(shape, 2 * (window.most - window.least) ** 2)
    if (shape.parts > 0) tidy = makeValid(shape, window)
    // Where rings were cut apart there may be points on straight stretches again.
    if (tidy !== shape) tidyPolygons(tidy, Number.NaN)
  }
  return tidy.parts > 0 ? tidy : undefined
}

function tidyLines(shape: TileShape): void {
  const { xy, starts, ends } = shape
  let kept = 0
  for (let part = 0; part < shape.parts; part++) {
    const start = starts[part]
    const end = straightenLine(xy, start, ends[part])
    if (end - start < 4) continue
    starts[kept] = start
    ends[kept] = end
    kept++
  }
  shape.parts = kept
}

function straightenLine(xy: Float64Array, start: number, end: number): number {
  let length = start
  let ax = Number.NaN
  let ay = Number.NaN
  let bx = Number.NaN
  let by = Number.NaN
  for (let index = start; index < end; index += 2) {
    const x = xy[index]
    const y = xy[index + 1]
    const dx = x - bx
    const dy = y - by
    if (dx === 0 && dy === 0) continue
    const isOnTheWay = (bx - ax) * dy === (by - ay) * dx && (bx - ax) * dx + (by - ay) * dy > 0
    if (isOnTheWay) length -= 2
    else {
      ax = bx
      ay = by
    }
    bx = x
    by = y
    xy[length++] = x
    xy[length++] = y
  }
  return length
}

/** The points of a ring that is all of the window, as numbers. */
const windowLength = 8

/** Why there is no outer ring for the holes that follow: it lies elsewhere, it has no area, or its polygon is not seen. */
const absent = -1
const collapsed = -2
const unseen = -3

/** `windowArea` is twice the area of the window. */
function tidyPolygons(shape: TileShape, windowArea: number): void {
  const { xy, starts, ends, isHole } = shape
  let kept = 0
  /** Where the outer ring of the polygon at hand is. */
  let outer = absent
  for (let part = 0; part < shape.parts; part++) {
    const start = starts[part]
    if (isHole[part] === 0) outer = absenceOf(shape, part)
    const end = straightenRing(xy, start, ends[part])
    const first = ringStart(xy, start, end)
    // A hole outside of its outer ring is an area by itself.
    const isRest = outer === collapsed && isHole[part] === 1 && isThin(xy, first, end)
    if (end - first < 6 || outer === unseen || isRest) continue
    keepRing(shape, kept, first, end, outer >= 0)
    if (outer < 0) outer = kept
    if (outer < kept && isWindowRing(shape, kept, windowArea) && isWindowRing(shape, outer, windowArea)) {
      kept = outer
      outer = unseen
    } else kept++
  }
  shape.parts = kept
  keepWindowOnly(shape, windowArea)
}

const absenceOf = ({ starts, ends }: TileShape, part: number): number =>
  starts[part] === ends[part] ? absent : collapsed

/** Stores a ring as a part, turned as it has to be. */
function keepRing(shape: TileShape, part: number, start: number, end: number, isHole: boolean): void {
  const area = doubleArea(shape.xy, start, end)
  if (area !== 0 && area > 0 === isHole) reverse(shape.xy, start, end)
  shape.starts[part] = start
  shape.ends[part] = end
  shape.isHole[part] = isHole ? 1 : 0
}

/** Hardly wider than a unit: what is left of the hole in an outer ring that has collapsed to a line. */
function isThin(xy: Float64Array, start: number, end: number): boolean {
  let length = 0
  for (let index = start + 2; index < end; index += 2) {
    const dx = xy[index] - xy[start]
    const dy = xy[index + 1] - xy[start + 1]
    length = Math.max(length, Math.abs(dx) + Math.abs(dy))
  }
  return Math.abs(doubleArea(xy, start, end)) <= 4 * length
}

function isWindowRing({ xy, starts, ends }: TileShape, part: number, windowArea: number): boolean {
  const start = starts[part]
  const end = ends[part]
  return end - start === windowLength && Math.abs(doubleArea(xy, start, end)) === windowArea
}

/** What else there is, is not seen beside a polygon that is all of the window. */
function keepWindowOnly(shape: TileShape, windowArea: number): void {
  const { starts, ends, isHole, parts } = shape
  for (let part = 0; part < parts && parts > 1; part++) {
    const hasHoles = part + 1 < parts && isHole[part + 1] > 0
    if (isHole[part] > 0 || hasHoles || !isWindowRing(shape, part, windowArea)) continue
    starts[0] = starts[part]
    ends[0] = ends[part]
    shape.parts = 1
    return
  }
}

/** Leaves out the closing point, the points on straight stretches and spikes; answers where the ring ends. */
function straightenRing(xy: Float64Array, start: number, end: number): number {
  let length = start
  let ax = Number.NaN
  let ay = Number.NaN
  let bx = Number.NaN
  let by = Number.NaN
  for (let index = start; index < end; index += 2) {
    const x = xy[index]
    const y = xy[index + 1]
    if ((bx - ax) * (y - by) === (by - ay) * (x - bx)) {
      length = dropStraight(xy, start, length, x, y)
      bx = length > start ? xy[length - 2] : Number.NaN
      by = length > start ? xy[length - 1] : Number.NaN
    }
    ax = bx
    ay = by
    xy[length++] = bx = x
    xy[length++] = by = y
  }
  return dropStraight(xy, start, length, xy[start], xy[start + 1])
}

/** Takes points from the end as long as they lie on the way to x, y, or are that point; the new end. */
function dropStraight(xy: Float64Array, start: number, end: number, x: number, y: number): number {
  let length = end
  while (length - start >= 4 && isStraight(xy, length - 4, length - 2, x, y)) length -= 2
  return length - start === 2 && xy[start] === x && xy[start + 1] === y ? start : length
}

/** The first point too may lie on the way from the last to the second. */
function ringStart(xy: Float64Array, start: number, end: number): number {
  let first = start
  while (end - first >= 6 && isStraight(xy, end - 2, first, xy[first + 2], xy[first + 3])) first += 2
  return first
}

function isStraight(xy: Float64Array, a: number, b: number, x: number, y: number): boolean {
  const bx = xy[b]
  const by = xy[b + 1]
  return (bx - xy[a]) * (y - by) === (by - xy[a + 1]) * (x - bx)
}

function doubleArea(xy: Float64Array, start: number, end: number): number {
  let area = 0
  let lastX = xy[end - 2]
  let lastY = xy[end - 1]
  for (let index = start; index < end; index += 2) {
    const x = xy[index]
    const y = xy[index + 1]
    area += lastX * y - x * lastY
    lastX = x
    lastY = y
  }
  return area
}

function reverse(xy: Float64Array, start: number, end: number): void {
  for (let low = start, high = end - 2; low < high; low += 2, high -= 2) {
    const x = xy[low]
    const y = xy[low + 1]
    xy[low] = xy[high]
    xy[low + 1] = xy[high + 1]
    xy[high] = x
    xy[high + 1] = y
  }
}
