import { type Shape, shapeKind, type Window } from './shape.ts'

/**
 * Leaves out what the format forbids or nobody sees: points on the way between their neighbours, lines without length,
 * rings without area, the holes of such rings, and polygons with a hole that is all of the window. Turns outer rings to a positive area and holes to a negative one.
 * False when nothing is left. The coordinates are small integers, so all of this is exact.
 */
export function tidyShape(shape: Shape, { least, most }: Window): boolean {
  if (shape.kind === shapeKind.lines) tidyLines(shape)
  else if (shape.kind === shapeKind.polygons) tidyPolygons(shape, 2 * (most - least) ** 2)
  return shape.parts > 0
}

function tidyLines(shape: Shape): void {
  const { xy, starts, ends } = shape
  let kept = 0
  for (let part = 0; part < shape.parts; part++) {
    const start = starts[part] as number
    const end = straightenLine(xy, start, ends[part] as number)
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
    const x = xy[index] as number
    const y = xy[index + 1] as number
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

function tidyPolygons(shape: Shape, windowArea: number): void {
  const { xy, starts, ends, isHole } = shape
  let kept = 0
  /** Where the polygon at hand began, or -1 when its outer ring is gone and its holes go too. */
  let outer = -1
  for (let part = 0; part < shape.parts; part++) {
    const hole = isHole[part] as number
    if (hole > 0 && outer < 0) continue
    const start = starts[part] as number
    const end = straightenRing(xy, start, ends[part] as number)
    const first = ringStart(xy, start, end)
    const area = doubleArea(xy, first, end)
    if (hole === 0) outer = area === 0 ? -1 : kept
    if (area === 0) continue
    if (Math.abs(area) * hole === windowArea) {
      kept = outer
      outer = -1
      continue
    }
    if (area > 0 === hole > 0) reverse(xy, first, end)
    starts[kept] = first
    ends[kept++] = end
  }
  shape.parts = kept
}

/** Leaves out the closing point, the points on straight stretches and spikes; answers where the ring ends. */
function straightenRing(xy: Float64Array, start: number, end: number): number {
  let length = start
  let ax = Number.NaN
  let ay = Number.NaN
  let bx = Number.NaN
  let by = Number.NaN
  for (let index = start; index < end; index += 2) {
    const x = xy[index] as number
    const y = xy[index + 1] as number
    if ((bx - ax) * (y - by) === (by - ay) * (x - bx)) {
      length = dropStraight(xy, start, length, x, y)
      bx = length > start ? (xy[length - 2] as number) : Number.NaN
      by = length > start ? (xy[length - 1] as number) : Number.NaN
    }
    ax = bx
    ay = by
    xy[length++] = bx = x
    xy[length++] = by = y
  }
  return dropStraight(xy, start, length, xy[start] as number, xy[start + 1] as number)
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
  while (end - first >= 6 && isStraight(xy, end - 2, first, xy[first + 2] as number, xy[first + 3] as number))
    first += 2
  return first
}

function isStraight(xy: Float64Array, a: number, b: number, x: number, y: number): boolean {
  const bx = xy[b] as number
  const by = xy[b + 1] as number
  return (bx - (xy[a] as number)) * (y - by) === (by - (xy[a + 1] as number)) * (x - bx)
}

function doubleArea(xy: Float64Array, start: number, end: number): number {
  let area = 0
  let lastX = xy[end - 2] as number
  let lastY = xy[end - 1] as number
  for (let index = start; index < end; index += 2) {
    const x = xy[index] as number
    const y = xy[index + 1] as number
    area += lastX * y - x * lastY
    lastX = x
    lastY = y
  }
  return end - start < 6 ? 0 : area
}

function reverse(xy: Float64Array, start: number, end: number): void {
  for (let low = start, high = end - 2; low < high; low += 2, high -= 2) {
    const x = xy[low] as number
    const y = xy[low + 1] as number
    xy[low] = xy[high] as number
    xy[low + 1] = xy[high + 1] as number
    xy[high] = x
    xy[high + 1] = y
  }
}
