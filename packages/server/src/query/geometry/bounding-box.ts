// Bounding boxes in degrees: which meet, and which hold everything within a distance.
import { turnDegrees } from './antimeridian.ts'
import type { Box } from './geojson.ts'

/**
 * Smaller than every radius of curvature of the ellipsoid. Distances on it are therefore never shorter than on this
 * sphere, and what is outside a box made on the sphere is out of reach on the ellipsoid too.
 */
const radiusMetres = 6_330_000

/** How far a great circle leaves the parallel between two points five degrees apart, and some more. */
const bulgeDegrees = 0.05

const degrees = 180 / Math.PI

/** A millimetre: what the arithmetic leaves out. */
const roundingDegrees = 1e-8

/** Boxes that hold everything within the distance of the extent, at most two: it may reach over the antimeridian. */
export const boxesAround = (extent: Box, distanceMetres: number): readonly Box[] =>
  grownBoxes(extent, distanceMetres, { north: bulgeDegrees, east: bulgeDegrees })

/**
 * The same, as narrow as can be, for an index that would read thousands of rows of a town within the five kilometres of the bulge. A
 * great circle leaves the box of its ends to the north and south only, and between points there is none.
 */
export const narrowBoxesAround = (extent: Box, distanceMetres: number, arePoints: boolean): readonly Box[] =>
  grownBoxes(extent, distanceMetres, { north: arePoints ? roundingDegrees : bulgeDegrees, east: roundingDegrees })

type Margin = { readonly north: number; readonly east: number }

function grownBoxes(extent: Box, distanceMetres: number, margin: Margin): readonly Box[] {
  const angle = distanceMetres / radiusMetres
  const south = Math.max(-90, extent.south - angle * degrees - margin.north)
  const north = Math.min(90, extent.north + angle * degrees + margin.north)
  const reach = longitudeReach(extent, angle) + margin.east
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

/** Of longitude, and between the latitudes that are tried. */
const sliceDegrees = 5
const stepDegrees = 0.25

/**
 * Boxes that hold everything within the distance of the extent where that reaches over a pole, and one box would hold all longitudes:
 * slices from pole to pole, each cut to the latitudes within reach. Undefined where it reaches no pole.
 */
export function slicesAround(extent: Box, distanceMetres: number): readonly Box[] | undefined {
  const angle = distanceMetres / radiusMetres
  if (longitudeReach(extent, angle) < 180) return undefined
  const slices: Box[] = []
  for (let west = -180; west < 180; west += sliceDegrees) {
    const { south, north } = latitudesWithin(extent, angle, longitudeBetween(extent, west))
    const last = slices.at(-1)
    if (last && last.south === south && last.north === north)
      slices[slices.length - 1] = { ...last, east: west + sliceDegrees }
    else slices.push(box(west, south, west + sliceDegrees, north))
  }
  return slices
}

/** Between the extent and the slice, by the shorter way round the earth. */
function longitudeBetween({ west, east }: Box, sliceWest: number): number {
  const between = (turns: number) => Math.max(0, sliceWest + turns - east, west - (sliceWest + sliceDegrees + turns))
  return Math.min(between(-360), between(0), between(360))
}

/** Where a meridian so far away is within the angle of the extent. A pole is, so what lies between two steps adjoins one that is. */
function latitudesWithin(extent: Box, angle: number, longitude: number): { south: number; north: number } {
  const [low, high] = [directionOf(extent.south), directionOf(extent.north)]
  const nearestCosine = Math.cos(Math.min(angle, Math.PI))
  const across = Math.cos(longitude / degrees)
  let [south, north] = [90, -90]
  for (const { latitude, sine, cosine } of latitudes) {
    if (largestCosine(sine, cosine * across, low, high) < nearestCosine) continue
    south = Math.min(south, latitude)
    north = latitude
  }
  const margin = stepDegrees + bulgeDegrees
  return { south: Math.max(-90, south - margin), north: Math.min(90, north + margin) }
}

type Direction = { readonly latitude: number; readonly sine: number; readonly cosine: number }

const directionOf = (latitude: number): Direction => ({
  latitude,
  sine: Math.sin(latitude / degrees),
  cosine: Math.cos(latitude / degrees),
})

const latitudes = Array.from({ length: 180 / stepDegrees + 1 }, (_, n) => directionOf(n * stepDegrees - 90))

/** Of the angles to the latitudes from `low` to `high`: between them, where the cosine first grows and then falls. */
function largestCosine(up: number, along: number, low: Direction, high: Direction): number {
  const growsAtLow = up * low.cosine > along * low.sine
  const fallsAtHigh = up * high.cosine < along * high.sine
  if (growsAtLow && fallsAtHigh) return Math.hypot(up, along)
  return Math.max(up * low.sine + along * low.cosine, up * high.sine + along * high.cosine)
}

const box = (west: number, south: number, east: number, north: number): Box => ({ west, south, east, north })

/** Also a turn of the earth further. */
export function boxesMeet(a: Box, b: Box): boolean {
  const isAcross = (by: number): boolean => a.west + by <= b.east && b.west <= a.east + by
  return a.south <= b.north && b.south <= a.north && (isAcross(0) || isAcross(turnDegrees) || isAcross(-turnDegrees))
}
