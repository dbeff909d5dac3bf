import { type Edges, grown, steepness } from './edges.ts'

/** A uniform grid over edges that finds those which may meet. */
type Grid = {
  edges: Edges
  /** Cells are 2 ** shift wide. */
  shift: number
  left: number
  low: number
  columns: number
  rows: number
  /** The first entry of each cell, from which the others are linked; -1 where there is none. */
  heads: Int32Array
  next: Int32Array
  edgeOf: Int32Array
  entries: number
}

/** Answers true to end the search. */
type Visit = (first: number, second: number) => boolean

/** Edges that all run through each other are not data; nobody waits for them. */
const testsPerEdge = 64
const testsAtLeast = 1 << 20

const cellsPerEdge = 16
const none = -1
/** One for all shapes, since one shape is looked at after the other. */
const grid: Grid = {
  edges: undefined as unknown as Edges,
  shift: 0,
  left: 0,
  low: 0,
  columns: 0,
  rows: 0,
  heads: new Int32Array(1024),
  next: new Int32Array(1024),
  edgeOf: new Int32Array(1024),
  entries: 0,
}

/**
 * Puts the edges into the grid and shows each pair whose boxes touch to `visit`, at least once; where `isActive` is given, only
 * those pairs of which one is. False when that was ended because there are too many pairs.
 */
export function visitPairs(edges: Edges, visit: Visit, isActive?: Uint8Array): boolean {
  if (edges.count <= fewEdges) return visitAll(edges, visit, isActive)
  openGrid(edges)
  testsLeft = testsAtLeast + testsPerEdge * edges.count
  for (let edge = 0; edge < edges.count; edge++) {
    const from = grid.entries
    insertEdge(edge)
    const isQuiet = isActive !== undefined && isActive[edge] === 0
    for (let entry = from; entry < grid.entries; entry++) {
      if (visitCell(entry, edge, visit, isQuiet ? isActive : undefined)) return true
      if (testsLeft < 0) return false
    }
  }
  return true
}

let testsLeft = 0

/** Shows the edge with those that were in the cell of an entry before it. */
function visitCell(entry: number, edge: number, visit: Visit, isActive: Uint8Array | undefined): boolean {
  const { edges, next, edgeOf } = grid
  for (let other = next[entry]; other !== none; other = next[other]) {
    testsLeft--
    const second = edgeOf[other]
    if (isActive !== undefined && isActive[second] === 0) continue
    if (boxesTouch(edges, edge, second) && visit(second, edge)) return true
  }
  return false
}

/** So few are compared with each other faster than sorted into cells, and are not in the grid then. */
export const fewEdges = 24

function visitAll(edges: Edges, visit: Visit, isActive?: Uint8Array): boolean {
  for (let edge = 1; edge < edges.count; edge++) {
    for (let second = 0; second < edge; second++) {
      if (isActive && isActive[edge] === 0 && isActive[second] === 0) continue
      if (boxesTouch(edges, edge, second) && visit(second, edge)) return true
    }
  }
  return true
}

/** Shows each edge that may pass within a unit of a point, of those that visitPairs has seen, at least once. */
export function visitNear(edges: Edges, x: number, y: number, visit: (edge: number) => void): void {
  if (edges.count <= fewEdges) {
    for (let edge = 0; edge < edges.count; edge++) visit(edge)
    return
  }
  const { shift, left, low, columns, rows, heads, next, edgeOf } = grid
  const lastColumn = Math.min(columns - 1, (x - left) >> shift)
  const lastRow = Math.min(rows - 1, (y - low) >> shift)
  for (let row = Math.max(0, (y - low - 1) >> shift); row <= lastRow; row++) {
    for (let column = Math.max(0, (x - left - 1) >> shift); column <= lastColumn; column++) {
      const head = heads[row * columns + column]
      for (let entry = head; entry !== none; entry = next[entry]) visit(edgeOf[entry])
    }
  }
}

/** Puts the edges into the grid for `edgeBelow`. */
export function indexEdges(edges: Edges): void {
  openGrid(edges)
  for (let edge = 0; edge < edges.count; edge++) insertEdge(edge)
}

/** Cells are as wide as an edge is long, but not many more than there are edges. */
function openGrid(edges: Edges): void {
  const { count, ax, ay, bx, by } = edges
  let left = Number.POSITIVE_INFINITY
  let right = 0
  let low = Number.POSITIVE_INFINITY
  let high = 0
  let length = 0
  for (let edge = 0; edge < count; edge++) {
    const y0 = ay[edge]
    const y1 = by[edge]
    left = Math.min(left, ax[edge])
    right = Math.max(right, bx[edge])
    low = Math.min(low, y0, y1)
    high = Math.max(high, y0, y1)
    length += bx[edge] - ax[edge] + Math.abs(y1 - y0)
  }
  grid.edges = edges
  grid.shift = Math.max(0, Math.round(Math.log2(length / count)))
  while (((right - left) >> grid.shift) * ((high - low) >> grid.shift) > cellsPerEdge * count) grid.shift++
  grid.left = left
  grid.low = low
  grid.columns = ((right - left) >> grid.shift) + 1
  grid.rows = ((high - low) >> grid.shift) + 1
  const cells = grid.columns * grid.rows
  if (grid.heads.length < cells) grid.heads = new Int32Array(cells * 2)
  grid.heads.fill(none, 0, cells)
  grid.entries = 0
}

/** Into each cell that the edge may pass: a row at a time, from where it enters the row to where it leaves it. */
function insertEdge(edge: number): void {
  const { shift, left, low, columns } = grid
  const { ax, ay, bx, by } = grid.edges
  const x0 = ax[edge] - left
  const x1 = bx[edge] - left
  const y0 = ay[edge] - low
  const y1 = by[edge] - low
  const first = Math.min(y0, y1) >> shift
  const last = Math.max(y0, y1) >> shift
  const isSteep = first === last || x0 >> shift === x1 >> shift
  for (let row = first; row <= last; row++) {
    let from = x0
    let to = x1
    if (!isSteep) {
      const one = x0 + (((row << shift) - y0) / (y1 - y0)) * (x1 - x0)
      const two = x0 + ((((row + 1) << shift) - y0) / (y1 - y0)) * (x1 - x0)
      // A unit more than is needed, so that no rounding leaves out a cell.
      from = Math.max(x0, Math.min(one, two) - 1)
      to = Math.min(x1, Math.max(one, two) + 1)
    }
    for (let column = from >> shift; column <= to >> shift; column++) addEntry(row * columns + column, edge)
  }
}

function addEntry(cell: number, edge: number): void {
  if (grid.entries === grid.next.length) {
    grid.next = grown(grid.next, grid.entries * 2)
    grid.edgeOf = grown(grid.edgeOf, grid.entries * 2)
  }
  grid.next[grid.entries] = grid.heads[cell]
  grid.edgeOf[grid.entries] = edge
  grid.heads[cell] = grid.entries++
}

function boxesTouch({ ax, ay, bx, by }: Edges, first: number, second: number): boolean {
  if (ax[first] > bx[second] || ax[second] > bx[first]) return false
  const a = ay[first]
  const b = by[first]
  const c = ay[second]
  const d = by[second]
  return Math.max(a, b) >= Math.min(c, d) && Math.max(c, d) >= Math.min(a, b)
}

/**
 * The edge that lies directly below a point, or -1. Points of one x follow each other by y, as if the plane leaned a little, so
 * that upright edges are no exception. Edges through the point do not count.
 */
export function edgeBelow(x: number, y: number): number {
  const { shift, left, low, columns, heads, next, edgeOf } = grid
  const column = (x - left) >> shift
  let best = none
  let bestY = Number.NEGATIVE_INFINITY
  for (let row = Math.min(grid.rows - 1, (y - low) >> shift); row >= 0; row--) {
    for (let entry = heads[row * columns + column]; entry !== none; entry = next[entry]) {
      const edge = edgeOf[entry]
      const height = heightAt(grid.edges, edge, x, y)
      if (height > bestY || (height === bestY && steepness(grid.edges, best, edge) > 0)) {
        best = edge
        bestY = height
      }
    }
    if (bestY >= low + (row << shift)) return best
  }
  return best
}

/** The height of the edge at the point's x where it lies below the point, otherwise -∞. */
function heightAt({ ax, ay, bx, by }: Edges, edge: number, x: number, y: number): number {
  const fromX = ax[edge]
  const fromY = ay[edge]
  const toX = bx[edge]
  if (fromX > x || toX <= x || (fromX === x && fromY >= y)) return Number.NEGATIVE_INFINITY
  const height = fromY + ((by[edge] - fromY) * (x - fromX)) / (toX - fromX)
  return height < y ? height : Number.NEGATIVE_INFINITY
}
