// Where the interiors of two shapes meet, which tells whether they touch, cross or overlap.
import { containmentOfPiece, containmentOfPoint, oddEnds } from './containment.ts'
import { edgesMet, isAlong, piecesOf } from './edge-pieces.ts'
import { edgesNear, treeExtent } from './edge-tree.ts'
import { crossProduct, type Ends, endsOf, isInAreas, kind, type PlanarShape } from './planar-shape.ts'

/** The dimension of what the interiors share: an area, lines, points, or -1 for nothing. */
export function interiorsMeeting(a: PlanarShape, b: PlanarShape): -1 | 0 | 1 | 2 {
  if (a.areaCount > 0 && b.areaCount > 0 && (doAreasMeet(a, b) || doAreasMeet(b, a))) return 2
  const dimension = Math.max(linesIn(a, b), linesIn(b, a))
  if (dimension > 0) return 1
  if (dimension === 0 || isPointIn(a, b) || isPointIn(b, a)) return 0
  return -1
}

/** Whether a face beside an edge of `shape` belongs to areas of both. */
function doAreasMeet(shape: PlanarShape, other: PlanarShape): boolean {
  for (const edge of edgesNear(shape.tree, ...treeExtent(other.tree))) {
    if (shape.areas[edge] < 0) continue
    for (const { left, right } of piecesOf(shape, edge, [shape, other], true)) {
      for (const side of [left, right]) if (isInAreas(shape, ...side) && isInAreas(other, ...side)) return true
    }
  }
  return false
}

/** 1 if a piece of a line of `shape` lies inside `other`, 0 if lines meet in a point that is no end of theirs. */
function linesIn(shape: PlanarShape, other: PlanarShape): -1 | 0 | 1 {
  const ends = [oddEnds(shape), oddEnds(other)]
  const isEnd = (x: number, y: number): boolean => ends.some((odd) => odd.has(`${x},${y}`))
  let dimension: -1 | 0 = -1
  for (const edge of edgesNear(shape.tree, ...treeExtent(other.tree))) {
    if (shape.areas[edge] !== kind.line) continue
    const pieces = piecesOf(shape, edge, [other], false)
    if (pieces.some((piece) => containmentOfPiece(piece, shape, edge, other) === 'inside')) return 1
    const met = edgesMet(shape, edge, other, false).filter((beside) => other.areas[beside] === kind.line)
    if (met.some((beside) => doCross(endsOf(shape, edge), endsOf(other, beside), isEnd))) dimension = 0
  }
  return dimension
}

/** Whether two edges that meet do so in the interiors of their lines. */
function doCross(edge: Ends, other: Ends, isEnd: (x: number, y: number) => boolean): boolean {
  const corners = [...cornersOn(edge, other), ...cornersOn(other, edge)]
  return (corners.length > 0 ? corners : [crossing(edge, other)]).some(([x, y]) => !isEnd(x, y))
}

/** Where two edges cross. A line that crosses itself may end there. */
function crossing(edge: Ends, other: Ends): readonly [number, number] {
  const [before, behind] = [crossProduct(...other, edge[0], edge[1]), crossProduct(...other, edge[2], edge[3])]
  const share = before / (before - behind)
  return [edge[0] + (edge[2] - edge[0]) * share, edge[1] + (edge[3] - edge[1]) * share]
}

/** The ends of the second edge that lie on the first. */
function cornersOn(edge: Ends, [x1, y1, x2, y2]: Ends): readonly (readonly [number, number])[] {
  const corners = [
    [x1, y1],
    [x2, y2],
  ] as const
  return corners.filter(([x, y]) => isAlong(edge, x, y) && isBetween(edge, x, y))
}

const isBetween = ([x1, y1, x2, y2]: Ends, x: number, y: number): boolean =>
  x >= Math.min(x1, x2) && x <= Math.max(x1, x2) && y >= Math.min(y1, y2) && y <= Math.max(y1, y2)

function isPointIn(points: PlanarShape, shape: PlanarShape): boolean {
  const around = { shape, lineEnds: oddEnds(shape) }
  return points.areas.some(
    (area, edge) =>
      area === kind.point && !isCovered(points, edge) && containmentOfPoint(points, edge, around) === 'inside',
  )
}

/** Whether a point of a collection is one of its lines or areas: then it is no point of its own. */
function isCovered(shape: PlanarShape, edge: number): boolean {
  const [x, y] = endsOf(shape, edge)
  if (isInAreas(shape, x, y)) return true
  return edgesNear(shape.tree, x, y, x, y).some((other) => {
    return shape.areas[other] !== kind.point && isAlong(endsOf(shape, other), x, y)
  })
}
