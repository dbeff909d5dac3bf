import { ApiError } from '../errors.ts'
import { type Geometry, readGeometry } from './geojson.ts'
import type { Projection } from './projection.ts'

export type GeometryNotation = 'geojson' | 'wkt'

/** The geometry that a row holds; null where it holds none or something that is none. */
export function geometryOf(value: unknown): Geometry | null {
  try {
    return value === null ? null : readGeometry(value, '')
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}

/**
 * A GeoJSON geometry as text, heights included, foreign members not: as RFC 7946 wants it, with outer rings
 * anticlockwise, or as WKT in the spelling of PostGIS. Null where `value` is no geometry.
 */
export function geometryText(value: unknown, notation: GeometryNotation, projection?: Projection): string | null {
  // Checked without its heights, which the text keeps.
  if (!geometryOf(value)) return null
  const raw = projection ? projected(value as RawGeometry, projection) : (value as RawGeometry)
  return notation === 'wkt' ? wktText(raw) : JSON.stringify(oriented(raw))
}

type Nested = readonly (number | Nested)[]
type Ring = readonly (readonly number[])[]
type RawGeometry = { type: Geometry['type']; coordinates: Nested; geometries: readonly RawGeometry[] }

function projected({ type, coordinates, geometries }: RawGeometry, projection: Projection): RawGeometry {
  if (type === 'GeometryCollection') {
    return { type, coordinates, geometries: geometries.map((part) => projected(part, projection)) }
  }
  return { type, geometries, coordinates: projectedAll(coordinates, projection) }
}

function projectedAll(value: Nested, projection: Projection): Nested {
  if (typeof value[0] === 'number') return projection(value as readonly number[])
  return (value as readonly Nested[]).map((item) => projectedAll(item, projection))
}

function oriented({ type, coordinates, geometries }: RawGeometry): object {
  switch (type) {
    case 'GeometryCollection':
      return { type, geometries: geometries.map(oriented) }
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

function wktBody({ type, coordinates, geometries }: RawGeometry): string {
  const isCollection = type === 'GeometryCollection'
  const items = isCollection ? geometries : coordinates
  if (items.length === 0) return ' EMPTY'
  if (isCollection) return `(${geometries.map(wktText).join(',')})`
  // PostGIS puts the points of a MULTIPOINT in parentheses, those of a line not.
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

/** How many numbers a position has. */
function depthOf(value: Nested): number {
  let inner: Nested = value
  while (Array.isArray(inner[0])) inner = inner[0]
  return inner.length
}
