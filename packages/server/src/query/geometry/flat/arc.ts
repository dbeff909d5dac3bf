// Linearises circular arcs: tables and tiles have straight lines only.
import { addVertex, createFlatGeometry, type FlatGeometry } from './flat-geometry.ts'

const stepRadians = Math.PI / 45

/** Positions of a circular string with short straight lines in place of its arcs. */
export function straighten(positions: readonly (readonly number[])[]): number[][] {
  const flat = createFlatGeometry()
  for (const [x = 0, y = 0, z = 0] of positions) addVertex(flat, x, y, z)
  addArcs(flat, 0)
  const hasZ = positions.some(({ length }) => length > 2)
  return Array.from({ length: flat.vertexCount }, (_, vertex) => {
    const [x = 0, y = 0] = flat.xy.subarray(vertex * 2, vertex * 2 + 2)
    return hasZ ? [x, y, flat.z[vertex] ?? 0] : [x, y]
  })
}

/** Replaces the vertices from `first` on, every third of which is passed by an arc, by short straight lines. */
export function addArcs(geometry: FlatGeometry, first: number): void {
  const count = geometry.vertexCount - first
  if (count < 3) return
  geometry.isCurved = true
  const xy = geometry.xy.slice(first * 2, geometry.vertexCount * 2)
  const z = geometry.z.slice(first, geometry.vertexCount)
  geometry.vertexCount = first + 1
  for (let at = 0; at + 2 < count; at += 2) addArc(geometry, xy.subarray(at * 2, at * 2 + 6), z.subarray(at, at + 3))
}

/** The vertices after the first of the arc through three points. */
function addArc(geometry: FlatGeometry, xy: Float64Array, z: Float64Array): void {
  const [ax = 0, ay = 0, bx = 0, by = 0, cx = 0, cy = 0] = xy
  const [az = 0, bz = 0, cz = 0] = z
  const centre = centreOf(ax, ay, bx, by, cx, cy)
  if (!centre) {
    addVertex(geometry, bx, by, bz)
    addVertex(geometry, cx, cy, cz)
    return
  }
  const [x, y] = centre
  const radius = Math.hypot(ax - x, ay - y)
  const start = Math.atan2(ay - y, ax - x)
  const turn = turnOf(start, Math.atan2(by - y, bx - x), Math.atan2(cy - y, cx - x), ax === cx && ay === cy)
  const steps = Math.ceil(Math.abs(turn) / stepRadians)
  for (let step = 1; step < steps; step++) {
    const angle = start + (turn * step) / steps
    addVertex(geometry, x + radius * Math.cos(angle), y + radius * Math.sin(angle), az + ((cz - az) * step) / steps)
  }
  addVertex(geometry, cx, cy, cz)
}

/** The centre of the circle; none when the points lie on a line. A closed arc passes the opposite point. */
function centreOf(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
): [number, number] | undefined {
  if (ax === cx && ay === cy) return [(ax + bx) / 2, (ay + by) / 2]
  const [dx, dy, ex, ey] = [bx - ax, by - ay, cx - ax, cy - ay]
  const cross = 2 * (dx * ey - dy * ex)
  const [d2, e2] = [dx * dx + dy * dy, ex * ex + ey * ey]
  const centre: [number, number] = [ax + (ey * d2 - dy * e2) / cross, ay + (dx * e2 - ex * d2) / cross]
  const isFlat = Math.abs(cross) <= 1e-12 * (d2 + e2) || !centre.every(Number.isFinite)
  return isFlat ? undefined : centre
}

/** How far the arc turns, positive when counter-clockwise, so that it passes the middle. */
function turnOf(start: number, middle: number, end: number, isCircle: boolean): number {
  const full = 2 * Math.PI
  if (isCircle) return full
  const ahead = (angle: number) => (((angle - start) % full) + full) % full
  return ahead(middle) <= ahead(end) ? ahead(end) : ahead(end) - full
}
