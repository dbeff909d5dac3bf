import type { GeometryPlace } from './csv-geometry.ts'
import { geometryOfRow } from './csv-geometry-cell.ts'
import type { TableLayout } from './csv-layout.ts'
import { quickRows } from './csv-quick.ts'
import type { RowBatch, TakeRows } from './csv-rows.ts'
import { createSkippedRows, nameRows, type RowFault, type SkippedRows, skipRow } from './impossible-rows.ts'
import type { Warning } from './reader.ts'
import type { RecordSource, SourceRecord } from './record-reader.ts'

type Rows = AsyncIterable<RowBatch & { fraction: number }>

type TableOptions = {
  kindsOf: (cell: unknown) => number
  warnings: readonly Warning[]
  /** Of a file whose rows can be taken from its bytes. */
  delimiter?: string
  /** Every row has as many cells as the heading. */
  isStrict: boolean
}

type Table = {
  layout: TableLayout
  /** Those that are fields. */
  columns: readonly number[]
  isStrict: boolean
  srid: number | undefined
  cut: number
  filled: SkippedRows
}

/** The rows of a table as records: the column of a geometry in text is no field, those of coordinates stay fields. */
export function createTableSource(
  layout: TableLayout,
  read: (signal: AbortSignal, take?: TakeRows) => Rows,
  { kindsOf, warnings, delimiter, isStrict }: TableOptions,
): RecordSource {
  const { names, geometry: place } = layout
  const columns = names.map((_, index) => index).filter((index) => place.kind !== 'text' || index !== place.column)
  const fieldNames = columns.map((column) => names[column] ?? '')
  const table: Table = { layout, columns, isStrict, srid: undefined, cut: 0, filled: createSkippedRows() }
  const coordinateNames = coordinateNamesOf(place, names)
  return {
    fields: { names: fieldNames, indexes: new Map(fieldNames.map((name, index) => [name, index])) },
    kindsOf,
    async *read(signal, pass) {
      let skipped = layout.skippedRows
      const quick = pass && delimiter && quickRows(pass, { layout, fields: columns, delimiter, kindsOf })
      const take: TakeRows = (window) => {
        if (quick && skipped === 0) quick(window)
      }
      for await (const { rows, lines, fraction } of quick ? read(signal, take) : read(signal)) {
        const records: SourceRecord[] = []
        for (let index = skipped; index < rows.length; index++)
          records.push(recordOf(rows[index] ?? [], lines[index] ?? 0, table))
        skipped = Math.max(0, skipped - rows.length)
        yield { records, fraction }
      }
    },
    facts: () => ({
      ...(table.srid === undefined ? {} : { srid: table.srid }),
      warnings: [...warnings, ...layout.warnings, ...lengthWarnings(table)],
    }),
    ...(coordinateNames && { coordinateNames }),
  }
}

function coordinateNamesOf(place: GeometryPlace, names: readonly string[]): { x: string; y: string } | undefined {
  if (place.kind === 'none') return undefined
  if (place.kind === 'xy') return { x: names[place.x] ?? '', y: names[place.y] ?? '' }
  const name = names[place.column] ?? ''
  return { x: name, y: name }
}

function recordOf(row: readonly unknown[], line: number, table: Table): SourceRecord {
  const { columns, layout } = table
  const width = layout.names.length
  // Most rows are their own values.
  const isWhole = columns.length === width && row.length <= width
  const values = isWhole ? row : columns.map((column) => row[column] ?? null)
  const fault = row.length === width ? undefined : lengthFault(row, line, table)
  if (fault) return { values, geometry: null, fault }
  const read = geometryOfRow(row, layout.geometry)
  if ('fault' in read) {
    const { column, value, problem } = read.fault
    return { values, geometry: null, fault: { line, column: layout.names[column] ?? '', value, problem } }
  }
  table.srid ??= read.srid
  if (layout.geometry.kind !== 'text') return { values, geometry: read.geometry, line }
  return { values, geometry: read.geometry, line, written: String(row[layout.geometry.column] ?? '') }
}

const isFilled = (cell: unknown): boolean => cell !== null && cell !== undefined && cell !== ''

/** Cells that are missing at the end are null, unless the geometry is among them; empty ones beyond the last column are none. */
function lengthFault(row: readonly unknown[], line: number, table: Table): RowFault | undefined {
  const { layout, isStrict } = table
  const width = layout.names.length
  const isLong = row.length > width
  if (isLong && !row.slice(width).some(isFilled)) return undefined
  const fault = { line, problem: `the row has ${row.length} cells, the heading ${width}` }
  if (isStrict) return fault
  if (isLong && !layout.hasLongRows) return fault
  if (isLong) table.cut++
  else if (row.length <= lastOf(layout.geometry)) return fault
  else skipRow(table.filled, fault)
  return undefined
}

/** The last column that a geometry is read from. */
function lastOf(place: GeometryPlace): number {
  if (place.kind === 'none') return -1
  return place.kind === 'xy' ? Math.max(place.x, place.y) : place.column
}

function lengthWarnings({ cut, filled }: Table): Warning[] {
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
