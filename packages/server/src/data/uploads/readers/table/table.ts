import { createSkippedRows, nameRows, type RowFault, skipRow } from '../engine/impossible-rows.ts'
import type { LayerFacts } from '../engine/reading.ts'
import type { SourceRecord } from '../engine/records.ts'
import type { FieldList } from '../engine/type-inference.ts'
import type { Warning } from '../reader.ts'
import { type GeometryColumns, geometryOfRow } from './geometry-cell.ts'
import type { TableLayout } from './layout.ts'

/** A table that is being read: what its rows are as records. */
export type TabularLayer = {
  readonly layout: TableLayout
  /** The columns that are fields: that of a geometry in text is none, those of coordinates are. */
  readonly columns: readonly number[]
  readonly fields: FieldList
  readonly coordinateNames?: { x: string; y: string }
  recordOf(row: readonly unknown[], line: number): SourceRecord
  facts(): LayerFacts
}

type TableOptions = {
  warnings: readonly Warning[]
  /** Every row has as many cells as the heading. */
  isStrict: boolean
}

export function createTable(layout: TableLayout, { warnings, isStrict }: TableOptions): TabularLayer {
  const { names, geometry: geometryColumns } = layout
  const columns = names
    .map((_, index) => index)
    .filter((index) => geometryColumns.kind !== 'text' || index !== geometryColumns.column)
  const fieldNames = columns.map((column) => names[column] ?? '')
  const coordinateNames = coordinateNamesOf(geometryColumns, names)
  const lengths: Lengths = { isStrict, cut: 0, filled: createSkippedRows() }
  let srid: number | undefined
  return {
    layout,
    columns,
    fields: { names: fieldNames, indexes: new Map(fieldNames.map((name, index) => [name, index])) },
    ...(coordinateNames && { coordinateNames }),
    recordOf(row, line) {
      // Most rows are their own values.
      const isWhole = columns.length === names.length && row.length <= names.length
      const values = isWhole ? row : columns.map((column) => row[column] ?? null)
      const fault = row.length === names.length ? undefined : lengthFault(row, line, layout, lengths)
      if (fault) return { values, geometry: null, fault }
      const read = geometryOfRow(row, geometryColumns)
      if ('fault' in read) {
        const { column, value, problem } = read.fault
        return { values, geometry: null, fault: { line, column: names[column] ?? '', value, problem } }
      }
      srid ??= read.srid
      if (geometryColumns.kind !== 'text') return { values, geometry: read.geometry, line }
      return { values, geometry: read.geometry, line, written: String(row[geometryColumns.column] ?? '') }
    },
    facts: () => ({ srid, warnings: [...warnings, ...layout.warnings, ...lengthWarnings(lengths)] }),
  }
}

/** The names of the columns that coordinates are read from. */
export function coordinateNamesOf(
  geometryColumns: GeometryColumns,
  names: readonly string[],
): { x: string; y: string } | undefined {
  if (geometryColumns.kind === 'none') return undefined
  const [x, y] =
    geometryColumns.kind === 'xy'
      ? [geometryColumns.x, geometryColumns.y]
      : [geometryColumns.column, geometryColumns.column]
  return { x: names[x] ?? '', y: names[y] ?? '' }
}

/** What was done with rows that are longer or shorter than the heading. */
type Lengths = { readonly isStrict: boolean; cut: number; readonly filled: ReturnType<typeof createSkippedRows> }

const isFilled = (cell: unknown): boolean => cell !== null && cell !== undefined && cell !== ''

/** Cells that are missing at the end are null, unless the geometry is among them; empty ones beyond the last column are none. */
function lengthFault(
  row: readonly unknown[],
  line: number,
  layout: TableLayout,
  lengths: Lengths,
): RowFault | undefined {
  const width = layout.names.length
  const isLong = row.length > width
  if (isLong && !row.slice(width).some(isFilled)) return undefined
  const fault = { line, problem: `the row has ${row.length} cells, the heading ${width}` }
  if (lengths.isStrict) return fault
  if (isLong && !layout.hasLongRows) return fault
  if (isLong) lengths.cut++
  else if (row.length <= lastOf(layout.geometry)) return fault
  else skipRow(lengths.filled, fault)
  return undefined
}

/** The last column that a geometry is read from. */
function lastOf(geometryColumns: GeometryColumns): number {
  if (geometryColumns.kind === 'none') return -1
  return geometryColumns.kind === 'xy' ? Math.max(geometryColumns.x, geometryColumns.y) : geometryColumns.column
}

function lengthWarnings({ cut, filled }: Lengths): Warning[] {
  const warnings: Warning[] = []
  if (cut > 0) {
    warnings.push({ code: 'extra_cells', message: 'Rows have more cells than the heading; they were cut.', count: cut })
  }
  if (filled.count > 0) {
    const message = `Rows have fewer cells than the heading; the missing ones are null: ${nameRows(filled)}.`
    warnings.push({ code: 'missing_cells', message, count: filled.count })
  }
  return warnings
}
