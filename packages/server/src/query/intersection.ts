import { type Extent, extentOf, type Geometry, type Position } from './geojson.ts'

export type Edge = readonly [Position, Position]

/** A line, a ring or a single position, which is an edge of no length. */
export type Chain = { readonly start: Position; readonly edges: readonly Edge[]; readonly extent: Extent }

/** A geometry in the parts that meet others. The rings of the areas are among the chains too. */
export type Shape = {
  readonly chains: readonly Chain[]
  readonly areas: readonly (readonly Chain[])[]
}

/**
 * Whether a geometry shares a point with `geometry` on the plane of degrees, as ST_Intersects says: exactly where the
 * arithmetic of doubles is exact, and elsewhere to their last digit.
 */
export function intersectionTest(geometry: Geometry): (other: Geometry) => boolean {
  const shape = shapeOf(geometry)
  return (other) => shapesMeet(shape, shapeOf(other))
}

function shapesMeet(a: Shape, b: Shape): boolean {
  if (a.chains.some((chain) => b.chains.some((other) => chainsMeet(chain, other)))) return true
  // No edge meets another: a chain is inside the other's area as a whole, or not at all.
  return a.chains.some((chain) => isInside(chain, b)) || b.chains.some((chain) => isInside(chain, a))
}

function chainsMeet(a: Chain, b: Chain): boolean {
  if (!extentsMeet(a.extent, b.extent)) return false
  return a.edges.some((edge) => {
    if (!extentsMeet(extentOf(edge), b.extent)) return false
    return b.edges.some((other) => edgesMeet(edge, other))
  })
}

export function edgesMeet(edge: Edge, other: Edge): boolean {
  return extentsMeet(extentOf(edge), extentOf(other)) && isCrossed(edge, other) && isCrossed(other, edge)
}

/** Whether the line through the first edge has the ends of the second on different sides, or on it. */
function isCrossed([start, end]: Edge, other: Edge): boolean {
  return orientation(start, end, other[0]) * orientation(start, end, other[1]) <= 0
}

/** Positive when c lies to the left of the way from a to b, negative when to the right, 0 when on the line. */
export function orientation(a: Position, b: Position, c: Position): number {
  return Math.sign(crossProduct(a, b, c))
}

/** Of the ways from a to b and from a to c. */
export function crossProduct(a: Position, b: Position, c: Position): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

const isInside = ({ start }: Chain, { areas }: Shape): boolean => isInAreas(start, areas)

/** Where the rings of an area surround a position twice it lies in a hole. It is on no edge of them. */
export function isInAreas(position: Position, areas: Shape['areas']): boolean {
  return areas.some((rings) => rings.filter((ring) => surrounds(ring, position)).length % 2 === 1)
}

/** Counts the edges that a ray to the east crosses. The position is on none of them. */
function surrounds(ring: Chain, position: Position): boolean {
  const crossed = ring.edges.filter(([start, end]) => {
    const goesUp = end[1] > position[1]
    return start[1] > position[1] !== goesUp && orientation(start, end, position) > 0 === goesUp
  })
  return crossed.length % 2 === 1
}

export function extentsMeet(a: Extent, b: Extent): boolean {
  return a.west <= b.east && b.west <= a.east && a.south <= b.north && b.south <= a.north
}

export function shapeOf(geometry: Geometry): Shape {
  switch (geometry.type) {
    case 'Point':
      return { chains: chainsOf([[geometry.coordinates]]), areas: [] }
    case 'MultiPoint':
      return { chains: chainsOf(geometry.coordinates.map((position) => [position])), areas: [] }
    case 'LineString':
      return { chains: chainsOf([geometry.coordinates]), areas: [] }
    case 'MultiLineString':
      return { chains: chainsOf(geometry.coordinates), areas: [] }
    case 'Polygon':
      return shapeOfAreas([geometry.coordinates])
    case 'MultiPolygon':
      return shapeOfAreas(geometry.coordinates)
    case 'GeometryCollection': {
      const shapes = geometry.geometries.map(shapeOf)
      return { chains: shapes.flatMap(({ chains }) => chains), areas: shapes.flatMap(({ areas }) => areas) }
    }
  }
}

function shapeOfAreas(polygons: readonly (readonly (readonly Position[])[])[]): Shape {
  const areas = polygons.map(chainsOf)
  return { chains: areas.flat(), areas }
}

function chainsOf(lines: readonly (readonly Position[])[]): readonly Chain[] {
  return lines.flatMap((line) => {
    const [start, ...others] = line
    if (!start) return []
    const edges = others.map((end, index): Edge => [line[index] ?? start, end])
    return [{ start, edges: edges.length > 0 ? edges : [[start, start]], extent: extentOf(line) }]
  })
}
