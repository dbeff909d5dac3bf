// One point of a shape, by which it is counted: a point itself, a corner in the middle of a line, a point inside an area.
import type { Geometry, Position } from '../../../query/geometry/geojson.ts'

/** Of many shapes that of the first, of a collection that of the first that has one; undefined where there is none. */
export function pointOn(geometry: Geometry): Position | undefined {
  switch (geometry.type) {
    case 'Point':
      return geometry.coordinates.length >= 2 ? geometry.coordinates : undefined
    case 'MultiPoint':
      return geometry.coordinates[0]
    case 'LineString':
      return middleOf(geometry.coordinates)
    case 'MultiLineString':
      return firstOf(geometry.coordinates, middleOf)
    case 'Polygon':
      return inside(geometry.coordinates)
    case 'MultiPolygon':
      return firstOf(geometry.coordinates, inside)
    case 'GeometryCollection':
      return firstOf(geometry.geometries, pointOn)
  }
}

function firstOf<T>(parts: readonly T[], point: (part: T) => Position | undefined): Position | undefined {
  for (const part of parts) {
    const found = point(part)
    if (found) return found
  }
  return undefined
}

const middleOf = (line: readonly Position[]): Position | undefined => line[Math.floor(line.length / 2)]

/** The middle of the widest piece of the area on a line from west to east that goes through no corner. */
function inside(rings: readonly (readonly Position[])[]): Position | undefined {
  const y = heightBetweenCorners(rings)
  const [corner] = rings[0] ?? []
  if (y === undefined) return corner
  const crossings = rings.flatMap((ring) => crossingsOf(ring, y)).sort((a, b) => a - b)
  let widest = -1
  let x: number | undefined
  for (let index = 0; index + 1 < crossings.length; index += 2) {
    const [from = 0, to = 0] = [crossings[index], crossings[index + 1]]
    if (to - from <= widest) continue
    widest = to - from
    x = (from + to) / 2
  }
  return x === undefined ? corner : [x, y]
}

/** Between the corners that are nearest to the middle of the outer ring, above and below. */
function heightBetweenCorners(rings: readonly (readonly Position[])[]): number | undefined {
  let [south, north] = [Infinity, -Infinity]
  for (const [, y] of rings[0] ?? []) {
    south = Math.min(south, y)
    north = Math.max(north, y)
  }
  if (!(north > south)) return undefined
  const middle = (south + north) / 2
  let [below, above] = [south, north]
  for (const ring of rings) {
    for (const [, y] of ring) {
      if (y <= middle) below = Math.max(below, y)
      else above = Math.min(above, y)
    }
  }
  return (below + above) / 2
}

function crossingsOf(ring: readonly Position[], y: number): number[] {
  const found: number[] = []
  for (let index = 1; index < ring.length; index++) {
    const [x1, y1] = ring[index - 1] as Position
    const [x2, y2] = ring[index] as Position
    if (y1 > y !== y2 > y) found.push(x1 + ((y - y1) / (y2 - y1)) * (x2 - x1))
  }
  return found
}
