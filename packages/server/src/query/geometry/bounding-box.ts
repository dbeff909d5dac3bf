// Bounding boxes in degrees: which meet, and which hold everything within a distance.
import type { Box } from './geojson.ts'

/**
 * Smaller than every radius of curvature of the ellipsoid. Distances on it are therefore never shorter than on this
 * sphere, and what is outside a box made on the sphere is out of reach on the ellipsoid too.
 */
const radiusMetres = 6_330_000

/** How far a great circle leaves the parallel between two points five degrees apart, and some more. */
const bulgeDegrees = 0.05

const degrees = 180 / Math.PI

/** Boxes that hold everything within the distance of the extent, at most two: it may reach over the antimeridian. */
export function boxesAround(extent: Box, distanceMetres: number): readonly Box[] {
  const angle = distanceMetres / radiusMetres
  const south = Math.max(-90, extent.south - angle * degrees - bulgeDegrees)
  const north = Math.min(90, extent.north + angle * degrees + bulgeDegrees)
  const reach = longitudeReach(extent, angle) + bulgeDegrees
  const [west, east] = [extent.west - reach, extent.east + reach]
  if (east - west >= 360) return [{ west: -180, south, east: 180, north }]
  if (west < -180) return [box(west + 360, south, 180, north), box(-180, south, east, north)]
  if (east > 180) return [box(west, south, 180, north), box(-180, south, east - 360, north)]
  return [box(west, south, east, north)]
}

/** The widest a cap gets whose centre lies in the extent. Towards the poles meridians narrow; round a pole it has all. */
function longitudeReach({ south, north }: Box, angle: number): number {
  const latitude = Math.max(Math.abs(south), Math.abs(north)) / degrees
  const sine = Math.sin(Math.min(angle, Math.PI / 2)) / Math.cos(latitude)
  return sine >= 1 ? 180 : Math.asin(sine) * degrees
}

const box = (west: number, south: number, east: number, north: number): Box => ({ west, south, east, north })

export function boxesMeet(a: Box, b: Box): boolean {
  return a.west <= b.east && b.west <= a.east && a.south <= b.north && b.south <= a.north
}
