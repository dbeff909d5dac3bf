// The bounds of tiles in degrees and in web mercator.
import type { Tile } from '../mvt/projection.ts'

export type TileExtent = readonly [west: number, south: number, east: number, north: number]

/** Half the width of the web mercator world in metres. */
const half = 20037508.342789244
const maxLatitude = 85.0511287798066

const longitudeAt = (x: number, z: number): number => (x / 2 ** z) * 360 - 180

function latitudeAt(y: number, z: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / 2 ** z))) * 180) / Math.PI
}

/** A latitude as a fraction of the map's height, from the north. */
function heightOf(latitude: number): number {
  const sine = Math.sin((Math.max(-maxLatitude, Math.min(maxLatitude, latitude)) * Math.PI) / 180)
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
}

/** A tile's box in degrees, with a margin in tiles. At the map's edge it extends to the poles. */
export function tileInDegrees({ z, x, y }: Tile, margin: number): TileExtent {
  const north = y - margin <= 0 ? 90 : latitudeAt(y - margin, z)
  const south = y + 1 + margin >= 2 ** z ? -90 : latitudeAt(y + 1 + margin, z)
  return [longitudeAt(x - margin, z), south, longitudeAt(x + 1 + margin, z), north]
}

/**
 * A tile's box in web mercator metres. Tiles at the map's edge are unbounded outwards, because coordinates may lie
 * beyond the map.
 */
export function tileInMetres({ z, x, y }: Tile, margin: number): TileExtent {
  const size = (2 * half) / 2 ** z
  const north = y - margin <= 0 ? 10 * half : half - (y - margin) * size
  const south = y + 1 + margin >= 2 ** z ? -10 * half : half - (y + 1 + margin) * size
  return [(x - margin) * size - half, south, (x + 1 + margin) * size - half, north]
}

/** The edges of a grid of cells, from west to east and from south to north. */
export type Grid = { readonly xs: readonly number[]; readonly ys: readonly number[] }

/** The fractions of a tile at which the cells of a grid with one cell more on each side begin and end. */
const fractions = (cells: number): number[] => Array.from({ length: cells + 3 }, (_, index) => (index - 1) / cells)

/** A grid of a tile in degrees, with one cell more on each side; at the map's edge it extends to the poles. */
export function gridInDegrees(tile: Tile, cells: number): Grid {
  const { z, x, y } = tile
  const at = fractions(cells)
  const xs = at.map((part) => longitudeAt(x + part, z))
  const ys = at.map((part) => latitudeAt(y + 1 - part, z))
  return { xs, ys: bounded(ys, tileInDegrees(tile, 1 / cells)) }
}

/** The same in web mercator metres. */
export function gridInMetres(tile: Tile, cells: number): Grid {
  const { z, x, y } = tile
  const size = unitInMetres(z, 1)
  const at = fractions(cells)
  const xs = at.map((part) => (x + part) * size - half)
  const ys = at.map((part) => half - (y + 1 - part) * size)
  return { xs, ys: bounded(ys, tileInMetres(tile, 1 / cells)) }
}

const bounded = (ys: readonly number[], [, south, , north]: TileExtent): number[] => [south, ...ys.slice(1, -1), north]

/** Metres per tile unit at the equator. */
export const unitInMetres = (z: number, extent: number): number => (2 * half) / 2 ** z / extent

/** Whether anything in the extent can be visible in the tile, also in neighbouring copies of the world. */
export function touches(tile: Tile, extent: TileExtent, margin: number): boolean {
  const [west, south, east, north] = tileInDegrees(tile, margin)
  const [left, bottom, right, top] = extent
  if (top < south || bottom > north) return false
  return [-360, 0, 360].some((turn) => right + turn >= west && left + turn <= east)
}

/** The number of tiles of a zoom that the extent covers. */
export function tilesIn([west, south, east, north]: TileExtent, z: number): number {
  const width = Math.max(1, ((east - west) / 360) * 2 ** z)
  const height = Math.max(1, (heightOf(south) - heightOf(north)) * 2 ** z)
  return width * height
}
