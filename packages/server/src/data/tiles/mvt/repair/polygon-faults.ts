import type { TileShape, Window } from '../shape.ts'
import { edgeBelow, fewEdges, indexEdges, visitPairs } from './edge-grid.ts'
import { createEdges, type Edges, putEdge, reserveEdges, sideOf, span } from './edges.ts'
import { isPlainAtSamples } from './sampled-winding.ts'

/**
 * Finds the polygons of a shape that are not valid, by looking at pairs of close edges. Rings are numbered as the parts of the
 * shape are; a polygon is an outer ring with its holes. Outer rings have a positive area and holes a negative one, so the inside
 * is on the left of each edge as its ring runs.
 */

/** The rings of a polygon are at odds with each other, or a polygon with others. */
export const fault = { itself: 1, others: 2 } as const
/** The rings of a polygon meet, which need not be a fault. */
const contact = 4
/** Rings of so many edges meet by rounding all the time. */
const manyEdges = 256

type Rings = {
  readonly edges: Edges
  polygonOf: Int32Array
  firstEdge: Int32Array
  lastEdge: Int32Array
  /** In which other polygon a polygon lies, or -1. */
  container: Int32Array
  /** The faults of each polygon. */
  faults: Uint8Array
  polygons: number
  /** The far edge of the window; the near one is 0. */
  most: number
  /** Of all polygons. */
  kinds: number
}

const rings: Rings = { edges: createEdges(), ...emptyArrays(64), polygons: 0, most: 0, kinds: 0 }

function emptyArrays(capacity: number): Pick<Rings, 'polygonOf' | 'firstEdge' | 'lastEdge' | 'container' | 'faults'> {
  const numbers = (): Int32Array => new Int32Array(capacity)
  return {
    polygonOf: numbers(),
    firstEdge: numbers(),
    lastEdge: numbers(),
    container: numbers(),
    faults: new Uint8Array(capacity),
  }
}

export type PolygonFaults = Pick<Rings, 'polygonOf' | 'faults' | 'kinds' | 'polygons'>

/** Undefined where there are too many pairs to look at. What it answers is true until the next call. */
export function findFaults(shape: TileShape, window: Window): PolygonFaults | undefined {
  collectEdges(shape, window)
  if (!visitPairs(rings.edges, comparePair)) return undefined
  judgeContacts(shape.parts)
  checkBorder()
  if (shape.parts > 1) {
    if (rings.edges.count <= fewEdges) indexEdges(rings.edges)
    checkNesting(shape)
  }
  if ((rings.kinds & fault.others) !== 0) judgeOverlaps()
  return rings
}

function collectEdges({ xy, length, parts, starts, ends, isHole }: TileShape, { least, most }: Window): void {
  const { edges } = rings
  if (rings.faults.length < parts) Object.assign(rings, emptyArrays(parts * 2))
  rings.most = most - least
  rings.kinds = 0
  rings.polygons = 0
  edges.count = 0
  reserveEdges(edges, length / 2)
  for (let part = 0; part < parts; part++) {
    if (isHole[part] === 0) rings.polygons++
    rings.polygonOf[part] = rings.polygons - 1
    rings.firstEdge[part] = edges.count
    putRingEdges(edges, xy, starts[part], ends[part], least, part)
    rings.lastEdge[part] = edges.count - 1
  }
  rings.faults.fill(0, 0, rings.polygons)
}

/** Adds the edges of a ring, where there is room, with coordinates from `least` on. */
export function putRingEdges(
  edges: Edges,
  xy: Float64Array,
  start: number,
  end: number,
  least: number,
  ring: number,
): void {
  let lastX = xy[end - 2] - least
  let lastY = xy[end - 1] - least
  for (let index = start; index < end; index += 2) {
    const x = xy[index] - least
    const y = xy[index + 1] - least
    putEdge(edges, lastX, lastY, x, y, ring)
    lastX = x
    lastY = y
  }
}

function note(polygon: number, kind: number): void {
  rings.faults[polygon] = rings.faults[polygon] | kind
  rings.kinds |= kind
}

const has = (polygon: number, kind: number): boolean => (rings.faults[polygon] & kind) !== 0

function noteOverlap(polygon: number, neighbour: number): void {
  note(polygon, fault.others)
  note(neighbour, fault.others)
}

/** Looks at two edges whose boxes touch. */
function comparePair(first: number, second: number): boolean {
  const { edges, polygonOf } = rings
  const ring = edges.owner[first]
  const other = edges.owner[second]
  const polygon = polygonOf[ring]
  const neighbour = polygonOf[other]
  if (polygon === neighbour) {
    if (has(polygon, contact) || (ring === other && areNeighbours(ring, first, second))) return false
    if (meeting(first, second) !== 'none' && !isAtBorder(first) && !isAtBorder(second)) note(polygon, contact)
  } else if (!has(polygon, fault.others) || !has(neighbour, fault.others)) {
    const met = meeting(first, second)
    const isOver = met === 'along' && !isAtBorder(first) && edges.wind[first] === edges.wind[second]
    if (met === 'crossing' || isOver) noteOverlap(polygon, neighbour)
  }
  // Nothing else can be found in a single polygon.
  return rings.polygons === 1 && rings.kinds !== 0
}

/** Contacts are faults where there are few edges, or where they make a difference that can be seen. */
function judgeContacts(parts: number): void {
  if ((rings.kinds & contact) === 0) return
  rings.kinds &= ~contact
  for (let part = 0; part < parts; ) {
    const polygon = rings.polygonOf[part]
    const first = rings.firstEdge[part]
    while (part < parts && rings.polygonOf[part] === polygon) part++
    const last = rings.lastEdge[part - 1]
    if (!has(polygon, contact)) continue
    if (last - first < manyEdges || !isPlainAtSamples(rings.edges, first, last)) note(polygon, fault.itself)
  }
}

function judgeOverlaps(): void {
  const { edges } = rings
  if (edges.count < manyEdges || !isPlainAtSamples(edges, 0, edges.count - 1)) return
  rings.kinds &= ~fault.others
}

/** Edges of a ring follow each other, and the last is followed by the first. */
function areNeighbours(ring: number, first: number, second: number): boolean {
  return second - first === 1 || (first === rings.firstEdge[ring] && second === rings.lastEdge[ring])
}

/** Where a ring leaves the window it runs along its border, over itself too, which nobody sees. */
function isAtBorder(edge: number): boolean {
  const { edges, most } = rings
  const { ax, ay, bx, by } = edges
  if (ax[edge] === bx[edge]) return ax[edge] === 0 || ax[edge] === most
  return ay[edge] === by[edge] && (ay[edge] === 0 || ay[edge] === most)
}

type Meeting = 'none' | 'touching' | 'along' | 'crossing'

function meeting(first: number, second: number): Meeting {
  const { edges } = rings
  const { ax, ay, bx, by } = edges
  const a = sideOf(edges, first, ax[second], ay[second])
  const b = sideOf(edges, first, bx[second], by[second])
  if (a * b > 0) return 'none'
  const c = sideOf(edges, second, ax[first], ay[first])
  const d = sideOf(edges, second, bx[first], by[first])
  if (c * d > 0) return 'none'
  if (a === 0 && b === 0) return sharesLength(first, second) ? 'along' : 'touching'
  return a * b * c * d !== 0 ? 'crossing' : 'touching'
}

/** Of two edges on one line. */
function sharesLength(first: number, second: number): boolean {
  const { ax, ay, bx, by } = rings.edges
  const isBefore = (x: number, y: number, toX: number, toY: number): boolean => x < toX || (x === toX && y < toY)
  return (
    isBefore(ax[first], ay[first], bx[second], by[second]) && isBefore(ax[second], ay[second], bx[first], by[first])
  )
}

/** Where edges at the border begin and end: polygon, side and place in one number, odd where the winding number rises. */
const borderEnds: number[] = []

/**
 * Rings that cross outside of the window meet at its border only. Then the winding numbers beside it are neither 0 nor 1:
 * somewhere two rings run the same way, or one the wrong way round.
 */
function checkBorder(): void {
  borderEnds.length = 0
  for (let edge = 0; edge < rings.edges.count; edge++) if (isAtBorder(edge)) addBorderEnds(edge)
  borderEnds.sort((a, b) => a - b)
  let winding = 0
  for (let index = 0; index < borderEnds.length; index++) {
    const end = borderEnds[index]
    winding += 2 * (end % 2) - 1
    const place = Math.floor(end / 2)
    const isLastHere = Math.floor((borderEnds[index + 1] ?? Number.NaN) / 2) !== place
    if (isLastHere && winding !== 0 && winding !== 1) note(Math.floor(place / (4 * span)), fault.itself)
  }
}

function addBorderEnds(edge: number): void {
  const { edges, polygonOf } = rings
  const { ax, ay, bx, by, wind, owner } = edges
  const isUpright = ax[edge] === bx[edge]
  const isNear = (isUpright ? ax[edge] : ay[edge]) === 0
  // With the inside on the left, a ring runs along the bottom to the right, up the right side, and so on.
  const rise = wind[edge] * (isUpright === isNear ? -1 : 1) > 0 ? 1 : 0
  const side = (isUpright ? 0 : 1) + (isNear ? 0 : 2)
  const place = (polygonOf[owner[edge]] * 4 + side) * span
  const from = isUpright ? ay[edge] : ax[edge]
  const to = isUpright ? by[edge] : bx[edge]
  borderEnds.push((place + from) * 2 + rise, (place + to) * 2 + 1 - rise)
}

/** Rings by their leftmost points, in one number with these. */
let order = new Float64Array(64)
const ringUnit = 1 << 26

/** Holes lie inside their outer ring and in no other hole; outer rings lie in no other polygon. */
function checkNesting({ parts, isHole }: TileShape): void {
  const { edges, container } = rings
  if (order.length < parts) order = new Float64Array(parts * 2)
  for (let ring = 0; ring < parts; ring++) {
    const leftmost = leftmostEdge(ring)
    order[ring] = (edges.ax[leftmost] * span + edges.ay[leftmost]) * ringUnit + ring
  }
  order.subarray(0, parts).sort()
  container.fill(-1, 0, rings.polygons)
  for (let index = 0; index < parts; index++) {
    const key = order[index]
    const point = Math.floor(key / ringUnit)
    const ring = key % ringUnit
    checkRing(ring, isHole[ring] === 1, edgeBelow(Math.floor(point / span), point % span))
  }
}

/** `below` is the edge below the leftmost point of the ring, if there is one. Its ring has been looked at before. */
function checkRing(ring: number, isHole: boolean, below: number): void {
  const { edges, polygonOf, container } = rings
  const polygon = polygonOf[ring]
  const neighbour = below < 0 ? -1 : polygonOf[edges.owner[below]]
  const isInside = below >= 0 && edges.wind[below] > 0
  if (isHole) {
    if (!isInside || neighbour !== polygon) note(polygon, fault.itself)
    return
  }
  // What lies beside another polygon lies in the same as that.
  const around = isInside || neighbour < 0 ? neighbour : container[neighbour]
  container[polygon] = around
  if (around >= 0) noteOverlap(polygon, around)
  else if (neighbour >= 0 && has(neighbour, fault.others)) note(polygon, fault.others)
}

/** An edge that begins at the leftmost point of the ring, below which there is nothing of it. */
function leftmostEdge(ring: number): number {
  const { edges, firstEdge, lastEdge } = rings
  const { ax, ay } = edges
  let leftmost = firstEdge[ring]
  for (let edge = leftmost + 1; edge <= lastEdge[ring]; edge++) {
    const dx = ax[edge] - ax[leftmost]
    if (dx < 0 || (dx === 0 && ay[edge] < ay[leftmost])) leftmost = edge
  }
  return leftmost
}
