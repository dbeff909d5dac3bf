// Clips rings to the window of a tile by the algorithm of Sutherland and Hodgman.
import { endPart, reserveNumbers, type TileShape, type Window } from './shape.ts'

const smallest = 4096
const largestKept = 1 << 20
let ring = new Float64Array(smallest)
let cut = new Float64Array(smallest)

/** Sutherland and Hodgman's way: one edge of the window after the other cuts the ring. */
export function clipRing(
  shape: TileShape,
  part: number,
  shift: number,
  { least, most }: Window,
  into: TileShape,
): void {
  const start = shape.starts[part]
  let length = shape.ends[part] - start
  if (ring.length < length) ring = new Float64Array(length)
  for (let index = 0; index < length; index += 2) {
    ring[index] = shape.xy[start + index] + shift
    ring[index + 1] = shape.xy[start + index + 1]
  }
  length = cutRing(length, 0, least, 1)
  length = cutRing(length, 0, most, -1)
  length = cutRing(length, 1, least, 1)
  length = cutRing(length, 1, most, -1)
  const target = reserveNumbers(into, length)
  const from = into.length
  for (let index = 0; index < length; index++) target[from + index] = ring[index]
  into.length = from + length
  endPart(into, from, shape.isHole[part] === 1)
  if (ring.length > largestKept) ring = new Float64Array(smallest)
  if (cut.length > largestKept) cut = new Float64Array(smallest)
}

/** Leaves of the ring the side of one edge: of x (axis 0) or y (axis 1) what is ≥ the edge (side 1) or ≤ it (side -1). */
function cutRing(length: number, axis: number, edge: number, side: number): number {
  if (length === 0 || isInside(length, axis, edge, side)) return length
  // A cut adds one point for each crossing, and there are two crossings at most for each point that it takes away.
  if (cut.length < length * 2) cut = new Float64Array(length * 2)
  const source = ring
  const target = cut
  const cross = 1 - axis
  let size = 0
  let lastAlong = source[length - 2 + axis]
  let lastAcross = source[length - 2 + cross]
  let wasInside = (lastAlong - edge) * side >= 0
  for (let index = 0; index < length; index += 2) {
    const along = source[index + axis]
    const across = source[index + cross]
    const isWithin = (along - edge) * side >= 0
    if (isWithin !== wasInside) {
      target[size + axis] = edge
      target[size + cross] = crossing(lastAlong, lastAcross, along, across, edge)
      size += 2
    }
    if (isWithin) {
      target[size + axis] = along
      target[size + cross] = across
      size += 2
    }
    lastAlong = along
    lastAcross = across
    wasInside = isWithin
  }
  ring = target
  cut = source
  return size
}

function isInside(length: number, axis: number, edge: number, side: number): boolean {
  for (let index = axis; index < length; index += 2) {
    if ((ring[index] - edge) * side < 0) return false
  }
  return true
}

/** The same for both directions, so that neighbours that share a border are cut at the same place. */
function crossing(ax: number, ay: number, bx: number, by: number, edge: number): number {
  const y = ax < bx ? ay + ((edge - ax) / (bx - ax)) * (by - ay) : by + ((edge - bx) / (ax - bx)) * (ay - by)
  return Math.floor(y + 0.5)
}
