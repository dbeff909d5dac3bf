/** Longitude and latitude; a height is dropped when it is read. */
export type Position = readonly [number, number]

/** A GeoJSON geometry without foreign members. */
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly Position[])[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }

export type Box = {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
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
export function extentOf(positions: readonly Position[]): Box {
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
