import { type GeometryPlace, parseGeometryCell, pointOf } from './csv-geometry.ts'
import { layoutOfFile, type TableLayout } from './csv-layout.ts'
import { readRows } from './csv-rows.ts'
import { layerNameOf, type Reader, type Warning } from './reader.ts'
import { createRecordReader, type RecordSource, type SourceRecord } from './record-reader.ts'
import { kind, kindsOfText } from './type-inference.ts'

/** CSV, TSV and their like in UTF-8. */
export async function openCsv(
  file: string,
  { fileName, warnings = [] }: { fileName: string; warnings?: readonly Warning[] },
): Promise<Reader> {
  const layout = await layoutOfFile(file)
  const { delimiter } = layout
  const hasDecimalComma = delimiter !== ','
  return createRecordReader('csv', [layerNameOf(fileName)], () =>
    createTableSource(layout, (signal) => readRows(file, { delimiter, signal }), {
      kindsOf: (cell) => (typeof cell === 'string' ? kindsOfText(cell, hasDecimalComma) : kind.none),
      warnings,
    }),
  )
}

type Rows = AsyncIterable<{ rows: readonly (readonly unknown[])[]; fraction: number }>

/** The rows of a table as records: the column of a geometry in text is no field, those of numbers stay fields. */
export function createTableSource(
  layout: TableLayout,
  read: (signal: AbortSignal) => Rows,
  { kindsOf, warnings }: { kindsOf: (cell: unknown) => number; warnings: readonly Warning[] },
): RecordSource {
  const { names, geometry: place } = layout
  const columns = names.map((_, index) => index).filter((index) => place.kind !== 'text' || index !== place.column)
  const fieldNames = columns.map((column) => names[column] ?? '')
  const found: Found = { srid: undefined, tooLong: 0 }
  return {
    fields: { names: fieldNames, indexes: new Map(fieldNames.map((name, index) => [name, index])) },
    kindsOf,
    async *read(signal) {
      let skipped = layout.skippedRows
      for await (const { rows, fraction } of read(signal)) {
        const kept = skipped > 0 ? rows.slice(skipped) : rows
        skipped = Math.max(0, skipped - rows.length)
        yield { records: kept.map((row) => recordOf(row, columns, place, names.length, found)), fraction }
      }
    },
    facts: () => ({
      ...(found.srid === undefined ? {} : { srid: found.srid }),
      warnings: [...warnings, ...tooLongWarnings(found.tooLong)],
    }),
  }
}

type Found = { srid: number | undefined; tooLong: number }

function recordOf(
  row: readonly unknown[],
  columns: readonly number[],
  place: GeometryPlace,
  width: number,
  found: Found,
): SourceRecord {
  if (row.length > width) found.tooLong++
  // Most rows are their own values.
  const isWhole = columns.length === width && row.length <= width
  const values = isWhole ? row : columns.map((column) => row[column] ?? null)
  if (place.kind === 'none') return { values, geometry: null }
  if (place.kind === 'xy') return { values, geometry: pointOf(row, place) }
  const cell = row[place.column] ?? ''
  if (cell === '') return { values, geometry: null }
  const parsed = parseGeometryCell(String(cell))
  found.srid ??= parsed?.srid
  return { values, geometry: parsed?.geometry ?? 'invalid' }
}

function tooLongWarnings(count: number): Warning[] {
  return count > 0
    ? [{ code: 'extra_cells', message: 'Rows have more cells than the header; they were cut.', count }]
    : []
}
