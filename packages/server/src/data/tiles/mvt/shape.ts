/** The kinds of geometry as the format numbers them. */
export const shapeKind = { none: 0, points: 1, lines: 2, polygons: 3 } as const

/**
 * A geometry on its way into a tile, in units of the tile: the numbers x, y, x, y … of all parts in one array. Points are
 * one part; a line is a part; a ring is a part, an outer one followed by its holes. One such thing is used for all rows.
 */
export type TileShape = {
  kind: number
  xy: Float64Array
  length: number
  parts: number
  starts: Int32Array
  ends: Int32Array
  isHole: Uint8Array
  /** West, north, east, south. */
  readonly bounds: Float64Array
}

/** The tile with its buffer, in units; the edges belong to it. `world` is the width of the world. */
export type Window = { readonly least: number; readonly most: number; readonly world: number }

const smallest = 2048
/** What is kept between rows, so that one huge geometry does not hold its memory for ever. */
const largestKept = 1 << 20

export function createShape(): TileShape {
  const shape = { kind: 0, length: 0, parts: 0, bounds: new Float64Array(4), ...emptyArrays() }
  resetShape(shape)
  return shape
}

const emptyArrays = (): Pick<TileShape, 'xy' | 'starts' | 'ends' | 'isHole'> => ({
  xy: new Float64Array(smallest),
  starts: new Int32Array(smallest),
  ends: new Int32Array(smallest),
  isHole: new Uint8Array(smallest),
})

export function resetShape(shape: TileShape): void {
  if (shape.xy.length > largestKept || shape.ends.length > largestKept) Object.assign(shape, emptyArrays())
  shape.kind = shapeKind.none
  clearParts(shape)
}

export function clearParts(shape: TileShape): void {
  shape.length = 0
  shape.parts = 0
  const { bounds } = shape
  bounds[0] = Number.POSITIVE_INFINITY
  bounds[1] = Number.POSITIVE_INFINITY
  bounds[2] = Number.NEGATIVE_INFINITY
  bounds[3] = Number.NEGATIVE_INFINITY
}

/** Makes room for `count` more numbers. */
export function reserveNumbers(shape: TileShape, count: number): Float64Array {
  if (shape.length + count > shape.xy.length) {
    const larger = new Float64Array(Math.max(shape.xy.length * 2, shape.length + count))
    larger.set(shape.xy.subarray(0, shape.length))
    shape.xy = larger
  }
  return shape.xy
}

/** The numbers from `start` to the end so far become a part. */
export function endPart(shape: TileShape, start: number, isHole: boolean): void {
  if (shape.parts === shape.ends.length) growParts(shape)
  shape.starts[shape.parts] = start
  shape.ends[shape.parts] = shape.length
  shape.isHole[shape.parts] = isHole ? 1 : 0
  shape.parts++
}

function growParts(shape: TileShape): void {
  const { starts, ends, isHole } = shape
  const capacity = ends.length * 2
  shape.starts = new Int32Array(capacity)
  shape.starts.set(starts)
  shape.ends = new Int32Array(capacity)
  shape.ends.set(ends)
  shape.isHole = new Uint8Array(capacity)
  shape.isHole.set(isHole)
}
