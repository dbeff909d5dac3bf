/**
 * Longitudes beyond ±180, which some tables have (0 … 360, or lines that go on over the antimeridian). A question about a place is asked
 * of its copies a turn of the earth to the east and to the west, too, and what is tested exactly is brought back into -180 … 180. This
 * module says both for rows in memory, antimeridian-sql.ts in PostGIS. Answers have the coordinates as they are stored.
 */
import { type Box, extentOf, type Geometry, type Position, positionsOf } from './geojson.ts'

export const turnDegrees = 360
const half = turnDegrees / 2

/** The box and its copies, which together hold what lies at its place with longitudes from -540 to 540. */
export function copiesOf(box: Box, turn = turnDegrees): readonly Box[] {
  const { west, east } = box
  if (east - west >= turn) return [{ ...box, west: west - turn, east: east + turn }]
  return [0, turn, -turn].map((by) => ({ ...box, west: west + by, east: east + by }))
}

const isBeyondAntimeridian = ({ west, east }: Box): boolean => west < -half || east > half

/** By how much it is moved so that it begins in -180 … 180. */
const shiftOf = (west: number): number => -turnDegrees * Math.floor((west + half) / turnDegrees)

/**
 * An extent within ±180. Where it crosses the antimeridian its west is greater than its east, as in RFC 7946; one that is wider than
 * half the earth is the whole width instead, because many clients do not expect that.
 */
export function wrapExtent(box: Box): Box {
  if (!isBeyondAntimeridian(box)) return box
  const by = shiftOf(box.west)
  const [west, east] = [box.west + by, box.east + by]
  if (east <= half) return { ...box, west, east }
  if (east - west > half) return { ...box, west: -half, east: half }
  return { ...box, west, east: east - turnDegrees }
}

/** The geometry within ±180: moved as a whole, or cut at the antimeridian. */
export function wrapGeometry(geometry: Geometry): Geometry {
  const extent = extentOf(positionsOf(geometry))
  if (!isBeyondAntimeridian(extent)) return geometry
  if (geometry.type === 'GeometryCollection') {
    return { type: geometry.type, geometries: geometry.geometries.map(wrapGeometry) }
  }
  const first = -Math.floor((extent.east + half) / turnDegrees)
  const last = -Math.floor((extent.west + half) / turnDegrees)
  if (last - first > mostTurns) return geometry
  const turns = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * turnDegrees)
  switch (geometry.type) {
    case 'Point':
      return { type: 'Point', coordinates: wrapPosition(geometry.coordinates) }
    case 'MultiPoint':
      return { type: 'MultiPoint', coordinates: geometry.coordinates.map(wrapPosition) }
    case 'LineString':
      return { type: 'MultiLineString', coordinates: turns.flatMap((by) => cutLine(geometry.coordinates, by)) }
    case 'MultiLineString':
      return {
        type: 'MultiLineString',
        coordinates: turns.flatMap((by) => geometry.coordinates.flatMap((line) => cutLine(line, by))),
      }
    case 'Polygon':
      return { type: 'MultiPolygon', coordinates: turns.flatMap((by) => cutPolygon(geometry.coordinates, by)) }
    case 'MultiPolygon':
      return {
        type: 'MultiPolygon',
        coordinates: turns.flatMap((by) => geometry.coordinates.flatMap((rings) => cutPolygon(rings, by))),
      }
  }
}

/** What goes round the earth more often has no longitudes. */
const mostTurns = 4

const wrapPosition = ([x, y]: Position): Position => [Math.abs(x) <= half ? x : x + shiftOf(x), y]

/** What of a line lies within ±180 when it is moved by so much. */
function cutLine(line: readonly Position[], by: number): Position[][] {
  const parts: Position[][] = []
  let part: Position[] = []
  const end = (): void => {
    if (part.length > 1) parts.push(part)
    part = []
  }
  for (let index = 1; index < line.length; index++) {
    const [from, to] = [moved(line[index - 1] as Position, by), moved(line[index] as Position, by)]
    const [start, stop] = [clamped(from, to), clamped(to, from)]
    if (!start || !stop) {
      end()
      continue
    }
    if (part.length === 0 || start !== from) {
      end()
      part.push(start)
    }
    part.push(stop)
    if (stop !== to) end()
  }
  end()
  return parts
}

const moved = ([x, y]: Position, by: number): Position => [x + by, y]

/** The end of an edge, or where the edge enters ±180; undefined if none of it lies there. */
function clamped(end: Position, other: Position): Position | undefined {
  if (Math.abs(end[0]) <= half) return end
  const side = end[0] > 0 ? half : -half
  const isOutside = side > 0 ? other[0] >= side : other[0] <= side
  return isOutside ? undefined : at(side, end, other)
}

const at = (x: number, [x1, y1]: Position, [x2, y2]: Position): Position => [x, y1 + ((x - x1) / (x2 - x1)) * (y2 - y1)]

/** Ring by ring (Sutherland and Hodgman), which is right for any ring. A hole that lies elsewhere is left out. */
function cutPolygon(rings: readonly (readonly Position[])[], by: number): Position[][][] {
  const [outer, ...holes] = rings.map((ring) =>
    cutRing(
      cutRing(
        ring.map((one) => moved(one, by)),
        half,
      ),
      -half,
    ),
  )
  return outer && outer.length > 0 ? [[outer, ...holes.filter((hole) => hole.length > 0)]] : []
}

/** The part of a ring on this side of a meridian. */
function cutRing(ring: readonly Position[], side: number): Position[] {
  const isInside = ([x]: Position): boolean => (side > 0 ? x <= side : x >= side)
  const kept: Position[] = []
  for (let index = 1; index < ring.length; index++) {
    const [from, to] = [ring[index - 1] as Position, ring[index] as Position]
    if (isInside(from) !== isInside(to)) kept.push(at(side, from, to))
    if (isInside(to)) kept.push(to)
  }
  const [first] = kept
  // A ring that only touches the meridian has no area there.
  if (!first || kept.every(([x]) => x === side)) return []
  return [...kept, first]
}
