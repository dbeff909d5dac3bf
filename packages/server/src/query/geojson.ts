import { below, fault } from './fault.ts'

/** Longitude and latitude; a height is dropped when it is read. */
export type Position = readonly [number, number]

/** A GeoJSON geometry without foreign members. */
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly Position[])[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }

export type Extent = {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** The geometry that `value` is, or a fault that names the first thing wrong with its structure. */
export function readGeometry(value: unknown, path: string): Geometry {
  const type = member(value, 'type')
  if (type !== 'GeometryCollection') return readSimpleGeometry(value, path)
  const geometries = readList(member(value, 'geometries'), below(path, 'geometries'), readSimpleGeometry)
  return { type, geometries }
}

/** Every position, in order, those that close a ring included. */
export function positionsOf(geometry: Geometry): readonly Position[] {
  switch (geometry.type) {
    case 'Point':
      return [geometry.coordinates]
    case 'MultiPoint':
    case 'LineString':
      return geometry.coordinates
    case 'MultiLineString':
    case 'Polygon':
      return geometry.coordinates.flat()
    case 'MultiPolygon':
      return geometry.coordinates.flat(2)
    case 'GeometryCollection':
      return geometry.geometries.flatMap(positionsOf)
  }
}

/** Of no positions it is an extent that nothing overlaps. */
export function extentOf(positions: readonly Position[]): Extent {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of positions) {
    west = Math.min(west, x)
    south = Math.min(south, y)
    east = Math.max(east, x)
    north = Math.max(north, y)
  }
  return { west, south, east, north }
}

/** Whether it is the four corners of its extent, one after the other, and nothing else. */
export function isBox(geometry: Geometry): boolean {
  const [ring, hole] = geometry.type === 'Polygon' ? geometry.coordinates : []
  if (!ring || hole || ring.length !== 5) return false
  const { west, south, east, north } = extentOf(ring)
  const atCorners = ring.every(([x, y]) => (x === west || x === east) && (y === south || y === north))
  return (
    atCorners &&
    new Set(ring.map(String)).size === 4 &&
    !ring.slice(1).some((corner, index) => isDiagonal(corner, ring[index]))
  )
}

const isDiagonal = (a: Position, b: Position | undefined): boolean => a[0] !== b?.[0] && a[1] !== b?.[1]

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
