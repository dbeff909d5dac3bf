// Noding: edges are cut where they meet others, so that each piece has one face to its left and one to its right.
import { crossProduct, type Ends, edgesBeside, edgesMeet, endsOf, kind, type PlanarShape } from './planar-shape.ts'

/** In degrees, a tenth of a millimetre: what lies this far beside an edge lies on its side, and on no other edge. */
export const besideDegrees = 1e-9

/** A part of an edge that no other edge crosses, told by a position to its left and one to its right. */
export type Piece = { readonly left: Side; readonly right: Side }
type Side = readonly [x: number, y: number]

/** The edges of `other` that share a point with this one; those of areas and lines, or of areas alone. */
export function edgesMet(shape: PlanarShape, edge: number, other: PlanarShape, onlyAreas: boolean): number[] {
  return edgesBeside(other, shape, edge).filter((beside) => {
    const area = other.areas[beside]
    return (onlyAreas ? area >= 0 : area !== kind.point) && edgesMeet(shape, edge, other, beside)
  })
}

/** The edge, cut where it meets edges of the others. */
export function piecesOf(
  shape: PlanarShape,
  edge: number,
  others: readonly PlanarShape[],
  onlyAreas: boolean,
): readonly Piece[] {
  const ends = endsOf(shape, edge)
  const cuts = [0, 1]
  for (const other of others) {
    for (const met of edgesMet(shape, edge, other, onlyAreas)) addCuts(cuts, ends, endsOf(other, met))
  }
  return piecesBetween(
    ends,
    cuts.sort((a, b) => a - b),
  )
}

function piecesBetween([x, y, endX, endY]: Ends, cuts: readonly number[]): Piece[] {
  const [dx, dy] = [endX - x, endY - y]
  const length = Math.hypot(dx, dy)
  const pieces: Piece[] = []
  for (let index = 1; index < cuts.length; index++) {
    const [from = 0, to = 0] = [cuts[index - 1], cuts[index]]
    // Where several edges meet, rounding leaves pieces of no length.
    if ((to - from) * length < besideDegrees / 100) continue
    const [middleX, middleY] = [x + (dx * (from + to)) / 2, y + (dy * (from + to)) / 2]
    const offset = Math.min(besideDegrees, ((to - from) * length) / 1000) / length
    const [aside, up] = [-dy * offset, dx * offset]
    pieces.push({ left: [middleX + aside, middleY + up], right: [middleX - aside, middleY - up] })
  }
  return pieces
}

/** How far along the edge the other one meets it, between 0 and 1. */
function addCuts(cuts: number[], edge: Ends, other: Ends): void {
  const [x1, y1, x2, y2] = other
  const [isStartOn, isEndOn] = [isAlong(edge, x1, y1), isAlong(edge, x2, y2)]
  if (isStartOn) addCut(cuts, along(edge, x1, y1))
  if (isEndOn) addCut(cuts, along(edge, x2, y2))
  if (isStartOn || isEndOn) return
  const before = crossProduct(...other, edge[0], edge[1])
  const behind = crossProduct(...other, edge[2], edge[3])
  if (before !== behind) cuts.push(before / (before - behind))
}

function addCut(cuts: number[], cut: number): void {
  if (cut > 0 && cut < 1) cuts.push(cut)
}

/** Whether the position lies on the line through the edge. */
export function isAlong(edge: Ends, x: number, y: number): boolean {
  return crossProduct(...edge, x, y) === 0
}

function along([x1, y1, x2, y2]: Ends, x: number, y: number): number {
  return Math.abs(x2 - x1) > Math.abs(y2 - y1) ? (x - x1) / (x2 - x1) : (y - y1) / (y2 - y1)
}
