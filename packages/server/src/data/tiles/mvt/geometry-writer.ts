// Writes geometries as the commands of a vector tile: MoveTo, LineTo, ClosePath, with zigzag deltas.
import { shapeKind, type TileShape } from './shape.ts'
import { putVarint, varintSize } from './varint.ts'

const moveTo = 1
const lineTo = 2
const closePath = 15

/** The most bytes that putGeometry may write. */
export function geometryRoom(shape: TileShape): number {
  return 10 + shape.length * 5 + shape.parts * 11
}

/** Writes the commands that draw the shape at `at`, where there is room, and answers where they end. */
export function putGeometry(bytes: Buffer, at: number, shape: TileShape): number {
  const { xy, starts, ends, parts, kind } = shape
  pen[0] = 0
  pen[1] = 0
  if (kind === shapeKind.points) {
    const end = ends[0]
    return putPath(bytes, putVarint(bytes, at, moveTo + 8 * (end / 2)), xy, 0, end)
  }
  let to = at
  for (let part = 0; part < parts; part++) {
    const start = starts[part]
    const end = ends[part]
    bytes[to++] = moveTo + 8
    to = putPath(bytes, to, xy, start, start + 2)
    to = putVarint(bytes, to, lineTo + 8 * ((end - start) / 2 - 1))
    to = putPath(bytes, to, xy, start + 2, end)
    if (kind === shapeKind.polygons) bytes[to++] = closePath
  }
  return to
}

/** Where the last command left the pen. */
const pen = new Int32Array(2)

function putPath(bytes: Buffer, at: number, xy: Float64Array, start: number, end: number): number {
  let to = at
  let penX = pen[0]
  let penY = pen[1]
  for (let index = start; index < end; index += 2) {
    const x = xy[index] | 0
    const y = xy[index + 1] | 0
    to = putSigned(bytes, to, (x - penX) | 0)
    to = putSigned(bytes, to, (y - penY) | 0)
    penX = x
    penY = y
  }
  pen[0] = penX
  pen[1] = penY
  return to
}

function putSigned(bytes: Buffer, at: number, value: number): number {
  let rest = (value << 1) ^ (value >> 31)
  let to = at
  while (rest > 127) {
    bytes[to++] = (rest & 127) | 128
    rest >>>= 7
  }
  bytes[to++] = rest
  return to
}

/** Writes the length of what lies between `from` and `to` before it, and answers where it ends then. */
export function putLength(bytes: Buffer, lengthAt: number, from: number, to: number): number {
  const size = varintSize(to - from)
  const body = lengthAt + size
  if (body !== from) bytes.copyWithin(body, from, to)
  putVarint(bytes, lengthAt, to - from)
  return body + to - from
}
