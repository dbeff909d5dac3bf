// Operands of spatial operators: geometries, boxes and distances.

import { limits } from '../../kernel/limits/limits.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import { type Geometry, positionsOf } from '../geometry/geojson.ts'
import { below, fault, show } from '../values/fault.ts'
import { demandFewCrossings, readGeometry } from '../values/read-geometry.ts'
import { asList, asObject, rawList, scalarOperand } from './operand.ts'

export const maxPositions = limits.filterPositions.value
const worldWidth = 360

/** A GeoJSON geometry in 4326, as an object or as JSON text. */
export function geometryOperand(value: unknown, path: string): Geometry {
  const geometry = readGeometry(typeof value === 'string' ? parseText(value, path) : value, path, maxPositions)
  const positions = positionsOf(geometry)
  if (positions.length === 0) throw fault(path, 'invalid_geometry', 'must not be an empty geometry')
  const isOutside = positions.some(([lon, lat]) => Math.abs(lon) > 180 || Math.abs(lat) > 90)
  if (isOutside)
    throw fault(
      path,
      'invalid_geometry',
      'must lie within longitudes -180 … 180 and latitudes -90 … 90 (EPSG:4326, longitude first)',
    )
  demandFewCrossings(geometry, path)
  return geometry
}

/** The polygons of a box [west, south, east, north]: two if it crosses the antimeridian. */
export function bboxOperand(value: unknown, path: string): readonly [Geometry, Geometry?] {
  const list = readNumbers(value, path)
  const [west, south, east, north] = list
  if (list.length !== 4 || west === undefined || south === undefined || east === undefined || north === undefined) {
    throw fault(path, 'invalid_value', 'must be four numbers: west, south, east, north')
  }
  if (south > north) throw fault(path, 'invalid_value', 'must be west, south, east, north: south is greater than north')
  if (south < -90 || north > 90) throw fault(path, 'invalid_value', 'must have latitudes within -90 … 90')
  if (east - west >= worldWidth) return [box(-180, south, 180, north)]
  const [left, right] = [wrapLongitude(west), wrapLongitude(east)]
  if (left <= right) return [box(left, south, right, north)]
  return [box(left, south, 180, north), box(-180, south, right, north)]
}

/** Whether an operand that may be a geometry or a box is a box. */
export const isBox = (value: unknown): boolean =>
  asList(value) !== undefined || (typeof value === 'string' && /^\s*[[\d.+-]/.test(value))

/** A box as a single geometry, so that a row on both sides of the antimeridian can be within it. */
export function boxOperand(value: unknown, path: string): Geometry {
  const [first, second] = bboxOperand(value, path)
  if (!second) return first
  if (first.type === 'Polygon' && second.type === 'Polygon') {
    return { type: 'MultiPolygon', coordinates: [first.coordinates, second.coordinates] }
  }
  if (first.type === 'LineString' && second.type === 'LineString') {
    return { type: 'MultiLineString', coordinates: [first.coordinates, second.coordinates] }
  }
  // The part that is only a line or a point on the antimeridian is already the edge of the other part.
  return first.type === 'Polygon' || second.type === 'Point' ? first : second
}

/** `{geometry | point: [lon, lat], distance}`, distance in metres. */
export function distanceOperand(value: unknown, path: string): { geometry: Geometry; distanceMetres: number } {
  const parts = typeof value === 'string' ? parseText(value, path) : value
  if (!asObject(parts))
    throw fault(path, 'invalid_value', 'must be an object such as {"point": [24.9, 60.2], "distance": 500}')
  const unknown = Object.keys(parts).find((key) => key !== 'geometry' && key !== 'point' && key !== 'distance')
  if (unknown !== undefined)
    throw fault(
      below(path, unknown),
      'unknown_member',
      unknownName('a member of $dwithin', unknown, ['geometry', 'point', 'distance']),
    )
  if (Object.hasOwn(parts, 'geometry') === Object.hasOwn(parts, 'point')) {
    throw fault(path, 'invalid_value', 'must have either geometry or point')
  }
  const distanceMetres = Number(scalarOperand({ type: 'number' }, parts.distance, below(path, 'distance')))
  if (distanceMetres < 0) throw fault(below(path, 'distance'), 'invalid_value', 'must not be negative')
  const geometry = Object.hasOwn(parts, 'geometry')
    ? geometryOperand(parts.geometry, below(path, 'geometry'))
    : pointOperand(parts.point, below(path, 'point'))
  return { geometry, distanceMetres }
}

const pointOperand = (value: unknown, path: string): Geometry =>
  geometryOperand({ type: 'Point', coordinates: readNumbers(value, path) }, path)

function readNumbers(value: unknown, path: string): readonly number[] {
  const list = typeof value === 'string' && value.startsWith('[') ? parseText(value, path) : value
  return rawList(list, path).map((item, index) => Number(scalarOperand({ type: 'number' }, item, below(path, index))))
}

function parseText(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw fault(path, 'invalid_json', `must be JSON, not ${show(text)}`)
  }
}

/** Maps that scroll around the world send longitudes beyond 180. */
function wrapLongitude(lon: number): number {
  return Math.abs(lon) <= 180 ? lon : lon - worldWidth * Math.round(lon / worldWidth)
}

/** A box without width or height becomes a point or a line, because an empty area would intersect nothing. */
function box(west: number, south: number, east: number, north: number): Geometry {
  if (west === east && south === north) return { type: 'Point', coordinates: [west, south] }
  if (west === east || south === north) {
    return {
      type: 'LineString',
      coordinates: [
        [west, south],
        [east, north],
      ],
    }
  }
  return {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  }
}
