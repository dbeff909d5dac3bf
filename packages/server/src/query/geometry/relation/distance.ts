// Geodesic distances between geometries and the predicate "within a distance", for rows that no database compares.
import geographicLib from 'geographiclib-geodesic'
import { ApiError } from '../../../kernel/errors.ts'
import { turnDegrees } from '../antimeridian.ts'
import { boxesAround, boxesMeet } from '../bounding-box.ts'
import { extentOf, type Geometry, type Position, positionsOf } from '../geojson.ts'
import { mortonCodes } from './morton-code.ts'
import { beginComparison, isInAreas, type PlanarShape, planarShape } from './planar-shape.ts'
import { type Approach, positionOf } from './sphere.ts'
import {
  type Ball,
  ballAround,
  type Cap,
  capAround,
  findNearest,
  isSurrounded,
  type Path,
  pathOf,
  type Search,
} from './sphere-path.ts'

/** As spatial-sql.ts divides the operand, whose edges are straight in degrees. */
const pieces = 256
const positionLimit = 1_000_000

/** What the arithmetic of doubles leaves of no distance at all. */
const nothingMetres = 1e-8

/** Six centimetres, so that what is at no distance is found. */
const nothingChord = 1e-8

/** Between the distances on the sphere and on the ellipsoid there is less than this. */
const surely = 0.95
const radiusMetres = 6_371_008.77

/** An area on the sphere. The inside of one that is too large for a cap is told by the plane of degrees. */
type Area = { readonly rings: readonly Path[]; readonly inside: Cap | PlanarShape }

type Round = { readonly paths: readonly Path[]; readonly areas: readonly Area[] }

/** Pairs of parts of two lines that one measurement may look at: about a second. */
const maxPairs = 250_000

/** Whether a geometry comes as near to `geometry` as this, along the ellipsoid, as dwithinSql has it. */
export function nearnessTest(geometry: Geometry, distanceMetres: number): (other: Geometry) => boolean {
  const boxes = boxesAround(extentOf(positionsOf(geometry)), distanceMetres)
  const distanceTo = distanceFrom(geometry)
  return (other) => {
    const extent = extentOf(positionsOf(other))
    if (!boxes.some((box) => boxesMeet(box, extent))) return false
    return distanceTo(other, { enough: distanceMetres, most: distanceMetres }) <= distanceMetres + nothingMetres
  }
}

/** In metres: it is not looked for a nearer position than `enough`, and none is found that is further than `most`. */
type Limits = { readonly enough: number; readonly most: number }

/**
 * In metres, between the positions that are nearest on a sphere, as PostGIS measures geography. The edges of the other
 * geometry follow great circles.
 */
export function distanceFrom(geometry: Geometry): (other: Geometry, limits?: Limits) => number {
  const here = roundOf(divided(geometry))
  const hereBall = ballOf(here)
  return (other, { enough, most } = { enough: 0, most: Infinity }) => {
    const there = roundOf(other)
    if (there.paths.length === 0) return Infinity
    if (isOneInside(here, there) || isOneInside(there, here)) return 0
    const search: Search = {
      best: { chord: chordOf(most / surely) + nothingChord },
      enough: chordOf(enough * surely),
      pairsLeft: maxPairs,
      tooMany: tooLarge,
    }
    findNearest(search, hereBall, ballOf(there))
    return search.best.chord <= search.enough ? enough : lengthOf(search.best)
  }
}

/** Through the unit sphere, for a way in metres along it. */
const chordOf = (metres: number): number => 2 * Math.sin(Math.min(Math.PI, metres / radiusMetres) / 2)

/** Around all paths, neighbours beside each other. */
function ballOf({ paths }: Round): Ball {
  const codes = mortonCodes(paths.map(({ first }) => first))
  const order = paths.map((path, index) => ({ ball: path.ball, code: codes[index] ?? 0 }))
  return ballAround(order.sort((a, b) => a.code - b.code).map(({ ball }) => ball))
}

function lengthOf({ from, to }: Approach): number {
  if (!from || !to) return Infinity
  const [[lon1, lat1], [lon2, lat2]] = [positionOf(from), positionOf(to)]
  return geographicLib.Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2).s12 ?? 0
}

function isOneInside({ areas }: Round, { paths }: Round): boolean {
  return areas.some(({ rings, inside }) => {
    if ('cosine' in inside) return paths.some((path) => isSurrounded(path, rings, inside))
    beginComparison(inside)
    return paths.some(({ first: [x, y] }) =>
      [x, x + turnDegrees, x - turnDegrees].some((copy) => isInAreas(inside, copy, y)),
    )
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
    return outer ? [{ rings, inside: capAround(outer) ?? planarShape({ type: 'Polygon', coordinates }) }] : []
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
      const [[x1, y1], [x2, y2]] = [positions[index - 1], positions[index]]
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
