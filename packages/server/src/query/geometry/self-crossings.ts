/**
 * Counts where edges of areas cross each other. To repair such areas takes PostGIS time that grows with the square of the crossings: 300
 * (a ring of 50 random corners) take 0.6 s, 1 100 take 6 s, and nobody draws so many.
 */
import type { Geometry, Position } from './geojson.ts'

/** Pairs of edges that are compared at most, in some milliseconds. Areas that have more, and few crossings among them, are let pass. */
const maxPairs = 2_000_000

/** Whether edges of its areas cross each other in more places than this, as far as is seen at little cost. */
export function crossesMoreThan(geometry: Geometry, most: number): boolean {
  const edges = ringsOf(geometry).flatMap(edgesOf)
  if (edges.length * (edges.length - 1) <= 2 * most) return false
  edges.sort((a, b) => a.west - b.west)
  let [crossings, pairs] = [0, 0]
  for (let n = 0; n < edges.length; n++) {
    const edge = edges[n] as Edge
    for (let m = n + 1; m < edges.length; m++) {
      const other = edges[m] as Edge
      if (other.west > edge.east) break
      if (++pairs > maxPairs) return false
      if (areCrossing(edge, other) && ++crossings > most) return true
    }
  }
  return false
}

type Edge = {
  readonly west: number
  readonly east: number
  readonly south: number
  readonly north: number
  readonly from: Position
  readonly to: Position
}

type Ring = readonly Position[]

function ringsOf(geometry: Geometry): readonly Ring[] {
  if (geometry.type === 'Polygon') return geometry.coordinates
  if (geometry.type === 'MultiPolygon') return geometry.coordinates.flat()
  return geometry.type === 'GeometryCollection' ? geometry.geometries.flatMap(ringsOf) : []
}

const edgesOf = (ring: Ring): Edge[] => ring.slice(1).map((to, index) => edgeOf(ring[index] as Position, to))

const edgeOf = (from: Position, to: Position): Edge => ({
  west: Math.min(from[0], to[0]),
  east: Math.max(from[0], to[0]),
  south: Math.min(from[1], to[1]),
  north: Math.max(from[1], to[1]),
  from,
  to,
})

/** Not where they only touch. */
function areCrossing(a: Edge, b: Edge): boolean {
  if (a.south > b.north || b.south > a.north) return false
  return side(a, b.from) * side(a, b.to) < 0 && side(b, a.from) * side(b, a.to) < 0
}

/** Positive to the left of the edge, negative to its right. */
const side = ({ from, to }: Edge, [x, y]: Position): number =>
  Math.sign((to[0] - from[0]) * (y - from[1]) - (to[1] - from[1]) * (x - from[0]))
