import { extentOf, type Geometry, type Position, positionsOf } from './geojson.ts'
import {
  type Chain,
  crossProduct,
  type Edge,
  edgesMeet,
  extentsMeet,
  isInAreas,
  orientation,
  type Shape,
  shapeOf,
} from './intersection.ts'

/** In degrees, a tenth of a millimetre: what lies this far beside an edge lies on its side, and on no other edge. */
const besideDegrees = 1e-9

type Place = 'inside' | 'edge' | 'outside'

/** A geometry by the dimension of its parts. */
type Parts = {
  readonly areas: Shape['areas']
  readonly areaEdges: readonly Edge[]
  readonly lineEdges: readonly Edge[]
  readonly points: readonly Position[]
  /** Where an odd number of lines end: there lines have their boundary. */
  readonly ends: ReadonlySet<string>
}

/** A part of an edge that crosses nothing, told by a position to its left and one to its right. */
type Piece = readonly [Position, Position]

/**
 * Whether a geometry lies in `geometry` on the plane of degrees, and not only on its edge, as ST_Within says of the
 * mended shapes.
 */
export function containmentTest(geometry: Geometry): (other: Geometry) => boolean {
  const around = partsOf(geometry)
  const { west, south, east, north } = extentOf(positionsOf(geometry))
  return (other) => {
    const positions = positionsOf(other)
    const extent = extentOf(positions)
    const fits = extent.west >= west && extent.east <= east && extent.south >= south && extent.north <= north
    return positions.length > 0 && fits && isWithin(partsOf(other), around)
  }
}

function isWithin(inner: Parts, around: Parts): boolean {
  if (!areasAreWithin(inner, around)) return false
  const places = new Set<Place>(inner.areas.length > 0 ? ['inside'] : [])
  for (const position of inner.points) {
    const place = placeOfPoint(position, around)
    if (place === 'outside') return false
    places.add(place)
  }
  for (const edge of inner.lineEdges) {
    for (const piece of piecesOf(edge, [around.areaEdges, around.lineEdges])) {
      const place = placeOfPiece(piece, edge, around)
      if (place === 'outside') return false
      places.add(place)
    }
  }
  return places.has('inside')
}

/** The edges of both part the plane into faces: every face of the inner areas, told by an edge of it, is in the others. */
function areasAreWithin(inner: Parts, around: Parts): boolean {
  if (inner.areas.length === 0) return true
  const all = [inner.areaEdges, around.areaEdges]
  return all.every((edges) =>
    edges.every((edge) =>
      piecesOf(edge, all).every((sides) =>
        sides.every((side) => !isInAreas(side, inner.areas) || isInAreas(side, around.areas)),
      ),
    ),
  )
}

function placeOfPiece(sides: Piece, edge: Edge, { areas, lineEdges }: Parts): Place {
  const inside = sides.filter((side) => isInAreas(side, areas)).length
  if (inside > 0) return inside === 2 ? 'inside' : 'edge'
  return lineEdges.some((other) => covers(other, edge, sides)) ? 'inside' : 'outside'
}

/** Whether `other` runs along the edge where the piece is. */
function covers(other: Edge, edge: Edge, piece: Piece): boolean {
  const isAlong = other.every((position) => orientation(...edge, position) === 0)
  return isAlong && extentsMeet(extentOf(other), extentOf(piece))
}

function placeOfPoint(position: Position, { areas, lineEdges, points, ends }: Parts): Place {
  const touched: Chain[][] = []
  for (const rings of areas) {
    if (rings.some(({ edges }) => edges.some((edge) => isOn(position, edge)))) touched.push([...rings])
    else if (isInAreas(position, [rings])) return 'inside'
  }
  if (touched.length > 0) return touched.length > 1 && isSurrounded(position, touched) ? 'inside' : 'edge'
  if (lineEdges.some((edge) => isOn(position, edge))) return ends.has(String(position)) ? 'edge' : 'inside'
  return points.some(([x, y]) => x === position[0] && y === position[1]) ? 'inside' : 'outside'
}

/** Areas that have a side or a corner in common may together leave nothing outside. */
function isSurrounded(position: Position, areas: Shape['areas']): boolean {
  const angles = areas
    .flat()
    .flatMap(({ edges }) => edges.filter((edge) => isOn(position, edge)).flat())
    .filter((end) => String(end) !== String(position))
    .map(([x, y]) => Math.atan2(y - position[1], x - position[0]))
    .sort((a, b) => a - b)
  return angles.every((angle, index) => {
    const next = angles[index + 1] ?? (angles[0] ?? 0) + 2 * Math.PI
    if (next - angle < besideDegrees) return true
    const middle = (angle + next) / 2
    const beside: Position = [
      position[0] + besideDegrees * Math.cos(middle),
      position[1] + besideDegrees * Math.sin(middle),
    ]
    return isInAreas(beside, areas)
  })
}

function isOn(position: Position, [start, end]: Edge): boolean {
  const [x, y] = position
  if (crossProduct(start, end, position) !== 0) return false
  return isBetween(start[0], x, end[0]) && isBetween(start[1], y, end[1])
}

const isBetween = (a: number, value: number, b: number): boolean =>
  (a <= value && value <= b) || (b <= value && value <= a)

/** The edge, cut where it meets one of the others. */
function piecesOf(edge: Edge, others: readonly (readonly Edge[])[]): Piece[] {
  const [[x, y], end] = edge
  const [dx, dy] = [end[0] - x, end[1] - y]
  const length = Math.hypot(dx, dy)
  const cuts = [0, 1, ...others.flatMap((list) => list.flatMap((other) => cutsOf(edge, other)))].sort((a, b) => a - b)
  const pieces: Piece[] = []
  for (let index = 1; index < cuts.length; index++) {
    const [from = 0, to = 0] = [cuts[index - 1], cuts[index]]
    // Where several edges meet the arithmetic leaves crumbs.
    if ((to - from) * length < besideDegrees / 100) continue
    const [middleX, middleY] = [x + (dx * (from + to)) / 2, y + (dy * (from + to)) / 2]
    const offset = Math.min(besideDegrees, ((to - from) * length) / 1000) / length
    const [aside, up] = [-dy * offset, dx * offset]
    pieces.push([
      [middleX + aside, middleY + up],
      [middleX - aside, middleY - up],
    ])
  }
  return pieces
}

/** How far along the edge it meets the other, between 0 and 1. */
function cutsOf(edge: Edge, other: Edge): number[] {
  if (edge === other || !extentsMeet(extentOf(edge), extentOf(other))) return []
  const touching = other.filter((position) => orientation(...edge, position) === 0)
  if (touching.length > 0) return touching.map((position) => along(edge, position)).filter((cut) => cut > 0 && cut < 1)
  const [before, behind] = edge.map((position) => crossProduct(...other, position))
  if (!edgesMeet(edge, other) || before === undefined || behind === undefined || before === behind) return []
  return [before / (before - behind)]
}

function along([start, end]: Edge, position: Position): number {
  const axis = Math.abs(end[0] - start[0]) > Math.abs(end[1] - start[1]) ? 0 : 1
  return (position[axis] - start[axis]) / (end[axis] - start[axis])
}

function partsOf(geometry: Geometry): Parts {
  const { chains, areas: all } = shapeOf(geometry)
  const areas = all.filter(([outer]) => outer && !isFlat(outer))
  const rings = new Set(areas.flat())
  // The holes of nothing are nothing.
  const holes = new Set(all.flatMap(([, ...inner]) => inner))
  const others = chains.filter((chain) => !rings.has(chain) && !holes.has(chain))
  const lines = others.filter((chain) => !isPoint(chain))
  return {
    areas,
    areaEdges: [...rings].flatMap(edgesOf),
    lineEdges: lines.flatMap(edgesOf),
    points: others.filter(isPoint).map(({ start }) => start),
    ends: oddEnds(lines),
  }
}

const isPoint = ({ extent }: Chain): boolean => extent.west === extent.east && extent.south === extent.north

const edgesOf = ({ edges }: Chain): Edge[] => edges.filter(([a, b]) => a[0] !== b[0] || a[1] !== b[1])

/** A ring that goes there and back again is a line. */
const isFlat = ({ start, edges }: Chain): boolean => edges.every((edge) => orientation(...edge, start) === 0)

function oddEnds(lines: readonly Chain[]): Set<string> {
  const odd = new Set<string>()
  for (const { start, edges } of lines) {
    for (const end of [start, edges.at(-1)?.[1] ?? start]) {
      if (!odd.delete(String(end))) odd.add(String(end))
    }
  }
  return odd
}
