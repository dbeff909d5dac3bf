// Clips lines to the window of a tile.
import { endPart, reserveNumbers, type TileShape, type Window } from './shape.ts'

/** Cuts a line into the parts that are inside. */
export function clipLine(shape: TileShape, part: number, shift: number, window: Window, into: TileShape): void {
  const { xy } = shape
  const start = shape.starts[part]
  const end = shape.ends[part]
  let from = into.length
  let isDrawing = false
  for (let index = start; index + 3 < end; index += 2) {
    const piece = clipSegment(xy[index] + shift, xy[index + 1], xy[index + 2] + shift, xy[index + 3], window)
    if (isDrawing && (!piece || hasEntered)) {
      endPart(into, from, false)
      isDrawing = false
    }
    if (!piece) continue
    if (!isDrawing) {
      from = into.length
      push(into, segment[0], segment[1])
      isDrawing = true
    }
    push(into, segment[2], segment[3])
  }
  if (isDrawing) endPart(into, from, false)
}

function push(into: TileShape, x: number, y: number): void {
  const target = reserveNumbers(into, 2)
  target[into.length++] = x
  target[into.length++] = y
}

/** What clipSegment found, and whether it begins at an edge of the window. */
const segment = new Float64Array(4)
let hasEntered = false

/** Liang and Barsky's way: the stretch of the segment between two fractions of its length. */
function clipSegment(ax: number, ay: number, bx: number, by: number, { least, most }: Window): boolean {
  hasEntered = false
  fractions[0] = 0
  fractions[1] = 1
  const dx = bx - ax
  const dy = by - ay
  if (!narrow(-dx, ax - least) || !narrow(dx, most - ax)) return false
  if (!narrow(-dy, ay - least) || !narrow(dy, most - ay)) return false
  const first = fractions[0]
  const last = fractions[1]
  hasEntered = first > 0
  segment[0] = first > 0 ? Math.floor(ax + first * dx + 0.5) : ax
  segment[1] = first > 0 ? Math.floor(ay + first * dy + 0.5) : ay
  segment[2] = last < 1 ? Math.floor(ax + last * dx + 0.5) : bx
  segment[3] = last < 1 ? Math.floor(ay + last * dy + 0.5) : by
  return true
}

const fractions = new Float64Array(2)

/** Leaves of the fractions what is inside of one edge; false when nothing is left. */
function narrow(slope: number, distance: number): boolean {
  if (slope === 0) return distance >= 0
  const fraction = distance / slope
  if (slope < 0) {
    if (fraction > fractions[1]) return false
    if (fraction > fractions[0]) fractions[0] = fraction
  } else {
    if (fraction < fractions[0]) return false
    if (fraction < fractions[1]) fractions[1] = fraction
  }
  return true
}
