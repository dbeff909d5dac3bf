import { endPart, reserveNumbers, type TileShape } from '../shape.ts'
import { span, spanBits, steepness } from './edges.ts'
import { insideIs, type Subdivision } from './subdivision.ts'

/**
 * Traces the rings around the inside of a subdivision, which stays on their left, so that outer rings have a positive area and
 * holes a negative one. A ring passes no point twice: one that would is as many rings as it has loops.
 */

type Ring = {
  readonly xy: number[]
  readonly isHole: boolean
  /** The lower of the two edges at its leftmost point: what bounds the outside of a hole lies beneath it. */
  readonly lowest: number
  readonly holes: Ring[]
}

const edgeUnit = 1 << 26
/** Point and edge of each edge that a ring runs along, in one number, by the point where the ring enters the edge. */
let starts = new Float64Array(1024)
let startCount = 0
let isUsed = new Uint8Array(1024)
let ringOf = new Int32Array(1024)
/** Where on the path a point is, by its index in `starts`; only true where the path has it there. */
let pathIndexOf = new Int32Array(1024)

/** Adds the polygons to the shape, moved by `shift`: each outer ring with its holes behind it. */
export function traceRings(subdivision: Subdivision, shift: number, into: TileShape): void {
  indexStarts(subdivision)
  const rings: Ring[] = []
  for (let at = 0; at < startCount; at++) {
    const edge = edgeAt(at)
    if (isUsed[edge] === 0) tracePath(subdivision, edge, at, rings)
  }
  for (const ring of rings) if (ring.isHole) giveToOuter(subdivision, rings, ring)
  for (const ring of rings) {
    if (ring.isHole) continue
    putRing(ring, shift, into)
    for (const hole of ring.holes) putRing(hole, shift, into)
  }
}

function indexStarts({ edges, inside }: Subdivision): void {
  const { count, ax, ay, bx, by } = edges
  if (starts.length < count) {
    starts = new Float64Array(count * 2)
    isUsed = new Uint8Array(count * 2)
    ringOf = new Int32Array(count * 2)
    pathIndexOf = new Int32Array(count * 2)
  }
  startCount = 0
  isUsed.fill(0, 0, count)
  for (let edge = 0; edge < count; edge++) {
    if (inside[edge] === insideIs.nowhereNew) continue
    const isForward = inside[edge] === insideIs.above
    const x = isForward ? ax[edge] : bx[edge]
    const y = isForward ? ay[edge] : by[edge]
    starts[startCount++] = (x * span + y) * edgeUnit + edge
  }
  starts.subarray(0, startCount).sort()
}

const pointAt = (at: number): number => Math.floor(starts[at] / edgeUnit)
const edgeAt = (at: number): number => starts[at] - pointAt(at) * edgeUnit

const path: number[] = []
/** The first index in `starts` of the point that nextEdge looked at. */
let nextPoint = 0

/** Follows the boundary from an edge until it is back, and cuts off each loop as it closes. */
function tracePath(subdivision: Subdivision, first: number, firstAt: number, rings: Ring[]): void {
  path.length = 0
  nextPoint = firstStartAt(pointAt(firstAt))
  for (let edge = first; edge >= 0; edge = nextEdge(subdivision, edge)) {
    const index = pathIndexOf[nextPoint]
    const isClosed = index < path.length && pointOf(subdivision, path[index], true) === pointAt(nextPoint)
    if (isClosed) addRing(subdivision, path.splice(index), rings)
    pathIndexOf[nextPoint] = path.length
    path.push(edge)
    isUsed[edge] = 1
  }
  // The last edge leads to where the path began; any other end would be an error of noding, and is left out.
  const last = path.at(-1) as number
  if (pointOf(subdivision, last, false) === pointOf(subdivision, path[0], true))
    addRing(subdivision, path.slice(), rings)
}

/** The point where a ring enters an edge or leaves it. */
function pointOf({ edges, inside }: Subdivision, edge: number, isStart: boolean): number {
  const isLower = (inside[edge] === insideIs.above) === isStart
  const x = isLower ? edges.ax[edge] : edges.bx[edge]
  const y = isLower ? edges.ay[edge] : edges.by[edge]
  return x * span + y
}

/** The first index in `starts` that is at the point. */
function firstStartAt(point: number): number {
  const wanted = point * edgeUnit
  let low = 0
  let high = startCount
  while (low < high) {
    const middle = (low + high) >> 1
    if (starts[middle] < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** Of the unused edges that begin where one ends the first one clockwise, which bounds the same part of the inside; or -1. */
function nextEdge(subdivision: Subdivision, edge: number): number {
  const point = pointOf(subdivision, edge, false)
  nextPoint = firstStartAt(point)
  const end = (point + 1) * edgeUnit
  if (nextPoint + 1 >= startCount || starts[nextPoint + 1] >= end) return onlyEdge(point)
  const back = angleFrom(point, pointOf(subdivision, edge, true))
  let best = -1
  let bestTurn = Number.POSITIVE_INFINITY
  for (let at = nextPoint; at < startCount && starts[at] < end; at++) {
    const candidate = edgeAt(at)
    if (isUsed[candidate] === 1) continue
    const turn = (back - angleFrom(point, pointOf(subdivision, candidate, false)) + 4) % 4
    if (turn < bestTurn) {
      best = candidate
      bestTurn = turn
    }
  }
  return best
}

/** The edge that begins at the point where no more than one does, unless it is used; or -1. */
function onlyEdge(point: number): number {
  if (nextPoint >= startCount || pointAt(nextPoint) !== point) return -1
  const edge = edgeAt(nextPoint)
  return isUsed[edge] === 1 ? -1 : edge
}

/** Grows with the angle, counter-clockwise, from 0 to 4. */
function angleFrom(from: number, to: number): number {
  const dx = (to >> spanBits) - (from >> spanBits)
  const dy = (to & (span - 1)) - (from & (span - 1))
  const part = dy / (Math.abs(dx) + Math.abs(dy))
  if (dx < 0) return 2 - part
  return dy < 0 ? 4 + part : part
}

function addRing(subdivision: Subdivision, edges: number[], rings: Ring[]): void {
  const xy: number[] = []
  let area = 0
  let lowest = edges[0]
  for (const edge of edges) {
    const from = pointOf(subdivision, edge, true)
    const to = pointOf(subdivision, edge, false)
    const x = from >> spanBits
    const y = from & (span - 1)
    area += x * (to & (span - 1)) - (to >> spanBits) * y
    xy.push(x, y)
    ringOf[edge] = rings.length
    if (isLower(subdivision, edge, lowest)) lowest = edge
  }
  rings.push({ xy, isHole: area < 0, lowest, holes: [] })
}

/** Whether an edge begins left of another, or at the same point and below it. */
function isLower({ edges }: Subdivision, edge: number, other: number): boolean {
  const dx = edges.ax[edge] - edges.ax[other]
  const dy = edges.ay[edge] - edges.ay[other]
  return dx < 0 || (dx === 0 && (dy < 0 || (dy === 0 && steepness(edges, edge, other) > 0)))
}

/** Finds the outer ring of a hole: what bounds the same face from below, or the outer ring of the hole that does. */
function giveToOuter({ beneath, inside }: Subdivision, rings: readonly Ring[], hole: Ring): void {
  let ring: Ring | undefined = hole
  for (let steps = 0; ring?.isHole && steps <= rings.length; steps++) {
    let edge: number = beneath[ring.lowest]
    while (edge >= 0 && inside[edge] === insideIs.nowhereNew) edge = beneath[edge]
    ring = edge < 0 ? undefined : rings[ringOf[edge]]
  }
  if (ring && !ring.isHole) ring.holes.push(hole)
}

function putRing({ xy, isHole }: Ring, shift: number, into: TileShape): void {
  const target = reserveNumbers(into, xy.length)
  const from = into.length
  for (let index = 0; index < xy.length; index++) target[from + index] = xy[index] + shift
  into.length = from + xy.length
  endPart(into, from, isHole)
}
