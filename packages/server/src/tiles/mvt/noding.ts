import { visitPairs } from './edge-grid.ts'
import { createEdges, type Edges, putEdge, reserveEdges, sideOf, span, spanBits } from './edges.ts'

/**
 * Noding by iterated snap rounding: edges are split where they meet, at the nearest integer point, until they meet at their
 * ends only. A split may bend an edge by up to a unit, and a bent edge may meet others, which is why it is done again.
 */

/** Edges meet no more after three rounds or so. */
const mostRounds = 12
/** Scribbles beyond this are left as they are. */
const splitsPerEdge = 8
const splitsAtLeast = 1 << 17

/** Where edges are split: edge, x and y in one number, in the order of the edge. */
let splits = new Float64Array(1024)
let splitCount = 0
let mostSplits = 0
/** Edges that are not where they were when they were last compared; the others have been. */
let isBent = new Uint8Array(1024)
let willBend = new Uint8Array(1024)
let hasBent = false
let current: Edges = createEdges()
const spare: Edges = createEdges()

/** The edges of before, split; undefined when there are too many crossings. Valid until the next call. */
export function nodeEdges(edges: Edges): Edges | undefined {
  mostSplits = splitsAtLeast + splitsPerEdge * edges.count
  let noded = edges
  if (isBent.length < edges.count) isBent = new Uint8Array(edges.count * 2)
  isBent.fill(1, 0, edges.count)
  for (let round = 0; round < mostRounds; round++) {
    splitCount = 0
    if (willBend.length < noded.count) willBend = new Uint8Array(noded.count * 2)
    willBend.fill(0, 0, noded.count)
    current = noded
    hasBent = false
    if (!visitPairs(noded, splitPair, isBent) || splitCount > mostSplits) return undefined
    if (splitCount === 0) return noded
    splits.subarray(0, splitCount).sort()
    const target = noded === spare ? other : spare
    splitEdges(noded, target)
    noded = target
    if (!hasBent) return noded
  }
  return noded
}

const other: Edges = createEdges()

const edgeUnit = span * span

/** Notes where the two are to be split; true when there are more splits than anybody waits for. */
function splitPair(first: number, second: number): boolean {
  const { ax, ay, bx, by } = current
  const a = sideOf(current, first, ax[second] as number, ay[second] as number)
  const b = sideOf(current, first, bx[second] as number, by[second] as number)
  if (a * b > 0) return false
  const c = sideOf(current, second, ax[first] as number, ay[first] as number)
  const d = sideOf(current, second, bx[first] as number, by[first] as number)
  if (c * d > 0) return false
  if (a === 0) addSplit(first, ax[second] as number, ay[second] as number)
  if (b === 0) addSplit(first, bx[second] as number, by[second] as number)
  if (c === 0) addSplit(second, ax[first] as number, ay[first] as number)
  if (d === 0) addSplit(second, bx[first] as number, by[first] as number)
  if (a * b * c * d !== 0) cross(first, second, a / (a - b))
  return splitCount > mostSplits
}

/** Both are split near the point that lies at this fraction of the second. */
function cross(first: number, second: number, fraction: number): void {
  const { ax, ay, bx, by } = current
  const fromX = ax[second] as number
  const fromY = ay[second] as number
  const x = Math.round(fromX + fraction * ((bx[second] as number) - fromX))
  const y = Math.round(fromY + fraction * ((by[second] as number) - fromY))
  bendTo(first, x, y)
  bendTo(second, x, y)
}

function bendTo(edge: number, x: number, y: number): void {
  if (sideOf(current, edge, x, y) !== 0) {
    willBend[edge] = 1
    hasBent = true
  }
  addSplit(edge, x, y)
}

/** Only between the ends of the edge. */
function addSplit(edge: number, x: number, y: number): void {
  const { ax, ay, bx, by } = current
  const fromX = ax[edge] as number
  const fromY = ay[edge] as number
  const toX = bx[edge] as number
  const toY = by[edge] as number
  if (x < fromX || x > toX || (y - fromY) * (y - toY) > 0) return
  if ((x === fromX && y === fromY) || (x === toX && y === toY)) return
  if (splitCount === splits.length) {
    const larger = new Float64Array(splitCount * 2)
    larger.set(splits)
    splits = larger
  }
  splits[splitCount++] = edge * edgeUnit + x * span + (toY >= fromY ? y : span - 1 - y)
}

function splitEdges(source: Edges, target: Edges): void {
  const { count, ax, ay, bx, by } = source
  target.count = 0
  reserveEdges(target, count + splitCount)
  const bent = new Uint8Array(count + splitCount)
  let at = 0
  for (let edge = 0; edge < count; edge++) {
    const first = target.count
    const least = edge * edgeUnit
    let x = ax[edge] as number
    let y = ay[edge] as number
    const isDown = (by[edge] as number) < y
    for (; at < splitCount && (splits[at] as number) < least + edgeUnit; at++) {
      const place = (splits[at] as number) - least
      const height = place & (span - 1)
      const toX = place >> spanBits
      const toY = isDown ? span - 1 - height : height
      putPiece(source, edge, target, x, y, toX, toY)
      x = toX
      y = toY
    }
    putPiece(source, edge, target, x, y, bx[edge] as number, by[edge] as number)
    if (willBend[edge] === 1) bent.fill(1, first, target.count)
  }
  isBent = bent
}

/** A piece of an edge, which its ring runs along as along the edge. */
function putPiece(
  { wind, owner }: Edges,
  edge: number,
  target: Edges,
  x: number,
  y: number,
  toX: number,
  toY: number,
): void {
  if (x === toX && y === toY) return
  if ((wind[edge] as number) > 0) putEdge(target, x, y, toX, toY, owner[edge] as number)
  else putEdge(target, toX, toY, x, y, owner[edge] as number)
}
