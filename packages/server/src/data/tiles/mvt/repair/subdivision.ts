import { edgeBelow, indexEdges } from './edge-grid.ts'
import { createEdges, type Edges, grown, reserveEdges, span, spanBits, steepness } from './edges.ts'

/** What is inside: where the number of rings around a place is odd, or where their directions do not cancel each other. */
export type FillRule = 'even-odd' | 'nonzero'

/**
 * The planar subdivision that noded edges make: each edge once, in the order of its lower end, with the winding numbers of the
 * faces on its two sides. Arrays are used again by the next one.
 */
export type Subdivision = {
  readonly edges: Edges
  /** The winding number below an edge; above it there is `edges.wind` more. */
  below: Int32Array
  /** An edge that bounds the same face from below, or -1 where nothing does. */
  beneath: Int32Array
  /** 1 where the inside is on one side of the edge only: above it (1) or below it (2). */
  inside: Uint8Array
}

const subdivision: Subdivision = {
  edges: createEdges(),
  below: new Int32Array(1024),
  beneath: new Int32Array(1024),
  inside: new Uint8Array(1024),
}

/** Which side of an edge is inside. */
export const insideIs = { nowhereNew: 0, above: 1, below: 2 } as const

export function subdivide(noded: Edges, rule: FillRule): Subdivision {
  mergeEdges(noded, rule)
  const { edges } = subdivision
  if (subdivision.below.length < edges.count) {
    subdivision.below = grown(subdivision.below, edges.count * 2)
    subdivision.beneath = grown(subdivision.beneath, edges.count * 2)
    subdivision.inside = new Uint8Array(edges.count * 2)
  }
  if (edges.count > 0) labelFaces()
  const isInside = rule === 'even-odd' ? isOdd : isNonzero
  for (let edge = 0; edge < edges.count; edge++) {
    const below = subdivision.below[edge]
    const isBelow = isInside(below)
    const isAbove = isInside(below + edges.wind[edge])
    const isBoundary = isBelow !== isAbove
    subdivision.inside[edge] = isBoundary ? (isAbove ? insideIs.above : insideIs.below) : insideIs.nowhereNew
  }
  return subdivision
}

const isOdd = (winding: number): boolean => (winding & 1) === 1
const isNonzero = (winding: number): boolean => winding !== 0

let keys = new Float64Array(1024)
const pointUnit = span * span

/** Edges that lie on each other become one; those that cancel each other are gone. */
function mergeEdges({ count, ax, ay, bx, by, wind }: Edges, rule: FillRule): void {
  const { edges } = subdivision
  if (keys.length < count) keys = new Float64Array(count * 2)
  for (let edge = 0; edge < count; edge++) {
    const from = ax[edge] * span + ay[edge]
    const to = bx[edge] * span + by[edge]
    keys[edge] = (from * pointUnit + to) * 2 + (wind[edge] > 0 ? 1 : 0)
  }
  keys.subarray(0, count).sort()
  edges.count = 0
  reserveEdges(edges, count)
  for (let at = 0; at < count; ) {
    const key = Math.floor(keys[at] * 0.5)
    const forward = 2 * key + 1
    let wind = 0
    for (; at < count && keys[at] <= forward; at++) wind += keys[at] === forward ? 1 : -1
    if (rule === 'even-odd') wind &= 1
    if (wind !== 0) addMerged(edges, key, wind)
  }
}

function addMerged(edges: Edges, key: number, wind: number): void {
  const at = edges.count++
  const from = Math.floor(key / pointUnit)
  const to = key - from * pointUnit
  edges.ax[at] = from >> spanBits
  edges.ay[at] = from & (span - 1)
  edges.bx[at] = to >> spanBits
  edges.by[at] = to & (span - 1)
  edges.wind[at] = wind
}

let arrivals = new Float64Array(1024)
const arrivalUnit = 1 << 26

/** Sweeps over the points: what lies below the edges that begin at a point is known from what ends there, or lies below it. */
function labelFaces(): void {
  const { edges } = subdivision
  const { count, ax, ay, bx, by } = edges
  indexEdges(edges)
  if (arrivals.length < count) arrivals = new Float64Array(count * 2)
  for (let edge = 0; edge < count; edge++) {
    arrivals[edge] = (bx[edge] * span + by[edge]) * arrivalUnit + edge
  }
  arrivals.subarray(0, count).sort()
  let arrival = 0
  for (let edge = 0; edge < count; ) {
    const point = ax[edge] * span + ay[edge]
    while (arrival < count && Math.floor(arrivals[arrival] / arrivalUnit) < point) arrival++
    let end = edge + 1
    while (end < count && ax[end] * span + ay[end] === point) end++
    labelDepartures(edge, end, lowestArrival(arrival, point))
    edge = end
  }
}

/** Of the edges that end at a point the lowest, or -1. */
function lowestArrival(start: number, point: number): number {
  const { edges } = subdivision
  let lowest = -1
  for (let at = start; at < edges.count; at++) {
    const arrived = arrivals[at]
    if (Math.floor(arrived / arrivalUnit) !== point) break
    const edge = arrived - point * arrivalUnit
    if (lowest < 0 || steepness(edges, lowest, edge) > 0) lowest = edge
  }
  return lowest
}

const departures: number[] = []

/** Labels the edges from `start` to `end`, which begin at one point, upwards from what lies below that point. */
function labelDepartures(start: number, end: number, arrival: number): void {
  const { edges, below, beneath } = subdivision
  let lower = -1
  let winding = 0
  if (arrival >= 0) {
    lower = beneath[arrival]
    winding = below[arrival]
  } else {
    lower = edgeBelow(edges.ax[start], edges.ay[start])
    if (lower >= 0) winding = below[lower] + edges.wind[lower]
  }
  departures.length = 0
  for (let edge = start; edge < end; edge++) departures.push(edge)
  if (departures.length > 1) departures.sort((first, second) => -steepness(edges, first, second))
  for (const edge of departures) {
    below[edge] = winding
    beneath[edge] = lower
    winding += edges.wind[edge]
    lower = edge
  }
}
