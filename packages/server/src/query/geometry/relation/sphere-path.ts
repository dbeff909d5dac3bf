import type { Position } from '../geojson.ts'
import {
  type Approach,
  angleAt,
  distance,
  doLinesCross,
  dot,
  nearer,
  nearestOfCorners,
  sum,
  unit,
  type Vector,
  vectorOf,
} from './sphere.ts'

/** A line on the unit sphere, joined by great circles, as a tree of bounding balls. */
export type Path = { readonly first: Position; readonly vectors: readonly Vector[]; readonly ball: Ball }

/** A part of a line, or several lines. Nothing of it is further than `reach` from `centre`, which is a position of it. */
export type Ball = {
  readonly centre: Vector
  readonly reach: number
  /** Where a part of one line begins and ends. */
  readonly begin: Vector
  readonly end: Vector
  /** The parts in their order; none when it holds the vectors themselves. */
  readonly parts: readonly Ball[]
  readonly vectors: readonly Vector[]
}

/** A circle on the sphere that holds a whole ring: its middle, and the cosine of its radius. */
export type Cap = { readonly middle: Vector; readonly cosine: number }

const leafEdges = 4
const fanout = 4

/** Twice the radius of the sphere: nothing is further away. */
const diameter = 2

/** A ball with a smaller reach holds less than half of the sphere, and with two positions the edge between them. */
const convexReach = 1.2

export function pathOf(positions: readonly Position[]): Path {
  const vectors = positions.map(vectorOf)
  return { first: positions[0] ?? [0, 0], vectors, ball: ballOf(vectors) }
}

function ballOf(vectors: readonly Vector[]): Ball {
  const edges = vectors.length - 1
  const centre = vectors[vectors.length >> 1] ?? [0, 0, 1]
  const most = vectors.reduce((reach, vector) => Math.max(reach, distance(centre, vector)), 0)
  const ball = {
    centre,
    reach: most < convexReach ? most : diameter,
    begin: vectors[0] ?? centre,
    end: vectors.at(-1) ?? centre,
  }
  if (edges <= leafEdges) return { ...ball, parts: [], vectors }
  const size = Math.ceil(edges / fanout)
  const parts: Ball[] = []
  for (let first = 0; first < edges; first += size) parts.push(ballOf(vectors.slice(first, first + size + 1)))
  return { ...ball, parts, vectors: [] }
}

/** One ball around all, which come in an order in which neighbours lie close together. */
export function ballAround(balls: readonly Ball[]): Ball {
  let level = balls
  while (level.length > 1) {
    const above: Ball[] = []
    for (let index = 0; index < level.length; index += fanout) above.push(joined(level.slice(index, index + fanout)))
    level = above
  }
  return level[0] ?? ballOf([])
}

function joined(parts: readonly Ball[]): Ball {
  const { centre, begin, end } = parts[parts.length >> 1]
  const reach = parts.reduce((most, part) => Math.max(most, distance(centre, part.centre) + part.reach), 0)
  return { centre, reach, begin, end, parts, vectors: [] }
}

/** A search for where two lines are nearest to each other. */
export type Search = {
  /** The nearest so far. At first only how near it must be to count. */
  best: Approach
  /** Nothing nearer than this is looked for. */
  readonly enough: number
  /** Pairs of balls that may still be looked at. */
  pairsLeft: number
  readonly tooMany: () => Error
}

/** Branch and bound: pairs of balls that are too far apart are left out, the nearest are looked at first. */
export function findNearest(search: Search, here: Ball, there: Ball): void {
  const apart = distance(here.centre, there.centre) - here.reach - there.reach
  if (apart >= search.best.chord || search.best.chord <= search.enough) return
  if (--search.pairsLeft < 0) throw search.tooMany()
  search.best = nearer(search.best, here.centre, there.centre)
  const isHereSplit = here.parts.length > 0 && (there.parts.length === 0 || here.reach >= there.reach)
  if (isHereSplit) {
    for (const part of nearestFirst(here.parts, there)) findNearest(search, part, there)
  } else if (there.parts.length > 0) {
    for (const part of nearestFirst(there.parts, here)) findNearest(search, here, part)
  } else if (apart <= 0 && doLinesCross(here.vectors, there.vectors)) {
    search.best = { chord: 0, from: here.centre, to: here.centre }
  } else {
    const nearest = nearestOfCorners(here.vectors, there.vectors, search.best)
    search.best = nearestOfCorners(there.vectors, here.vectors, nearest)
  }
}

function nearestFirst(parts: readonly Ball[], { centre }: Ball): readonly Ball[] {
  const least = (part: Ball): number => distance(part.centre, centre) - part.reach
  return parts.toSorted((a, b) => least(a) - least(b))
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
  const isOdd = ({ ball }: Path): boolean => Math.round(turnAround(position, ball) / (2 * Math.PI)) % 2 !== 0
  return rings.filter(isOdd).length % 2 === 1
}

/** The angle by which the line turns around the position. */
function turnAround(position: Vector, { centre, reach, begin, end, parts, vectors }: Ball): number {
  // Seen from afar it turns no more than its ends do.
  if (reach < 0.1 && distance(position, centre) > 2 * reach) return angleAt(position, begin, end)
  let angle = 0
  for (const part of parts) angle += turnAround(position, part)
  for (let index = 1; index < vectors.length; index++) {
    angle += angleAt(position, vectors[index - 1], vectors[index])
  }
  return angle
}
