// How far the rows of cells in a tile can lie around it, and the part of the world whose cells are counted together.
import type { CellScheme } from '../../../query/plan/cell-aggregate.ts'
import { zoomOfCells } from '../../../query/plan/cell-aggregate.ts'
import type { Tile } from '../mvt/projection.ts'
import { tileInDegrees } from '../source/tile-bounds.ts'
import { tileMargin } from '../sql/tile-sql.ts'
import { squaresOf } from './squares.ts'

/** The average edge of a hexagon of resolution 0, and how many times smaller the next ones are. */
const firstEdgeKm = 1281.256
const perResolution = Math.sqrt(7)
/** Hexagons are up to 1.4 times as wide as the average, and as wide as two edges. */
const widest = 2.9
const kmPerDegree = 110.5
/** Beyond it no tile shows anything; a little more is as far as a cell at the edge of the map can reach. */
const farthestLatitude = 86.5
/** For what rounding may add. */
const slack = 1.01

/** The width of a cell in tiles, at most. */
export function cellReach(scheme: CellScheme, tile: Tile): number {
  if (scheme.kind !== 'h3') return (2 ** tile.z / squaresOf(scheme)) * slack
  const degrees = (widest * firstEdgeKm) / perResolution ** scheme.resolution / kmPerDegree
  const [, south, , north] = tileInDegrees(tile, tileMargin)
  const latitude = Math.min(farthestLatitude, Math.max(Math.abs(south), Math.abs(north)) + degrees)
  return degrees / Math.cos((latitude * Math.PI) / 180) / (360 / 2 ** tile.z)
}

/** Tiles of so many zooms more than a region share it, if their cells are as large as is usual at their zoom. */
const zoomsDown = 3

/** The tile whose surroundings are read together. Where it is the world all rows are. */
export function regionOf(scheme: CellScheme, { z, x, y }: Tile): Tile {
  const zoom = Math.max(0, Math.min(z, zoomOfCells(scheme) - zoomsDown))
  const up = z - zoom
  // Not by shifting bits: there are zooms beyond 31.
  return { z: zoom, x: Math.floor(x / 2 ** up), y: Math.floor(y / 2 ** up) }
}
