// The spatial predicate "within", for rows that no database compares.

import type { Geometry } from '../geojson.ts'
import { besideDegrees, edgesMet, isAlong, type Piece, piecesOf } from './edge-pieces.ts'
import { edgesNear, isNearTree, treeExtent } from './edge-tree.ts'
import {
  areasAround,
  beginComparison,
  type Ends,
  endsOf,
  isInAreas,
  kind,
  type PlanarShape,
  planarShape,
} from './planar-shape.ts'

type Containment = 'inside' | 'edge' | 'outside'

/** What others are compared with. `lineEnds`: where an odd number of lines end, for there lines have their boundary. */
type Around = { readonly shape: PlanarShape; readonly lineEnds: ReadonlySet<string> }

/**
 * Whether a geometry lies in `geometry` on the plane of degrees, and not only on its edge, as ST_Within says of the
 * mended shapes.
 */
export function containmentTest(geometry: Geometry): (other: Geometry) => boolean {
  const shape = planarShape(geometry, true)
  const around = { shape, lineEnds: oddEnds(shape) }
  return (other) => {
    if (other.type === 'Point' && !isNearTree(shape.tree, ...other.coordinates, ...other.coordinates)) return false
    beginComparison(shape)
    return isWithin(planarShape(other), around)
  }
}

function isWithin(inner: PlanarShape, around: Around): boolean {
  const { shape } = around
  const box = treeExtent(inner.tree)
  const [west, south, east, north] = treeExtent(shape.tree)
  if (box[0] < west || box[1] < south || box[2] > east || box[3] > north || inner.areas.length === 0) return false
  const near = edgesNear(shape.tree, ...box)
  // No edge comes near: all of it is inside, or all of it outside.
  if (near.length === 0) return isInAreas(shape, inner.ends[0], inner.ends[1])
  if (inner.areaCount > 0 && !areAreasWithin(inner, shape, near)) return false
  return areLinesAndPointsWithin(inner, around)
}

type IsFaceWithin = (x: number, y: number) => boolean

/** The edges of both divide the plane into faces; each face of the inner areas must be one of the areas around. */
function areAreasWithin(inner: PlanarShape, around: PlanarShape, near: readonly number[]): boolean {
  const isWithin: IsFaceWithin = (x, y) => !isInAreas(inner, x, y) || isInAreas(around, x, y)
  const inOrder = near.toSorted((a, b) => a - b)
  return (
    areFacesWithin('inner', inner, inner.areas.keys(), around, isWithin) &&
    areFacesWithin('around', around, inOrder, inner, isWithin)
  )
}

/** Whether the faces beside these edges are within. */
function areFacesWithin(
  role: 'inner' | 'around',
  shape: PlanarShape,
  edges: Iterable<number>,
  other: PlanarShape,
  isWithin: IsFaceWithin,
): boolean {
  const isInOther = isInsideByRuns(shape, other)
  for (const edge of edges) {
    if (shape.areas[edge] < 0) continue
    const met = edgesMet(shape, edge, other, true)
    const isSettled =
      met.length === 0
        ? // Inside of the areas around, or outside of the inner ones, both faces beside the edge are.
          isInOther(edge) === (role === 'inner')
        : // An edge that both have was tested as one of the inner ones.
          role === 'around' && met.some((otherEdge) => isSameEdge(endsOf(shape, edge), endsOf(other, otherEdge)))
    if (isSettled) continue
    const pieces = piecesOf(shape, edge, met.length > 0 ? [shape, other] : [shape], true)
    if (!pieces.every(({ left, right }) => isWithin(...left) && isWithin(...right))) return false
  }
  return true
}

/** In either direction. */
function isSameEdge([x1, y1, x2, y2]: Ends, [x3, y3, x4, y4]: Ends): boolean {
  return (x1 === x3 && y1 === y3 && x2 === x4 && y2 === y4) || (x1 === x4 && y1 === y4 && x2 === x3 && y2 === y3)
}

/** Whether an edge that meets none of the others lies in their areas: as the one before it does that ends where it begins. */
function isInsideByRuns(shape: PlanarShape, others: PlanarShape): (edge: number) => boolean {
  const { ends } = shape
  let before = -1
  let isIn = false
  return (edge) => {
    const [x, y] = [ends[edge * 4], ends[edge * 4 + 1]]
    const isJoined = edge > 0 && before === edge - 1 && ends[edge * 4 - 2] === x && ends[edge * 4 - 1] === y
    if (!isJoined) isIn = isInAreas(others, x, y)
    before = edge
    return isIn
  }
}

/** None of them lies outside, and not all lie on the edge. */
function areLinesAndPointsWithin(inner: PlanarShape, around: Around): boolean {
  let isInside = inner.areaCount > 0
  const isInAround = isInsideByRuns(inner, around.shape)
  for (const [edge, area] of inner.areas.entries()) {
    if (area >= 0) continue
    const containments =
      area === kind.point ? [containmentOfPoint(inner, edge, around)] : containmentsOfEdge(inner, edge, around)
    for (const containment of containments ?? [isInAround(edge) ? 'inside' : 'outside']) {
      if (containment === 'outside') return false
      isInside ||= containment === 'inside'
    }
  }
  return isInside
}

/** Where the pieces of a line's edge lie; undefined when no other edge meets it. */
function containmentsOfEdge(inner: PlanarShape, edge: number, { shape }: Around): Containment[] | undefined {
  if (edgesMet(inner, edge, shape, false).length === 0) return undefined
  return piecesOf(inner, edge, [shape], false).map((piece) => containmentOfPiece(piece, inner, edge, shape))
}

export function containmentOfPiece(
  { left, right }: Piece,
  inner: PlanarShape,
  edge: number,
  around: PlanarShape,
): Containment {
  const [isLeftIn, isRightIn] = [isInAreas(around, ...left), isInAreas(around, ...right)]
  if (isLeftIn || isRightIn) return isLeftIn && isRightIn ? 'inside' : 'edge'
  const ends = endsOf(inner, edge)
  const [west, east] = [Math.min(left[0], right[0]), Math.max(left[0], right[0])]
  const [south, north] = [Math.min(left[1], right[1]), Math.max(left[1], right[1])]
  const isCovered = edgesNear(around.tree, west, south, east, north).some((other) => {
    const [x1, y1, x2, y2] = endsOf(around, other)
    return around.areas[other] === kind.line && isAlong(ends, x1, y1) && isAlong(ends, x2, y2)
  })
  return isCovered ? 'inside' : 'outside'
}

export function containmentOfPoint(inner: PlanarShape, edge: number, { shape, lineEnds }: Around): Containment {
  const [x, y] = endsOf(inner, edge)
  const met = edgesNear(shape.tree, x, y, x, y).filter((other) => isAlong(endsOf(shape, other), x, y))
  const touched = new Set(met.map((other) => shape.areas[other]))
  const isInside = shape.areaCount > 0 && [...areasAround(shape, x, y)].some((area) => !touched.has(area))
  if (isInside) return 'inside'
  const bounding = met.filter((other) => shape.areas[other] >= 0)
  if (bounding.length > 0) return isSurrounded(shape, bounding, x, y) ? 'inside' : 'edge'
  if (touched.has(kind.line)) return lineEnds.has(`${x},${y}`) ? 'edge' : 'inside'
  return touched.has(kind.point) ? 'inside' : 'outside'
}

/** Areas that have a side or a corner in common may together leave nothing outside. */
function isSurrounded(shape: PlanarShape, bounding: readonly number[], x: number, y: number): boolean {
  const areas = new Set(bounding.map((edge) => shape.areas[edge]))
  if (areas.size === 1) return false
  const angles = bounding
    .flatMap((edge) => anglesFrom(x, y, endsOf(shape, edge)))
    .sort((first, second) => first - second)
  return angles.every((angle, index) => {
    const next = angles[index + 1] ?? (angles[0] ?? 0) + 2 * Math.PI
    if (next - angle < besideDegrees) return true
    const middle = (angle + next) / 2
    const beside = areasAround(shape, x + besideDegrees * Math.cos(middle), y + besideDegrees * Math.sin(middle))
    return [...beside].some((area) => areas.has(area))
  })
}

/** The directions in which the ends of an edge lie that are not here. */
function anglesFrom(x: number, y: number, [x1, y1, x2, y2]: readonly number[]): number[] {
  const ends = [
    [x1, y1],
    [x2, y2],
  ] as const
  return ends.filter(([endX, endY]) => endX !== x || endY !== y).map(([endX, endY]) => Math.atan2(endY - y, endX - x))
}

export function oddEnds(shape: PlanarShape): Set<string> {
  const { areas, starts } = shape
  const odd = new Set<string>()
  starts.forEach((start, index) => {
    if (areas[start] !== kind.line) return
    const [x1, y1] = endsOf(shape, start)
    const [, , x2, y2] = endsOf(shape, (starts[index + 1] ?? areas.length) - 1)
    for (const end of [`${x1},${y1}`, `${x2},${y2}`]) if (!odd.delete(end)) odd.add(end)
  })
  return odd
}
