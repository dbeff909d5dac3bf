import type { FlatGeometry } from '../../../../query/geometry/flat/flat-geometry.ts'
import { geometryCode } from '../../../../query/geometry/geometry-type.ts'

type Ring = { start: number; end: number; area: number; box: [number, number, number, number] }

type Budget = { vertices: number }

/** More work than this on one feature is not done, so that no file can hang the reader: then the order decides. */
const maxComparisons = 2_000_000
const maxVisitedVertices = 20_000_000

/**
 * A shapefile lists rings: clockwise ones are outer, the others are holes of the outer ring around them. Puts every
 * hole behind its outer ring, and makes the geometry a polygon or a multi-polygon.
 */
export function groupRings(geometry: FlatGeometry): void {
  if (geometry.lineEnds.length === 1) geometry.partEnds.push(1)
  else arrange(geometry, polygonsOf(geometry, ringsOf(geometry)))
}

function polygonsOf(geometry: FlatGeometry, rings: readonly Ring[]): Ring[][] {
  const outers = rings.filter(({ area }) => area < 0)
  const [only, another] = outers
  // Files with all rings turned the wrong way exist: then each is a polygon.
  if (!only) return rings.map((ring) => [ring])
  // Whatever lies in the only polygon there is, or sticks out of it, was meant as its hole.
  if (!another) return [[only, ...rings.filter((ring) => ring !== only)]]
  const polygons = new Map(outers.map((ring) => [ring, [ring]]))
  const strays: Ring[][] = []
  const isTooMany = (rings.length - outers.length) * outers.length > maxComparisons
  const budget = { vertices: maxVisitedVertices }
  let latest = only
  for (const ring of rings) {
    if (ring.area < 0) {
      latest = ring
      continue
    }
    const owner = isTooMany ? latest : ownerOf(geometry, ring, outers, budget)
    if (owner) polygons.get(owner)?.push(ring)
    else strays.push([ring])
  }
  return [...polygons.values(), ...strays]
}

function ringsOf({ xy, lineEnds }: FlatGeometry): Ring[] {
  let start = 0
  return lineEnds.map((end) => {
    const ring: Ring = { start, end, area: 0, box: [Infinity, Infinity, -Infinity, -Infinity] }
    // Relative to the first vertex, or projected coordinates lose the area's sign.
    const [originX, originY] = [xy[start * 2] as number, xy[start * 2 + 1] as number]
    for (let at = start; at < end; at++) {
      const next = at + 1 === end ? start : at + 1
      const [x, y] = [xy[at * 2] as number, xy[at * 2 + 1] as number]
      ring.area += (x - originX) * ((xy[next * 2 + 1] as number) - originY)
      ring.area -= ((xy[next * 2] as number) - originX) * (y - originY)
      widen(ring.box, x, y)
    }
    start = end
    return ring
  })
}

function widen(box: Ring['box'], x: number, y: number): void {
  if (x < box[0]) box[0] = x
  if (y < box[1]) box[1] = y
  if (x > box[2]) box[2] = x
  if (y > box[3]) box[3] = y
}

/** The smallest outer ring around the hole. Where only one can be, the vertices need not be looked at. */
function ownerOf(geometry: FlatGeometry, hole: Ring, outers: readonly Ring[], budget: Budget): Ring | undefined {
  const around = outers.filter(({ box }) => isBoxAround(box, hole.box)).sort((a, b) => b.area - a.area)
  if (around.length < 2) return around[0]
  for (const outer of around) {
    if (budget.vertices < 0) return outer
    budget.vertices -= outer.end - outer.start
    if (isRingAround(geometry, outer, hole)) return outer
  }
  return undefined
}

function isBoxAround(outer: Ring['box'], inner: Ring['box']): boolean {
  return outer[0] <= inner[0] && outer[1] <= inner[1] && outer[2] >= inner[2] && outer[3] >= inner[3]
}

/** Vertices may lie on the outer ring; the first that does not decides. */
function isRingAround(geometry: FlatGeometry, outer: Ring, hole: Ring): boolean {
  const { xy } = geometry
  const last = Math.min(hole.end, hole.start + 16)
  for (let at = hole.start; at < last; at++) {
    const side = sideOf(geometry, outer, xy[at * 2] as number, xy[at * 2 + 1] as number)
    if (side !== 0) return side > 0
  }
  return true
}

/** 1 inside, -1 outside, 0 on the ring. */
function sideOf({ xy }: FlatGeometry, { start, end }: Ring, x: number, y: number): number {
  let isInside = false
  for (let at = start, before = end - 1; at < end; before = at++) {
    const [ax, ay] = [xy[at * 2] as number, xy[at * 2 + 1] as number]
    const [bx, by] = [xy[before * 2] as number, xy[before * 2 + 1] as number]
    if (isOnSegment(ax, ay, bx, by, x, y)) return 0
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isInside = !isInside
  }
  return isInside ? 1 : -1
}

function isOnSegment(ax: number, ay: number, bx: number, by: number, x: number, y: number): boolean {
  if ((bx - ax) * (y - ay) !== (by - ay) * (x - ax)) return false
  return x >= Math.min(ax, bx) && x <= Math.max(ax, bx) && y >= Math.min(ay, by) && y <= Math.max(ay, by)
}

/** Rewrites the vertices in the order of the polygons. */
function arrange(geometry: FlatGeometry, polygons: readonly (readonly Ring[])[]): void {
  const [xy, z] = [geometry.xy.slice(), geometry.z.slice()]
  geometry.lineEnds.length = 0
  let at = 0
  for (const rings of polygons) {
    for (const { start, end } of rings) {
      geometry.xy.set(xy.subarray(start * 2, end * 2), at * 2)
      geometry.z.set(z.subarray(start, end), at)
      at += end - start
      geometry.lineEnds.push(at)
    }
    geometry.partEnds.push(geometry.lineEnds.length)
  }
  geometry.type = polygons.length > 1 ? geometryCode.MultiPolygon : geometryCode.Polygon
}
