// GeoJSON geometries as normalized GeoJSON or WKT text.
import { ApiError } from '../../kernel/errors.ts'
import { createGeometryWriter } from '../geometry/encoding/ewkb-writer.ts'
import { type LooseGeometry, writeGeometry } from '../geometry/encoding/geojson-ewkb.ts'
import type { Geometry } from '../geometry/geojson.ts'
import type { PositionProjection } from './projection.ts'
import { readGeometry } from './read-geometry.ts'

/** `wkb` is hexadecimal. */
export type GeometryNotation = 'geojson' | 'wkt' | 'wkb'

/** The row's value as a geometry, or null if it is missing or malformed. */
export function geometryOf(value: unknown): Geometry | null {
  try {
    return value === null ? null : readGeometry(value, '')
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/**
 * Writes a GeoJSON geometry as text. Heights are kept, foreign members dropped. GeoJSON and WKB follow RFC 7946 (outer
 * rings anticlockwise), WKT is spelt like PostGIS. Null if `value` is no geometry.
 */
export function geometryText(
  value: unknown,
  notation: GeometryNotation,
  projection?: PositionProjection,
): string | null {
  // The check ignores heights; the text keeps them.
  if (!geometryOf(value)) return null
  const raw = projection ? projected(value as RawGeometry, projection) : (value as RawGeometry)
  if (notation === 'wkt') return wktText(raw)
  return notation === 'wkb' ? wkbText(raw) : JSON.stringify(oriented(raw))
}

const writer = createGeometryWriter()

function wkbText(geometry: RawGeometry): string | null {
  writer.hasZ = hasHeights(geometry)
  const isWritten = writeGeometry(writer, oriented(geometry) as LooseGeometry)
  return isWritten ? writer.bytes.toString('hex', 0, writer.length) : null
}

const hasHeights = (geometry: RawGeometry): boolean =>
  geometry.type === 'GeometryCollection' ? geometry.geometries.some(hasHeights) : depthOf(geometry.coordinates) > 2

/** Reprojects a GeoJSON geometry and keeps its heights. Null if `value` is no geometry. */
export function projectedGeometry(value: unknown, projection: PositionProjection): object | null {
  return geometryOf(value ?? null) && projected(value as RawGeometry, projection)
}

type Nested = readonly (number | Nested)[]
type Ring = readonly (readonly number[])[]
/** A GeoJSON geometry with a checked structure. Positions keep as many numbers as the source sent. */
type RawGeometry =
  | { type: 'GeometryCollection'; geometries: readonly RawGeometry[] }
  | { type: Exclude<Geometry['type'], 'GeometryCollection'>; coordinates: Nested }

function projected(geometry: RawGeometry, projection: PositionProjection): RawGeometry {
  if (geometry.type === 'GeometryCollection') {
    return { type: geometry.type, geometries: geometry.geometries.map((part) => projected(part, projection)) }
  }
  return { type: geometry.type, coordinates: projectedAll(geometry.coordinates, projection) }
}

function projectedAll(value: Nested, projection: PositionProjection): Nested {
  if (typeof value[0] === 'number') return projection(value as readonly number[])
  return (value as readonly Nested[]).map((item) => projectedAll(item, projection))
}

function oriented(geometry: RawGeometry): object {
  if (geometry.type === 'GeometryCollection') {
    return { type: geometry.type, geometries: geometry.geometries.map(oriented) }
  }
  const { type, coordinates } = geometry
  switch (type) {
    case 'Polygon':
      return { type, coordinates: orientedPolygon(coordinates as readonly Ring[]) }
    case 'MultiPolygon':
      return { type, coordinates: (coordinates as readonly (readonly Ring[])[]).map(orientedPolygon) }
    default:
      return { type, coordinates }
  }
}

function orientedPolygon(rings: readonly Ring[]): readonly Ring[] {
  return rings.map((ring, index) => (isAnticlockwise(ring) === (index === 0) ? ring : ring.toReversed()))
}

function isAnticlockwise(ring: Ring): boolean {
  const [originX = 0, originY = 0] = ring[0] ?? []
  let area = 0
  for (let index = 1; index < ring.length; index++) {
    const [x1 = 0, y1 = 0] = ring[index - 1] ?? []
    const [x2 = 0, y2 = 0] = ring[index] ?? []
    area += (x1 - originX) * (y2 - originY) - (x2 - originX) * (y1 - originY)
  }
  return area > 0
}

function wktText(geometry: RawGeometry): string {
  const { type } = geometry
  const dimension = type === 'GeometryCollection' ? '' : ['', '', '', ' Z ', ' ZM '][depthOf(geometry.coordinates)]
  return `${type.toUpperCase()}${dimension}${wktBody(geometry)}`
}

function wktBody(geometry: RawGeometry): string {
  const isCollection = geometry.type === 'GeometryCollection'
  const items = isCollection ? geometry.geometries : geometry.coordinates
  if (items.length === 0) return ' EMPTY'
  if (isCollection) return `(${geometry.geometries.map(wktText).join(',')})`
  const { type, coordinates } = geometry
  // PostGIS puts the points of a MULTIPOINT in parentheses, but not those of a line.
  if (type === 'MultiPoint') return `(${(coordinates as readonly Nested[]).map((point) => nested(point)).join(',')})`
  return nested(coordinates)
}

/** `[1, 2]` → `(1 2)`, `[[1, 2], [3, 4]]` → `(1 2,3 4)`. */
function nested(value: Nested): string {
  if (typeof value[0] === 'number') return `(${value.join(' ')})`
  const items = value as readonly Nested[]
  const isLine = typeof items[0]?.[0] === 'number'
  return `(${items.map((item) => (isLine ? item.join(' ') : nested(item))).join(',')})`
}

/** The number of coordinates of a position. */
function depthOf(value: Nested): number {
  let inner: Nested = value
  while (Array.isArray(inner[0])) inner = inner[0]
  return inner.length
}
