import type { MultiPolygon, Polygon, Position } from 'geojson'

type Rings = Position[][]

const x = (position: Position): number => position[0] ?? 0
const y = (position: Position): number => position[1] ?? 0

function ringArea(ring: readonly Position[]): number {
  let sum = 0
  for (const [index, a] of ring.entries()) {
    const b = ring[(index + 1) % ring.length] ?? a
    sum += x(a) * y(b) - x(b) * y(a)
  }
  return Math.abs(sum / 2)
}

/** The size of a polygon as it looks at its latitude, so that Greenland does not weigh as much as Africa. */
export function squareDegrees(rings: Rings): number {
  const outer = rings[0] ?? []
  const middle = outer.reduce((sum, position) => sum + y(position), 0) / (outer.length || 1)
  return ringArea(outer) * Math.cos((middle * Math.PI) / 180)
}

/** The polygon itself, or its largest part. */
export function largestPart(geometry: Polygon | MultiPolygon): Rings {
  if (geometry.type === 'Polygon') return geometry.coordinates
  return geometry.coordinates.reduce((a, b) => (squareDegrees(b) > squareDegrees(a) ? b : a))
}

/** A point far from every edge: the best of a grid, then of a finer grid around it. */
export function labelPoint(detailed: Rings): Position {
  const rings = detailed.slice(0, 1).map(thinned)
  const outer = rings[0] ?? []
  const xs = outer.map(x)
  const ys = outer.map(y)
  let [west, east] = [Math.min(...xs), Math.max(...xs)]
  let [south, north] = [Math.min(...ys), Math.max(...ys)]
  let best = { at: [(west + east) / 2, (south + north) / 2], score: -Infinity }
  for (let round = 0; round < 3; round++) {
    best = { ...best, score: -Infinity }
    for (let i = 0; i <= 24; i++) {
      for (let j = 0; j <= 24; j++) {
        const at = [west + ((east - west) * i) / 24, south + ((north - south) * j) / 24]
        const score = depth(at, rings)
        if (score > best.score) best = { at, score }
      }
    }
    const [dx, dy] = [(east - west) / 12, (north - south) / 12]
    ;[west, east] = [x(best.at) - dx, x(best.at) + dx]
    ;[south, north] = [y(best.at) - dy, y(best.at) + dy]
  }
  return best.at.map((degrees) => Math.round(degrees * 1e4) / 1e4)
}

/** At most 150 corners: enough to find the middle. */
function thinned(ring: readonly Position[]): Position[] {
  const step = Math.ceil(ring.length / 150)
  return [...ring.filter((_, index) => index % step === 0), ring[0] ?? [0, 0]]
}

/** The distance to the nearest edge; negative outside. Labels are wide, so room to the sides counts less. */
function depth(at: Position, rings: Rings): number {
  const squeeze = Math.cos((y(at) * Math.PI) / 180) * 0.7
  let isInside = false
  let nearest = Infinity
  for (const ring of rings) {
    for (let index = 0; index + 1 < ring.length; index++) {
      const a = ring[index] as Position
      const b = ring[index + 1] as Position
      if (y(a) > y(at) !== y(b) > y(at) && x(at) < ((x(b) - x(a)) * (y(at) - y(a))) / (y(b) - y(a)) + x(a))
        isInside = !isInside
      nearest = Math.min(nearest, toSegment(at, a, b, squeeze))
    }
  }
  return isInside ? nearest : -nearest
}

function toSegment(at: Position, a: Position, b: Position, squeeze: number): number {
  const [px, py] = [(x(at) - x(a)) * squeeze, y(at) - y(a)]
  const [dx, dy] = [(x(b) - x(a)) * squeeze, y(b) - y(a)]
  const share = Math.max(0, Math.min(1, (px * dx + py * dy) / (dx * dx + dy * dy || 1)))
  return Math.hypot(px - share * dx, py - share * dy)
}
