import type { Geometry, Position } from '../geojson.ts'
import { allowVisits, createEdgeTree, type EdgeTree, edgesEastOf, edgesNear, isNearTree } from './edge-tree.ts'

/** A geometry on the plane of degrees as a list of edges with a spatial index, to be compared with others. */
export type PlanarShape = {
  /** x1, y1, x2, y2 of every edge: of rings and lines in their order, of a point twice the point. */
  readonly ends: readonly number[]
  /** Of every edge the area that it bounds, or `kind`. */
  readonly areas: readonly number[]
  readonly areaCount: number
  /** The first edge of every ring, line and point. */
  readonly starts: readonly number[]
  readonly tree: EdgeTree
}

/** What edges are that bound no area. */
export const kind = { line: -1, point: -2 } as const

/** `isPrepared`: it is compared with many others. */
export function planarShape(geometry: Geometry, isPrepared = false): PlanarShape {
  const shape = { ends: [], areas: [], areaCount: 0, starts: [] }
  addGeometry(shape, geometry)
  return { ...shape, tree: createEdgeTree(shape.ends, isPrepared ? shape.starts : []) }
}

type Parts = { ends: number[]; areas: number[]; areaCount: number; starts: number[] }

function addGeometry(parts: Parts, geometry: Geometry): void {
  switch (geometry.type) {
    case 'Point':
      addLine(parts, [geometry.coordinates])
      break
    case 'MultiPoint':
      for (const position of geometry.coordinates) addLine(parts, [position])
      break
    case 'LineString':
      addLine(parts, geometry.coordinates)
      break
    case 'MultiLineString':
      for (const line of geometry.coordinates) addLine(parts, line)
      break
    case 'Polygon':
      addArea(parts, geometry.coordinates)
      break
    case 'MultiPolygon':
      for (const rings of geometry.coordinates) addArea(parts, rings)
      break
    case 'GeometryCollection':
      for (const part of geometry.geometries) addGeometry(parts, part)
  }
}

/** An outer ring that goes there and back again is a line, and the holes of nothing are nothing. */
function addArea(parts: Parts, rings: readonly (readonly Position[])[]): void {
  const [outer] = rings
  if (!outer?.[0]) return
  if (isFlat(outer)) {
    addLine(parts, outer)
    return
  }
  const area = parts.areaCount++
  for (const ring of rings) addEdges(parts, ring, area)
}

function isFlat(ring: readonly Position[]): boolean {
  const [x = 0, y = 0] = ring[0] ?? []
  for (let index = 1; index < ring.length; index++) {
    const [a, b] = [ring[index - 1], ring[index]]
    if (crossProduct(a[0], a[1], b[0], b[1], x, y) !== 0) return false
  }
  return true
}

/** A line that goes nowhere is a point. */
function addLine(parts: Parts, line: readonly Position[]): void {
  const [first] = line
  if (!first || addEdges(parts, line, kind.line) > 0) return
  parts.starts.push(parts.areas.length)
  parts.areas.push(kind.point)
  parts.ends.push(first[0], first[1], first[0], first[1])
}

/** Leaves out edges of no length; answers how many remain. */
function addEdges({ ends, areas, starts }: Parts, line: readonly Position[], area: number): number {
  const first = areas.length
  for (let index = 1; index < line.length; index++) {
    const [[x1, y1], [x2, y2]] = [line[index - 1], line[index]]
    if (x1 === x2 && y1 === y2) continue
    ends.push(x1, y1, x2, y2)
    areas.push(area)
  }
  if (areas.length > first) starts.push(first)
  return areas.length - first
}

/** Of the ways from a to b and from a to c: positive when c lies to the left, negative to the right, 0 on the line. */
export function crossProduct(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

/** Whether the position lies in an area: within one ring of it, or three. It is on no edge. */
export function isInAreas(shape: PlanarShape, x: number, y: number): boolean {
  if (shape.areaCount === 0 || !isNearTree(shape.tree, x, y, x, y)) return false
  if (shape.areaCount > 1) return areasAround(shape, x, y).size > 0
  let isInside = false
  for (const edge of edgesEastOf(shape.tree, x, y)) if (isCrossed(shape, edge, x, y)) isInside = !isInside
  return isInside
}

/** The areas that the position lies in. */
export function areasAround(shape: PlanarShape, x: number, y: number): Set<number> {
  const around = new Set<number>()
  for (const edge of edgesEastOf(shape.tree, x, y)) {
    const area = shape.areas[edge]
    if (isCrossed(shape, edge, x, y) && !around.delete(area)) around.add(area)
  }
  return around
}

/** Whether a ray to the east crosses the edge of an area. */
function isCrossed({ ends, areas }: PlanarShape, edge: number, x: number, y: number): boolean {
  if (areas[edge] < 0) return false
  const at = edge * 4
  const [y1, y2] = [ends[at + 1], ends[at + 3]]
  const goesUp = y2 > y
  if (y1 > y === goesUp) return false
  return crossProduct(ends[at], y1, ends[at + 2], y2, x, y) > 0 === goesUp
}

/** The edges of the shape that may meet an edge of another one. */
export function edgesBeside({ tree }: PlanarShape, { ends }: PlanarShape, edge: number): number[] {
  const at = edge * 4
  const [x1, y1] = [ends[at], ends[at + 1]]
  const [x2, y2] = [ends[at + 2], ends[at + 3]]
  return edgesNear(tree, Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2))
}

/** Whether two edges share a point, of which it is known that their boxes meet. */
export function edgesMeet(shape: PlanarShape, edge: number, other: PlanarShape, otherEdge: number): boolean {
  return isPassed(shape, edge, other, otherEdge) && isPassed(other, otherEdge, shape, edge)
}

/** Whether the line through the first edge has the ends of the second on different sides, or on it. */
function isPassed({ ends: a }: PlanarShape, edge: number, { ends: b }: PlanarShape, otherEdge: number): boolean {
  const [x1, y1, x2, y2] = [a[edge * 4], a[edge * 4 + 1], a[edge * 4 + 2], a[edge * 4 + 3]] as Ends
  const start = crossProduct(x1, y1, x2, y2, b[otherEdge * 4], b[otherEdge * 4 + 1])
  const end = crossProduct(x1, y1, x2, y2, b[otherEdge * 4 + 2], b[otherEdge * 4 + 3])
  return !((start > 0 && end > 0) || (start < 0 && end < 0))
}

export type Ends = readonly [x1: number, y1: number, x2: number, y2: number]

export function endsOf({ ends }: PlanarShape, edge: number): Ends {
  const at = edge * 4
  return [ends[at], ends[at + 1], ends[at + 2], ends[at + 3]]
}

/** Each row is compared within a limit of its own. */
export function beginComparison({ tree }: PlanarShape): void {
  allowVisits(tree)
}
