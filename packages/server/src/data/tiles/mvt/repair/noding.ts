import { visitNear, visitPairs } from './edge-grid.ts'
import { createEdges, type Edges, putEdge, reserveEdges, sideOf, span, spanBits } from './edges.ts'

/**
 * Noding by snap rounding (Hobby): the ends and the crossings of edges make the pixels around them hot, and each edge that passes
 * a hot pixel is split at its centre. Then edges meet at their ends only. It is done again as long as an edge was bent into
 * another pixel that is hot, since pixels share their borders.
 */

/** Two are enough as a rule. */
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
    if (!findSplits(noded)) return undefined
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

/** False when there are too many. */
function findSplits(edges: Edges): boolean {
  crossings.length = 0
  if (!visitPairs(edges, splitPair, isBent)) return false
  for (const place of crossings) {
    hotX = Math.floor(place / span)
    hotY = place % span
    visitNear(edges, hotX, hotY, snapToHot)
  }
  return splitCount <= mostSplits
}

const edgeUnit = span * span

/** Where edges cross, each as one number. */
const crossings: number[] = []
let hotX = 0
let hotY = 0

/** Notes where the two are to be split; true when there are more splits than anybody waits for. */
function splitPair(first: number, second: number): boolean {
  const { ax, ay, bx, by } = current
  const a = sideOf(current, first, ax[second], ay[second])
  const b = sideOf(current, first, bx[second], by[second])
  const c = sideOf(current, second, ax[first], ay[first])
  const d = sideOf(current, second, bx[first], by[first])
  const width = pixelWidth(first)
  const otherWidth = pixelWidth(second)
  if (Math.abs(a) < width) split(first, ax[second], ay[second], a)
  if (Math.abs(b) < width) split(first, bx[second], by[second], b)
  if (Math.abs(c) < otherWidth) split(second, ax[first], ay[first], c)
  if (Math.abs(d) < otherWidth) split(second, bx[first], by[first], d)
  if (a * b < 0 && c * d < 0) addCrossing(first, second, a / (a - b))
  return splitCount > mostSplits
}

/** How far from an edge, in terms of `sideOf`, the centre of a pixel is whose corner it touches: that one it does not pass. */
function pixelWidth(edge: number): number {
  const { ax, ay, bx, by } = current
  return (bx[edge] - ax[edge] + Math.abs(by[edge] - ay[edge])) / 2
}

/** At this fraction of the second. Both are split there, even where they touch the corner of its pixel only. */
function addCrossing(first: number, second: number, fraction: number): void {
  const { ax, ay, bx, by } = current
  const fromX = ax[second]
  const fromY = ay[second]
  const x = Math.round(fromX + fraction * (bx[second] - fromX))
  const y = Math.round(fromY + fraction * (by[second] - fromY))
  split(first, x, y, sideOf(current, first, x, y))
  split(second, x, y, sideOf(current, second, x, y))
  crossings.push(x * span + y)
}

function snapToHot(edge: number): void {
  const side = sideOf(current, edge, hotX, hotY)
  if (Math.abs(side) < pixelWidth(edge)) split(edge, hotX, hotY, side)
}

/** Splits an edge at a place near it, which bends it where the place is to one side. */
function split(edge: number, x: number, y: number, side: number): void {
  if (!addSplit(edge, x, y) || side === 0) return
  willBend[edge] = 1
  hasBent = true
}

/** Only between the ends of the edge; false elsewhere. */
function addSplit(edge: number, x: number, y: number): boolean {
  const { ax, ay, bx, by } = current
  const fromX = ax[edge]
  const fromY = ay[edge]
  const toX = bx[edge]
  const toY = by[edge]
  if (x < fromX || x > toX || (y - fromY) * (y - toY) > 0) return false
  if ((x === fromX && y === fromY) || (x === toX && y === toY)) return false
  if (splitCount === splits.length) {
    const larger = new Float64Array(splitCount * 2)
    larger.set(splits)
    splits = larger
  }
  splits[splitCount++] = edge * edgeUnit + x * span + (toY >= fromY ? y : span - 1 - y)
  return true
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
    let x = ax[edge]
    let y = ay[edge]
    const isDown = by[edge] < y
    for (; at < splitCount && splits[at] < least + edgeUnit; at++) {
      const place = splits[at] - least
      const height = place & (span - 1)
      const toX = place >> spanBits
      const toY = isDown ? span - 1 - height : height
      putPiece(source, edge, target, x, y, toX, toY)
      x = toX
      y = toY
    }
    putPiece(source, edge, target, x, y, bx[edge], by[edge])
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
  if (wind[edge] > 0) putEdge(target, x, y, toX, toY, owner[edge])
  else putEdge(target, toX, toY, x, y, owner[edge])
}
