// The jobs of tile threads that have to do with cells: adding rows to a table, and writing its cells as rows of an answer.
import type { RowSink } from '../../../kernel/db/postgres/raw-connection.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import { wrapGeometry } from '../../../query/geometry/antimeridian.ts'
import type { CellScheme, CellValue } from '../../../query/plan/cell-aggregate.ts'
import { type GeometryNotation, geometryOf, geometryText } from '../../../query/values/geometry-text.ts'
import type { TileQueryRows } from '../workers/tile-job.ts'
import { propertiesOfCell, shapeOfCell } from './cell-shapes.ts'
import type { CellTable } from './cell-table.ts'
import { type CellCollector, collectCells } from './collect-cells.ts'
import { pointOn } from './point-on.ts'

/** Rows with their longitude, their latitude and their values, or in texts with a geometry as GeoJSON instead of the two. */
export type CellRows =
  | TileQueryRows
  | { readonly cells: readonly (readonly Cell[])[]; readonly place: 'lonlat' | 'geojson' }

export type CollectJob = {
  readonly rows: CellRows
  readonly collect: { readonly scheme: CellScheme; readonly attributes: number }
  readonly former?: CellTable | undefined
}

/** Some of the cells of a table, as rows of an answer. */
export type WriteJob = {
  readonly write: {
    readonly table: CellTable
    readonly values: readonly CellValue[]
    readonly from: number
    readonly to: number
    readonly notation: GeometryNotation
  }
}

type Query = (rows: TileQueryRows, onRow: RowSink) => Promise<number>

export async function collect(
  { rows, collect: shape, former }: CollectJob,
  query: Query,
  atWork: () => void,
): Promise<CellTable> {
  atWork()
  const collector = collectCells(shape, former)
  if ('statement' in rows) {
    const values = new Float64Array(shape.attributes)
    await query(rows, (bytes, at) => {
      atWork()
      addRow(collector, bytes, at, values)
    })
  } else addTexts(collector, rows, shape.attributes)
  return collector.finish()
}

/** All columns are doubles of PostgreSQL's binary format. */
function addRow(collector: CellCollector, bytes: Buffer, at: Int32Array, values: Float64Array): void {
  const double = (column: number): number => {
    const start = at[2 * column] as number
    return start < 0 ? Number.NaN : bytes.readDoubleBE(start)
  }
  for (let index = 0; index < values.length; index++) values[index] = double(index + 2)
  collector.add(double(0), double(1), values)
}

function addTexts(
  collector: CellCollector,
  { cells, place }: Extract<CellRows, { cells: unknown }>,
  attributes: number,
): void {
  const values = new Float64Array(attributes)
  const number = (cell: Cell | undefined): number => (cell === null || cell === undefined ? Number.NaN : Number(cell))
  const before = place === 'lonlat' ? 2 : 1
  for (const row of cells) {
    for (let index = 0; index < attributes; index++) values[index] = number(row[index + before])
    const [x, y] = place === 'lonlat' ? [number(row[0]), number(row[1])] : pointIn(row[0] ?? null)
    collector.add(x, y, values)
  }
}

const nowhere = [Number.NaN, Number.NaN] as const

function pointIn(text: Cell): readonly [number, number] {
  try {
    const geometry = text === null ? null : geometryOf(JSON.parse(text))
    return (geometry && pointOn(geometry)) ?? nowhere
  } catch {
    return nowhere
  }
}

/** The geometry comes last. */
export function writeCells({ write: { table, values, from, to, notation } }: WriteJob): Cell[][] {
  return Array.from({ length: to - from }, (_, offset) => {
    const index = from + offset
    const properties = propertiesOfCell(table, index, values)
    const shape = geometryText(wrapGeometry(shapeOfCell(table, index)), notation)
    return [...properties.map((value) => (value === null ? null : String(value))), shape]
  })
}
