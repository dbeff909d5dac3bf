/**
 * Edges between integer points, each stored from its lexicographically lower end a (by x, then y) to its upper end b. `wind` is
 * 1 where its ring runs from a to b and -1 where it runs from b to a. Coordinates are from 0 to `span` - 1.
 */
export type Edges = {
  count: number
  ax: Int32Array
  ay: Int32Array
  bx: Int32Array
  by: Int32Array
  wind: Int32Array
  /** Which ring an edge belongs to; whoever fills the list says what else it may be. */
  owner: Int32Array
}

/** Four coordinates and a sign are one exact double, which typed arrays sort fastest. */
export const spanBits = 13
export const span = 1 << spanBits

const smallest = 1024

export const createEdges = (): Edges => ({ count: 0, ...emptyArrays() })

const emptyArrays = (): Omit<Edges, 'count'> => ({
  ax: new Int32Array(smallest),
  ay: new Int32Array(smallest),
  bx: new Int32Array(smallest),
  by: new Int32Array(smallest),
  wind: new Int32Array(smallest),
  owner: new Int32Array(smallest),
})

/** Makes room for `count` more edges. */
export function reserveEdges(edges: Edges, count: number): void {
  const needed = edges.count + count
  if (needed <= edges.ax.length) return
  const capacity = Math.max(needed, edges.ax.length * 2)
  edges.ax = grown(edges.ax, capacity)
  edges.ay = grown(edges.ay, capacity)
  edges.bx = grown(edges.bx, capacity)
  edges.by = grown(edges.by, capacity)
  edges.wind = grown(edges.wind, capacity)
  edges.owner = grown(edges.owner, capacity)
}

/** A larger copy. */
export function grown(array: Int32Array, capacity: number): Int32Array {
  const larger = new Int32Array(capacity)
  larger.set(array)
  return larger
}

/** Adds the edge of a ring that runs from x0, y0 to x1, y1, where there is room. */
export function putEdge(edges: Edges, x0: number, y0: number, x1: number, y1: number, owner: number): void {
  const at = edges.count++
  const isForward = x0 < x1 || (x0 === x1 && y0 < y1)
  edges.ax[at] = isForward ? x0 : x1
  edges.ay[at] = isForward ? y0 : y1
  edges.bx[at] = isForward ? x1 : x0
  edges.by[at] = isForward ? y1 : y0
  edges.wind[at] = isForward ? 1 : -1
  edges.owner[at] = owner
}

/** Twice the area of the triangle of an edge and a point: positive when the point lies to the left of a → b. */
export function sideOf({ ax, ay, bx, by }: Edges, edge: number, x: number, y: number): number {
  const fromX = ax[edge]
  const fromY = ay[edge]
  return (bx[edge] - fromX) * (y - fromY) - (by[edge] - fromY) * (x - fromX)
}

/** Positive when the second edge is steeper than the first, counter-clockwise from straight down to straight up. */
export function steepness({ ax, ay, bx, by }: Edges, first: number, second: number): number {
  const dx = bx[first] - ax[first]
  const dy = by[first] - ay[first]
  return dx * (by[second] - ay[second]) - dy * (bx[second] - ax[second])
}
