import { createSkippedRows, nameRows, type RowFault, skipRow } from '../engine/impossible-rows.ts'
import type { LocalColumn } from '../engine/local-columns.ts'
import { isNull } from '../engine/null-words.ts'
import type { LayerFacts } from '../engine/reading.ts'
import type { SourceRecord } from '../engine/records.ts'
import type { FieldList } from '../engine/type-inference.ts'
import type { Warning } from '../reader.ts'
import type { TableColumnType, TableRules } from '../table-rules.ts'
import { type CellFault, type GeometryColumns, geometryOfRow } from './geometry-cell.ts'
import type { TableLayout } from './layout.ts'
import { chosenTypeOf, notOfType, nullTest, readTyped, typedColumn } from './typed-cell.ts'

/** A table that is being read: what its rows are as records. */
export type TabularLayer = {
  readonly layout: TableLayout
  /** The columns that are fields: that of a geometry in text is none, those of coordinates are. */
  readonly columns: readonly number[]
  readonly fields: FieldList
  readonly coordinateNames?: { x: string; y: string }
  typeOf(kinds: number, name: string, isAmongCommas: boolean): LocalColumn
  recordOf(row: readonly unknown[], line: number): SourceRecord
  facts(): LayerFacts
  /** So many more cells hold NULL. */
  noteNull(count: number): void
}

type TableOptions = {
  warnings: readonly Warning[]
  /** Every row has as many cells as the heading. */
  isStrict: boolean
  rules?: TableRules
}

export function createTable(layout: TableLayout, { warnings, isStrict, rules = {} }: TableOptions): TabularLayer {
  const { names, geometry: geometryColumns } = layout
  const columns = names
    .map((_, index) => index)
    .filter((index) => geometryColumns.kind !== 'text' || index !== geometryColumns.column)
  const fieldNames = columns.map((column) => names[column] ?? '')
  const coordinateNames = coordinateNamesOf(geometryColumns, names)
  const isEmpty = nullTest(rules) ?? isNullCell
  const isAutomatic = rules.nulls === undefined
  let nullCount = 0
  const withNulls = (row: readonly unknown[]): readonly unknown[] => {
    if (!row.some(isEmpty)) return row
    if (isAutomatic) nullCount += row.filter(isEmpty).length
    return row.map((cell) => (isEmpty(cell) ? null : cell))
  }
  const typed = columns.flatMap((column, place) => {
    const type = chosenTypeOf(rules, names[column] ?? '')
    return type ? [{ place, type, name: names[column] ?? '' }] : []
  })
  const lengths: Lengths = { isStrict, cut: 0, filled: createSkippedRows() }
  let srid: number | undefined
  return {
    layout,
    columns,
    fields: { names: fieldNames, indexes: new Map(fieldNames.map((name, index) => [name, index])) },
    ...(coordinateNames && { coordinateNames }),
    typeOf: typedColumn(rules),
    recordOf(given, line) {
      const row = withNulls(given)
      // Most rows are their own values.
      const isWhole = typed.length === 0 && columns.length === names.length && row.length <= names.length
      const values = isWhole ? row : columns.map((column) => row[column] ?? null)
      const fault = row.length === names.length ? undefined : lengthFault(row, line, layout, lengths)
      const misfit = fault ?? readTypedCells(values as unknown[], typed, rules, line)
      if (misfit) return { values, geometry: null, fault: misfit }
      const read = geometryOfRow(row, geometryColumns)
      if ('fault' in read) return { values, geometry: null, fault: placed(read.fault, names, line) }
      srid ??= read.srid
      if (geometryColumns.kind !== 'text') return { values, geometry: read.geometry, line }
      return { values, geometry: read.geometry, line, written: String(row[geometryColumns.column] ?? '') }
    },
    facts: () => ({
      srid: srid ?? layout.srid,
      sridHint: layout.sridHint,
      geometryColumns: geometryColumnNames(layout.geometry, names),
      isSpatial: layout.geometry.kind !== 'none',
      warnings: [...warnings, ...layout.warnings, ...lengthWarnings(lengths), ...nullWarnings(nullCount)],
    }),
    noteNull(count) {
      nullCount += count
    },
  }
}

const isNullCell = (cell: unknown): boolean => typeof cell === 'string' && isNull(cell)

const nullWarnings = (count: number): Warning[] =>
  count === 0
    ? []
    : [
        {
          code: 'null_values',
          message: 'Cells with NULL, \\N or #N/A hold nothing. If that is wrong, say in the field nulls which ones do.',
          count,
        },
      ]

const placed = ({ column, value, problem }: CellFault, names: readonly string[], line: number): RowFault => ({
  line,
  column: names[column] ?? '',
  value,
  problem,
})

type TypedColumn = { readonly place: number; readonly type: TableColumnType; readonly name: string }

/** Puts values of the given types in place of their texts; answers what is wrong with the first that is none. */
function readTypedCells(
  values: unknown[],
  typed: readonly TypedColumn[],
  rules: TableRules,
  line: number,
): RowFault | undefined {
  for (const { place, type, name } of typed) {
    const value = readTyped(values[place], type, rules)
    if (value === undefined) return { line, column: name, value: String(values[place]), problem: notOfType(type) }
    values[place] = value
  }
  return undefined
}

/** The names of the columns that coordinates are read from. */
export function coordinateNamesOf(
  geometryColumns: GeometryColumns,
  names: readonly string[],
): { x: string; y: string } | undefined {
  if (geometryColumns.kind === 'none') return undefined
  const [x, y] = coordinateColumns(geometryColumns)
  return { x: names[x] ?? '', y: names[y] ?? '' }
}

/** The columns that a geometry is read from, for whoever wants to know. */
export function geometryColumnNames(place: GeometryColumns, names: readonly string[]): string[] {
  const { kind: _, ...columns } = place
  const indexes = Object.values(columns).filter((value): value is number => typeof value === 'number' && value >= 0)
  return indexes.map((index) => names[index] ?? '')
}

function coordinateColumns(place: Exclude<GeometryColumns, { kind: 'none' }>): readonly [number, number] {
  if (place.kind === 'xy') return [place.x, place.y]
  return place.kind === 'box' ? [place.east, place.north] : [place.column, place.column]
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
  if (geometryColumns.kind === 'xy') return Math.max(geometryColumns.x, geometryColumns.y)
  if (geometryColumns.kind !== 'box') return geometryColumns.column
  const { west, south, east, north } = geometryColumns
  return Math.max(west, south, east, north)
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
