import type { PointConversion } from './convert.ts'

/** A tile of the web mercator grid, with y counted from the north. */
export type Tile = { readonly z: number; readonly x: number; readonly y: number }

/** EPSG:4326 in degrees, or EPSG:3857 in metres. */
export type Coordinates = 'lonlat' | 'mercator'

/** From incoming coordinates to units of a tile, whose north-west corner is 0, 0. */
export type TileProjection = {
  readonly isLonLat: boolean
  readonly xScale: number
  readonly xOffset: number
  readonly yScale: number
  readonly yOffset: number
  /** Between these latitudes the polynomial stands for the exact formula. */
  readonly south: number
  readonly north: number
  readonly nodes: Float64Array
  readonly coefficients: Float64Array
  /** The width of the world. */
  readonly world: number
  /** What brings coordinates of each SRID into web mercator, where they are in none of the two. */
  readonly converts?: ReadonlyMap<number, PointConversion>
}

const earthHalf = 20037508.342789244
const maxLatitude = 85.0511287798066
const toRadians = Math.PI / 180
const degree = 7
const acceptedError = 1e-5

export function tileProjection(tile: Tile, coordinates: Coordinates, extent: number, buffer: number): TileProjection {
  const world = extent * 2 ** tile.z
  const isLonLat = coordinates === 'lonlat'
  const scales = {
    isLonLat,
    world,
    xScale: world / (isLonLat ? 360 : 2 * earthHalf),
    xOffset: world / 2 - tile.x * extent,
    yScale: -world / (isLonLat ? 4 * Math.PI : 2 * earthHalf),
    yOffset: world / 2 - tile.y * extent,
  }
  const unused = { ...scales, south: 1, north: 0, nodes: new Float64Array(8), coefficients: new Float64Array(8) }
  if (!isLonLat) return unused
  for (const margin of [8 * extent, 2 * extent, buffer]) {
    const south = latitudeOf(unused, extent + margin)
    const north = latitudeOf(unused, -margin)
    const fitted = { ...scales, south, north, ...fit(unused, south, north) }
    if (isAccurate(fitted)) return fitted
  }
  return unused
}

/** Latitude → y: by the polynomial in the tile, by the formula elsewhere. */
export function latitudeY(projection: TileProjection, latitude: number): number {
  return latitude >= projection.south && latitude <= projection.north
    ? fittedY(projection, latitude)
    : exactY(projection, latitude)
}

/** The formula of web mercator; NaN also for a latitude that is infinite. */
function exactY({ yScale, yOffset }: TileProjection, latitude: number): number {
  const clamped = Math.max(-maxLatitude, Math.min(maxLatitude, latitude))
  const sine = Math.sin(clamped * toRadians) + 0 * latitude
  return yScale * Math.log((1 + sine) / (1 - sine)) + yOffset
}

/** Newton's form, unrolled: this is the innermost thing there is. */
function fittedY({ nodes: n, coefficients: c }: TileProjection, v: number): number {
  let y = c[7] * (v - n[6]) + c[6]
  y = y * (v - n[5]) + c[5]
  y = y * (v - n[4]) + c[4]
  y = y * (v - n[3]) + c[3]
  y = y * (v - n[2]) + c[2]
  y = y * (v - n[1]) + c[1]
  return y * (v - n[0]) + c[0]
}

function latitudeOf({ yScale, yOffset }: TileProjection, y: number): number {
  const latitude = Math.asin(Math.tanh((y - yOffset) / yScale / 2)) / toRadians
  return Math.max(-maxLatitude, Math.min(maxLatitude, latitude))
}

/** The polynomial through the exact values at Chebyshev's places, as Newton writes it. */
function fit(projection: TileProjection, south: number, north: number): Pick<TileProjection, 'nodes' | 'coefficients'> {
  const nodes = new Float64Array(degree + 1)
  const coefficients = new Float64Array(degree + 1)
  for (let index = 0; index <= degree; index++) {
    const place = Math.cos(((2 * index + 1) / (2 * degree + 2)) * Math.PI)
    nodes[index] = (south + north) / 2 + (place * (north - south)) / 2
    coefficients[index] = exactY(projection, nodes[index])
  }
  for (let order = 1; order <= degree; order++) {
    for (let index = degree; index >= order; index--) {
      const rise = coefficients[index] - coefficients[index - 1]
      coefficients[index] = rise / (nodes[index] - nodes[index - order])
    }
  }
  return { nodes, coefficients }
}

function isAccurate(projection: TileProjection): boolean {
  const samples = 64
  for (let index = 0; index <= samples; index++) {
    const latitude = projection.south + ((projection.north - projection.south) * index) / samples
    if (!(Math.abs(fittedY(projection, latitude) - exactY(projection, latitude)) < acceptedError)) return false
  }
  return true
}
