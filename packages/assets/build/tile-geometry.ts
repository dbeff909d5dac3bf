/**
 * Brings what geojson-vt cuts into the form that MVT 2.1 asks for. Simplifying and rounding leave lines without
 * length, rings of two points and rings without area; decoders count these as errors, and renderers take the ring after
 * such a one for a hole of the wrong polygon.
 */
export type TileFeature = { type: 1 | 2 | 3; geometry: TilePoint[] | TilePoint[][]; tags: Record<string, unknown> }

export type TilePoint = [x: number, y: number]

type Ring = TilePoint[]

const lineType = 2
const polygonType = 3
const leastLine = 2
const leastRing = 3

/** The feature with what the format allows of its geometry, or nothing when none of it is left. */
export function cleanFeature(feature: TileFeature): TileFeature | undefined {
  if (feature.type === lineType) return withParts(feature, (feature.geometry as Ring[]).flatMap(cleanLine))
  if (feature.type === polygonType) return withParts(feature, cleanPolygons(feature.geometry as Ring[]))
  return feature
}

const withParts = (feature: TileFeature, geometry: Ring[]): TileFeature | undefined =>
  geometry.length > 0 ? { ...feature, geometry } : undefined

const isSame = (a: TilePoint | undefined, b: TilePoint | undefined): boolean => a?.[0] === b?.[0] && a?.[1] === b?.[1]

function cleanLine(line: Ring): Ring[] {
  const points = line.filter((point, index) => index === 0 || !isSame(point, line[index - 1]))
  return points.length < leastLine ? [] : [points]
}

/**
 * Rings with an area, each exterior ring followed by its holes. geojson-vt winds exterior rings to a positive area and
 * holes to a negative one before it rounds. Rounding may turn a sliver over, so holes are given to the exterior ring
 * around them, not to the one before them.
 */
function cleanPolygons(rings: readonly Ring[]): Ring[] {
  const polygons: Ring[][] = []
  for (const ring of rings.map(cleanRing)) {
    const area = signedArea(ring)
    if (area > 0) polygons.push([ring])
    else if (area < 0) polygons.findLast(([exterior]) => isWithin(ring, exterior as Ring))?.push(ring)
  }
  return polygons.flat().map(closed)
}

const closed = (ring: Ring): Ring => [...ring, ring[0] as TilePoint]

/** The ring, open, without repeated points and without spikes (a path that returns to the point before). */
function cleanRing(ring: Ring): Ring {
  const points: Ring = []
  for (const point of ring) {
    while (points.length > 1 && isSpike(points.at(-2), points.at(-1), point)) points.pop()
    if (!isSame(point, points.at(-1))) points.push(point)
  }
  for (let isDone = false; !isDone && points.length >= leastRing; ) {
    if (isSame(points[0], points.at(-1)) || isSpike(points.at(-2), points.at(-1), points[0])) points.pop()
    else if (isSpike(points.at(-1), points[0], points[1])) points.shift()
    else isDone = true
  }
  return points.length < leastRing ? [] : points
}

/** Whether the way to b and on to c turns back upon itself. */
function isSpike(a: TilePoint | undefined, b: TilePoint | undefined, c: TilePoint | undefined): boolean {
  if (!(a && b && c)) return false
  const [ux, uy, vx, vy] = [b[0] - a[0], b[1] - a[1], c[0] - b[0], c[1] - b[1]]
  return ux * vy === uy * vx && ux * vx + uy * vy < 0
}

/** Twice the area by the surveyor's formula; positive for an exterior ring (y grows downwards). */
function signedArea(ring: readonly TilePoint[]): number {
  let sum = 0
  for (const [index, [x, y]] of ring.entries()) {
    const [nextX, nextY] = ring[(index + 1) % ring.length] as TilePoint
    sum += x * nextY - nextX * y
  }
  return sum
}

/** Whether most of the ring's points lie in the other one: simplified rings may cross by a little. */
const isWithin = (ring: Ring, outer: Ring): boolean =>
  ring.filter((point) => isOutside(point, outer)).length * 2 < ring.length

function isOutside([x, y]: TilePoint, ring: Ring): boolean {
  let isInside = false
  for (const [index, [bx, by]] of ring.entries()) {
    const [ax, ay] = ring.at(index - 1) as TilePoint
    const cross = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    const isInBox = Math.min(ax, bx) <= x && x <= Math.max(ax, bx) && Math.min(ay, by) <= y && y <= Math.max(ay, by)
    if (cross === 0 && isInBox) return false
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isInside = !isInside
  }
  return !isInside
}
