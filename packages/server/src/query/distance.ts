import geographicLib from 'geographiclib-geodesic'
import { ApiError } from '../errors.ts'
import { boxesAround } from './bounding-box.ts'
import { extentOf, type Geometry, type Position, positionsOf } from './geojson.ts'
import { extentsMeet, isInAreas, shapeOf } from './intersection.ts'
import {
  type Approach,
  type Cap,
  capAround,
  isSurrounded,
  meet,
  nowhere,
  type Path,
  pathOf,
  positionOf,
} from './sphere.ts'

/** As spatial-sql.ts divides the operand, whose edges are straight in degrees. */
const pieces = 256
const positionLimit = 1_000_000

/** What the arithmetic of doubles leaves of no distance at all. */
const nothingMetres = 1e-8

/** Between the distances on the sphere and on the ellipsoid there is less than this. */
const surely = 0.95
const radiusMetres = 6_371_008.77

/** An area on the sphere; one that has no cap around it is so large that only the plane of degrees tells its inside. */
type Area = { readonly rings: readonly Path[]; readonly cap: Cap | undefined; readonly geometry: Geometry }

type Round = { readonly paths: readonly Path[]; readonly areas: readonly Area[] }

/** Whether a geometry comes as near to `geometry` as this, along the ellipsoid, as dwithinSql has it. */
export function nearnessTest(geometry: Geometry, distanceMetres: number): (other: Geometry) => boolean {
  const boxes = boxesAround(extentOf(positionsOf(geometry)), distanceMetres)
  const distanceTo = distanceFrom(geometry)
  return (other) => {
    const extent = extentOf(positionsOf(other))
    if (!boxes.some((box) => extentsMeet(box, extent))) return false
    return distanceTo(other, distanceMetres) <= distanceMetres + nothingMetres
  }
}

/**
 * In metres, between the positions that are nearest on a sphere, as PostGIS measures geography. It is not looked for a
 * nearer one than `enoughMetres`. The edges of the other geometry follow great circles.
 */
export function distanceFrom(geometry: Geometry): (other: Geometry, enoughMetres?: number) => number {
  const here = roundOf(divided(geometry))
  return (other, enoughMetres = 0) => {
    const there = roundOf(other)
    if (isOneInside(here, there) || isOneInside(there, here)) return 0
    const enough = 2 * Math.sin(Math.min(Math.PI, (enoughMetres * surely) / radiusMetres) / 2)
    let nearest: Approach = nowhere
    for (const path of here.paths) {
      for (const otherPath of there.paths) {
        nearest = meet(path, otherPath, nearest)
        if (nearest.chord <= enough) return enoughMetres
      }
    }
    return lengthOf(nearest)
  }
}

function lengthOf({ from, to }: Approach): number {
  if (!from || !to) return Infinity
  const [[lon1, lat1], [lon2, lat2]] = [positionOf(from), positionOf(to)]
  return geographicLib.Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2).s12 ?? 0
}

function isOneInside({ areas }: Round, { paths }: Round): boolean {
  return areas.some(({ rings, cap, geometry }) => {
    if (cap) return paths.some((path) => isSurrounded(path, rings, cap))
    const plane = shapeOf(geometry)
    return paths.some(({ first }) => isInAreas(first, plane.areas))
  })
}

function roundOf(geometry: Geometry): Round {
  switch (geometry.type) {
    case 'Point':
      return { paths: [pathOf([geometry.coordinates])], areas: [] }
    case 'MultiPoint':
      return { paths: geometry.coordinates.map((position) => pathOf([position])), areas: [] }
    case 'LineString':
      return { paths: [pathOf(geometry.coordinates)], areas: [] }
    case 'MultiLineString':
      return { paths: pathsOf(geometry.coordinates), areas: [] }
    case 'Polygon':
      return roundOfAreas([geometry.coordinates])
    case 'MultiPolygon':
      return roundOfAreas(geometry.coordinates)
    case 'GeometryCollection': {
      const parts = geometry.geometries.map(roundOf)
      return { paths: parts.flatMap(({ paths }) => paths), areas: parts.flatMap(({ areas }) => areas) }
    }
  }
}

const pathsOf = (lines: readonly (readonly Position[])[]): Path[] => lines.filter((line) => line.length > 0).map(pathOf)

function roundOfAreas(polygons: readonly (readonly (readonly Position[])[])[]): Round {
  const areas = polygons.flatMap((coordinates): Area[] => {
    const rings = pathsOf(coordinates)
    const [outer] = rings
    return outer ? [{ rings, cap: capAround(outer), geometry: { type: 'Polygon', coordinates } }] : []
  })
  return { paths: areas.flatMap(({ rings }) => rings), areas }
}

const tooLarge = (): ApiError =>
  new ApiError('invalid_filter', 'The geometry of $dwithin is too large to measure distances to. Simplify it.')

/** With more positions on its edges, as ST_Segmentize puts them there. */
function divided(geometry: Geometry): Geometry {
  const { west, south, east, north } = extentOf(positionsOf(geometry))
  const longest = Math.max(east - west, north - south) / pieces
  if (longest === 0) return geometry
  let count = 0
  const line = (positions: readonly Position[]): Position[] => {
    const [first] = positions
    const result: Position[] = first ? [first] : []
    for (let index = 1; index < positions.length; index++) {
      const [[x1, y1], [x2, y2]] = [positions[index - 1] as Position, positions[index] as Position]
      const parts = Math.max(1, Math.ceil(Math.hypot(x2 - x1, y2 - y1) / longest))
      count += parts
      if (count > positionLimit) throw tooLarge()
      for (let part = 1; part < parts; part++) {
        result.push([x1 + ((x2 - x1) * part) / parts, y1 + ((y2 - y1) * part) / parts])
      }
      result.push([x2, y2])
    }
    return result
  }
  return dividedBy(geometry, line)
}

type Divide = (positions: readonly Position[]) => readonly Position[]

function dividedBy(geometry: Geometry, line: Divide): Geometry {
  switch (geometry.type) {
    case 'LineString':
      return { type: 'LineString', coordinates: line(geometry.coordinates) }
    case 'MultiLineString':
    case 'Polygon':
      return { type: geometry.type, coordinates: geometry.coordinates.map(line) }
    case 'MultiPolygon':
      return { type: 'MultiPolygon', coordinates: geometry.coordinates.map((rings) => rings.map(line)) }
    case 'GeometryCollection':
      return { type: 'GeometryCollection', geometries: geometry.geometries.map((part) => dividedBy(part, line)) }
    default:
      return geometry
  }
}
