// GeoJSON validation.

import { type ApiError, faulty } from '../../kernel/errors.ts'
import { type ExceededLimit, limits, overLimit } from '../../kernel/limits/limits.ts'
import type { Geometry, Position } from '../geometry/geojson.ts'
import { crossesMoreThan } from '../geometry/self-crossings.ts'
import { below, fault } from './fault.ts'

/** What is read: where it is, and how many positions it has so far. Paths of parts are made only for a message. */
type Reading = { readonly path: string; readonly maxPositions: number; positions: number }

/** A part's way from the geometry: steps from the outside to the inside. */
type Steps = readonly (string | number)[]

/** Validates the structure of a GeoJSON geometry; the error names the first fault. */
export function readGeometry(value: unknown, path: string, maxPositions = Number.POSITIVE_INFINITY): Geometry {
  const reading = { path, maxPositions, positions: 0 }
  const type = member(value, 'type')
  if (type !== 'GeometryCollection') return readSimpleGeometry(value, reading, [])
  const geometries = member(value, 'geometries')
  if (!Array.isArray(geometries)) throw refuse(reading, ['geometries'], 'must be a list')
  return { type, geometries: geometries.map((item, n) => readSimpleGeometry(item, reading, ['geometries', n])) }
}

/** Refuses areas that would take the database seconds to repair. */
export function demandFewCrossings(geometry: Geometry, path: string): void {
  const most = limits.areaCrossings.value
  if (crossesMoreThan(geometry, most)) throw tooManyCrossings(most, path)
}

const tooManyCrossings = (most: number, path: string): ApiError =>
  overLimit('areaCrossings', most, `must not have edges that cross each other in more than ${most} places`, { path })

function readSimpleGeometry(value: unknown, reading: Reading, steps: Steps): Geometry {
  const type = member(value, 'type')
  const coordinates = member(value, 'coordinates')
  const inside = [...steps, 'coordinates']
  switch (type) {
    case 'Point':
      return { type, coordinates: readPosition(coordinates, reading, inside) }
    case 'MultiPoint':
      return { type, coordinates: readPositions(coordinates, reading, inside) }
    case 'LineString':
      return { type, coordinates: readLine(coordinates, reading, inside) }
    case 'MultiLineString':
      return { type, coordinates: readList(coordinates, reading, inside, readLine) }
    case 'Polygon':
      return { type, coordinates: readPolygon(coordinates, reading, inside) }
    case 'MultiPolygon':
      return { type, coordinates: readList(coordinates, reading, inside, readPolygon) }
    default:
      throw refuse(reading, steps, 'must be a GeoJSON geometry such as {"type": "Point", "coordinates": [24.9, 60.2]}')
  }
}

function readPositions(value: unknown, reading: Reading, steps: Steps): readonly Position[] {
  if (!Array.isArray(value)) throw refuse(reading, steps, 'must be a list')
  countPositions(reading, value.length)
  return value.map((item, index) => positionOf(item) ?? refusePosition(reading, [...steps, index]))
}

function readPosition(value: unknown, reading: Reading, steps: Steps): Position {
  countPositions(reading, 1)
  return positionOf(value) ?? refusePosition(reading, steps)
}

function positionOf(value: unknown): Position | undefined {
  const [x, y] = Array.isArray(value) && value.length >= 2 && value.length <= 4 ? value : []
  return Number.isFinite(x) && Number.isFinite(y) ? [x, y] : undefined
}

function refusePosition(reading: Reading, steps: Steps): never {
  throw refuse(reading, steps, 'must be a position: [longitude, latitude]')
}

function countPositions(reading: Reading, more: number): void {
  reading.positions += more
  const { path, positions, maxPositions } = reading
  if (positions > maxPositions) {
    const message = `must not have more than ${maxPositions} positions`
    const limit = { limit: maxPositions, limitName: 'filterPositions' } satisfies ExceededLimit
    throw faulty([{ path, code: 'too_many_values', message }], 'invalid_filter', limit)
  }
}

function readLine(value: unknown, reading: Reading, steps: Steps): readonly Position[] {
  const line = readPositions(value, reading, steps)
  if (line.length < 2) throw refuse(reading, steps, 'must have at least two positions')
  return line
}

const readPolygon = (value: unknown, reading: Reading, steps: Steps): readonly (readonly Position[])[] =>
  readList(value, reading, steps, readRing)

function readRing(value: unknown, reading: Reading, steps: Steps): readonly Position[] {
  const ring = readPositions(value, reading, steps)
  const [first, last] = [ring.at(0), ring.at(-1)]
  if (ring.length < 4 || first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) {
    throw refuse(reading, steps, 'must be a ring: at least four positions, the last equal to the first')
  }
  return ring
}

type ReadItem<T> = (item: unknown, reading: Reading, steps: Steps) => T

function readList<T>(value: unknown, reading: Reading, steps: Steps, read: ReadItem<T>): readonly T[] {
  if (!Array.isArray(value)) throw refuse(reading, steps, 'must be a list')
  return value.map((item, index) => read(item, reading, [...steps, index]))
}

const refuse = ({ path }: Reading, steps: Steps, message: string) =>
  fault(steps.reduce<string>(below, path), 'invalid_geometry', message)

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return Reflect.get(value, name)
}
