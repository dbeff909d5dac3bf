// The web mercator world as a square of 1, and the squares that grids and clusters divide it into.
import type { CellScheme } from '../../../query/plan/cell-aggregate.ts'

/** The width of clusters in tiles: 40 of 512 pixels, as those of tile sources have by default. */
const clusterWidth = 10 / 128

const maxLatitude = 85.0511287798066

/** A place as fractions of the web mercator world, from its north-west corner. Beyond the map's edge is on it. */
export const fractionX = (longitude: number): number => {
  const x = (longitude + 180) / 360
  return x - Math.floor(x)
}
export function fractionY(latitude: number): number {
  const sine = Math.sin((Math.max(-maxLatitude, Math.min(maxLatitude, latitude)) * Math.PI) / 180)
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
}

export const longitudeAt = (x: number): number => x * 360 - 180
export const latitudeAt = (y: number): number => (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI

/** The columns and rows of squares. Those of clusters are no parts of a tile, and their rows begin in the south, as in cluster-sql.ts. */
export function squaresOf(scheme: Exclude<CellScheme, { kind: 'h3' }>): number {
  return scheme.kind === 'grid' ? 2 ** scheme.zoom : 2 ** scheme.zoom / clusterWidth
}
