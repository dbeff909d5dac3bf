// GeoJSON validation.
import type { Geometry, Position } from '../geometry/geojson.ts'
import { below, fault } from './fault.ts'

/** Validates the structure of a GeoJSON geometry; the error names the first fault. */
export function readGeometry(value: unknown, path: string): Geometry {
  const type = member(value, 'type')
  if (type !== 'GeometryCollection') return readSimpleGeometry(value, path)
  const geometries = readList(member(value, 'geometries'), below(path, 'geometries'), readSimpleGeometry)
  return { type, geometries }
}

function readSimpleGeometry(value: unknown, path: string): Geometry {
  const type = member(value, 'type')
  const coordinates = member(value, 'coordinates')
  const inside = below(path, 'coordinates')
  switch (type) {
    case 'Point':
      return { type, coordinates: readPosition(coordinates, inside) }
    case 'MultiPoint':
      return { type, coordinates: readList(coordinates, inside, readPosition) }
    case 'LineString':
      return { type, coordinates: readLine(coordinates, inside) }
    case 'MultiLineString':
      return { type, coordinates: readList(coordinates, inside, readLine) }
    case 'Polygon':
      return { type, coordinates: readPolygon(coordinates, inside) }
    case 'MultiPolygon':
      return { type, coordinates: readList(coordinates, inside, readPolygon) }
    default:
      throw fault(
        path,
        'invalid_geometry',
        'must be a GeoJSON geometry such as {"type": "Point", "coordinates": [24.9, 60.2]}',
      )
  }
}

function readPosition(value: unknown, path: string): Position {
  const [x, y] = Array.isArray(value) && value.length >= 2 && value.length <= 4 ? value : []
  if (!Number.isFinite(x) || !Number.isFinite(y)) {
    throw fault(path, 'invalid_geometry', 'must be a position: [longitude, latitude]')
  }
  return [x, y]
}

function readLine(value: unknown, path: string): readonly Position[] {
  const line = readList(value, path, readPosition)
  if (line.length < 2) throw fault(path, 'invalid_geometry', 'must have at least two positions')
  return line
}

const readPolygon = (value: unknown, path: string): readonly (readonly Position[])[] => readList(value, path, readRing)

function readRing(value: unknown, path: string): readonly Position[] {
  const ring = readList(value, path, readPosition)
  const [first, last] = [ring.at(0), ring.at(-1)]
  if (ring.length < 4 || first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) {
    throw fault(path, 'invalid_geometry', 'must be a ring: at least four positions, the last equal to the first')
  }
  return ring
}

function readList<T>(value: unknown, path: string, read: (item: unknown, path: string) => T): readonly T[] {
  if (!Array.isArray(value)) throw fault(path, 'invalid_geometry', 'must be a list')
  return value.map((item, index) => read(item, below(path, index)))
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return Reflect.get(value, name)
}
