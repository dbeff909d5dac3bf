import type { Position } from './geojson.ts'

type Vector = readonly [number, number, number]

/** A line on the unit sphere, joined by great circles. */
export type Path = { readonly first: Position; readonly vectors: readonly Vector[]; readonly blocks: readonly Block[] }

/** Some edges in a row. Nothing on them is further from the first of their ends than `reach`. */
type Block = { readonly vectors: readonly Vector[]; readonly begin: Vector; readonly reach: number }

/** Two positions on two paths, and the straight way between them through the sphere. */
export type Approach = { readonly chord: number; readonly from?: Vector; readonly to?: Vector }

export const nowhere: Approach = { chord: Infinity }

/** A circle on the sphere that holds a whole ring: its middle, and the cosine of its radius. */
export type Cap = { readonly middle: Vector; readonly cosine: number }

const radians = Math.PI / 180
const blockSize = 16

export function pathOf(positions: readonly Position[]): Path {
  const vectors = positions.map(([lon, lat]): Vector => {
    const flat = Math.cos(lat * radians)
    return [flat * Math.cos(lon * radians), flat * Math.sin(lon * radians), Math.sin(lat * radians)]
  })
  const blocks: Block[] = []
  for (let index = 0; index === 0 || index < vectors.length - 1; index += blockSize) {
    blocks.push(blockOf(vectors.slice(index, index + blockSize + 1)))
  }
  return { first: positions[0] ?? [0, 0], vectors, blocks }
}

function blockOf(vectors: readonly Vector[]): Block {
  const [begin = [0, 0, 1]] = vectors
  let chords = 0
  for (let index = 1; index < vectors.length; index++) {
    chords += distance(vectors[index - 1] ?? begin, vectors[index] ?? begin)
  }
  // An edge is at most π/2 of its chord long.
  return { vectors, begin, reach: (chords * Math.PI) / 2 }
}

/** The nearer one of `best` and where these paths are nearest to each other. */
export function meet(path: Path, other: Path, best: Approach): Approach {
  let nearest = best
  for (const { begin } of path.blocks) {
    for (const block of other.blocks) nearest = nearer(nearest, begin, block.begin)
  }
  for (const here of path.blocks) {
    for (const there of other.blocks) {
      const least = distance(here.begin, there.begin) - here.reach - there.reach
      if (least <= 0 && doBlocksCross(here, there)) return { chord: 0, from: here.begin, to: here.begin }
      if (least < nearest.chord) nearest = nearestOfCorners(there, here, nearestOfCorners(here, there, nearest))
    }
  }
  return nearest
}

function nearer(best: Approach, from: Vector, to: Vector): Approach {
  const chord = distance(from, to)
  return chord < best.chord ? { chord, from, to } : best
}

/** From the corners of the first to anywhere on the second. */
function nearestOfCorners({ vectors }: Block, other: Block, best: Approach): Approach {
  let nearest = best
  for (const corner of vectors) {
    let start = other.begin
    for (const end of other.vectors) {
      nearest = nearer(nearest, corner, nearestOnEdge(corner, start, end))
      start = end
    }
  }
  return nearest
}

/** The foot of the perpendicular if it is on the edge, and otherwise the nearer end. */
function nearestOnEdge(position: Vector, start: Vector, end: Vector): Vector {
  const normal = unit(cross(difference(end, start), sum(end, start)))
  const middle = unit(sum(start, end))
  if (!normal || !middle) return start
  const height = dot(position, normal)
  const [x, y, z] = normal
  const foot = unit([position[0] - x * height, position[1] - y * height, position[2] - z * height])
  if (foot && dot(foot, middle) >= dot(start, middle)) return foot
  return distance(position, start) <= distance(position, end) ? start : end
}

function doBlocksCross(block: Block, other: Block): boolean {
  let a = block.begin
  for (const b of block.vectors) {
    let c = other.begin
    for (const d of other.vectors) {
      if (doCross(a, b, c, d)) return true
      c = d
    }
    a = b
  }
  return false
}

function doCross(a: Vector, b: Vector, c: Vector, d: Vector): boolean {
  const first = cross(a, b)
  const side = -dot(first, c)
  if (side * dot(first, d) <= 0) return false
  const second = cross(c, d)
  return side * -dot(second, b) > 0 && side * dot(second, a) > 0
}

/** None where it would be about half of the sphere or more: then nothing tells the inside from the outside. */
export function capAround({ vectors }: Path): Cap | undefined {
  const middle = unit(vectors.reduce(sum, [0, 0, 0]))
  if (!middle) return undefined
  const cosine = vectors.reduce((least, vector) => Math.min(least, dot(middle, vector)), 1)
  return cosine > 0.1 ? { middle, cosine } : undefined
}

/** Whether the path begins inside the rings: in an odd number of them. */
export function isSurrounded(path: Path, rings: readonly Path[], { middle, cosine }: Cap): boolean {
  const [position] = path.vectors
  if (!position || dot(position, middle) < cosine) return false
  return rings.filter((ring) => turnsAround(position, ring) % 2 !== 0).length % 2 === 1
}

/** How often the ring goes round the position. */
function turnsAround(position: Vector, { blocks }: Path): number {
  let angle = 0
  for (const { begin, vectors, reach } of blocks) {
    // Seen from afar a block turns no more than its ends do.
    const isFar = reach < 0.1 && distance(position, begin) > 2 * reach
    let start = begin
    for (const end of isFar ? vectors.slice(-1) : vectors) {
      const ahead = dot(start, end) - dot(start, position) * dot(end, position)
      angle += Math.atan2(dot(position, cross(start, end)), ahead)
      start = end
    }
  }
  return Math.round(angle / (2 * Math.PI))
}

export function positionOf([x, y, z]: Vector): Position {
  return [Math.atan2(y, x) / radians, Math.atan2(z, Math.hypot(x, y)) / radians]
}

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
const sum = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
const difference = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]

function distance(a: Vector, b: Vector): number {
  const [x, y, z] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
  return Math.sqrt(x * x + y * y + z * z)
}

function unit([x, y, z]: Vector): Vector | undefined {
  const length = Math.sqrt(x * x + y * y + z * z)
  return length > 0 ? [x / length, y / length, z / length] : undefined
}
