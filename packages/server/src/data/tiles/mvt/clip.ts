import { clipLine } from './clip-line.ts'
import { clipRing } from './clip-ring.ts'
import { createShape, endPart, reserveNumbers, resetShape, shapeKind, type TileShape, type Window } from './shape.ts'

const clipped = createShape()

/**
 * The part of the shape in the window, drawn in each copy of the world that touches it, or undefined when there is none. A
 * shape that lies inside as it is comes back untouched; what comes back is valid until the next call.
 */
export function clipShape(shape: TileShape, window: Window): TileShape | undefined {
  const { least, most, world } = window
  const west = shape.bounds[0]
  const north = shape.bounds[1]
  const east = shape.bounds[2]
  const south = shape.bounds[3]
  if (north > most || south < least) return undefined
  const isAlone = west + world > most && east - world < least
  if (isAlone && west >= least && east <= most && north >= least && south <= most) return shape
  if (isAlone && (west > most || east < least)) return undefined
  resetShape(clipped)
  clipped.kind = shape.kind
  for (let shift = -world; shift <= world; shift += world) {
    if (west + shift <= most && east + shift >= least) clipCopy(shape, shift, window)
  }
  return clipped.length > 0 ? clipped : undefined
}

function clipCopy(shape: TileShape, shift: number, window: Window): void {
  if (shape.kind === shapeKind.points) clipPoints(shape, shift, window)
  else {
    const clipPart = shape.kind === shapeKind.lines ? clipLine : clipRing
    for (let part = 0; part < shape.parts; part++) clipPart(shape, part, shift, window, clipped)
  }
}

function clipPoints(shape: TileShape, shift: number, { least, most }: Window): void {
  const target = reserveNumbers(clipped, shape.length)
  let { length } = clipped
  for (let index = 0; index < shape.length; index += 2) {
    const x = shape.xy[index] + shift
    const y = shape.xy[index + 1]
    if (x < least || x > most || y < least || y > most) continue
    target[length++] = x
    target[length++] = y
  }
  clipped.length = length
  if (clipped.parts === 0) endPart(clipped, 0, false)
  clipped.ends[0] = length
}
