// Draws the cells of a table in a tile. Runs in the tile threads.
import type { CellValue } from '../../../query/plan/cell-aggregate.ts'
import type { Tile } from '../mvt/projection.ts'
import type { TileEncoder } from '../mvt/tile-encoder.ts'
import { cellReach } from './cell-reach.ts'
import { propertiesOfCell, shapeOfCell } from './cell-shapes.ts'
import { type CellTable, cellFields, strideOf } from './cell-table.ts'

export type DrawnCells = { readonly table: CellTable; readonly values: readonly CellValue[] }

/** Of these resolutions a hexagon around a pole reaches into the map, whatever the longitude of its rows. */
const mostPolarResolution = 2

/** Adds the cells that can touch the tile, a whole one wherever a part of it is. Returns how many were left out because the tile was full. */
export function addCellShapes(encoder: TileEncoder, { table, values }: DrawnCells, tile: Tile): number {
  const { cells, count, attributes, scheme } = table
  const stride = strideOf(attributes)
  const scale = 2 ** tile.z
  const reach = cellReach(scheme, tile)
  const isWide = scheme.kind === 'h3' && scheme.resolution <= mostPolarResolution
  let refused = 0
  for (let index = 0; index < count; index++) {
    // One of its rows tells about where a cell is.
    const x = (cells[index * stride + cellFields.x] as number) * scale - tile.x
    const y = (cells[index * stride + cellFields.y] as number) * scale - tile.y
    if (y < -reach || y > 1 + reach || !(isWide || isWithin(x, reach, scale))) continue
    if (!encoder.addFeature([shapeOfCell(table, index), ...propertiesOfCell(table, index, values)])) refused++
  }
  return refused
}

/** Also from the other side of the antimeridian. */
const isWithin = (x: number, reach: number, world: number): boolean =>
  [x, x - world, x + world].some((copy) => copy >= -reach && copy <= 1 + reach)
