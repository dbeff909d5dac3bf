import type { GeometryPlace } from './csv-geometry.ts'
import { geometryOfRow } from './csv-geometry-cell.ts'
import { layoutOfFile, type TableLayout } from './csv-layout.ts'
import { quickRows } from './csv-quick.ts'
import { readRows, type TakeRows } from './csv-rows.ts'
import { layerNameOf, type Reader, type Warning } from './reader.ts'
import { createRecordReader, type RecordSource, type SourceRecord } from './record-reader.ts'
import { kind, kindsOfText } from './type-inference.ts'

/** CSV, TSV and their like in UTF-8. */
export async function openCsv(
  file: string,
  { fileName, warnings = [], window }: { fileName: string; warnings?: readonly Warning[]; window?: number },
): Promise<Reader> {
  const layout = await layoutOfFile(file)
  const { delimiter } = layout
  const hasDecimalComma = delimiter !== ','
  const windowed = window === undefined ? {} : { window }
  return createRecordReader('csv', [layerNameOf(fileName)], () =>
    createTableSource(layout, (signal, take) => readRows(file, { delimiter, signal, take, ...windowed }), {
      kindsOf: (cell) => (typeof cell === 'string' ? kindsOfText(cell, hasDecimalComma) : kind.none),
      warnings,
      delimiter,
    }),
  )
}

type Rows = AsyncIterable<{ rows: readonly (readonly unknown[])[]; fraction: number }>

type TableOptions = {
  kindsOf: (cell: unknown) => number
  warnings: readonly Warning[]
  /** Of a file whose rows can be taken from its bytes. */
  delimiter?: string
}

/** The rows of a table as records: the column of a geometry in text is no field, those of numbers stay fields. */
export function createTableSource(
  layout: TableLayout,
  read: (signal: AbortSignal, take?: TakeRows) => Rows,
  { kindsOf, warnings, delimiter }: TableOptions,
): RecordSource {
  const { names, geometry: place } = layout
  const columns = names.map((_, index) => index).filter((index) => place.kind !== 'text' || index !== place.column)
  const fieldNames = columns.map((column) => names[column] ?? '')
  const found: Found = { srid: undefined, tooLong: 0 }
  return {
    fields: { names: fieldNames, indexes: new Map(fieldNames.map((name, index) => [name, index])) },
    kindsOf,
    async *read(signal, pass) {
      let skipped = layout.skippedRows
      const quick = pass && delimiter && quickRows(pass, { layout, fields: columns, delimiter, kindsOf })
      const take: TakeRows = (window) => {
        if (quick && skipped === 0) quick(window)
      }
      for await (const { rows, fraction } of quick ? read(signal, take) : read(signal)) {
        const kept = skipped > 0 ? rows.slice(skipped) : rows
        skipped = Math.max(0, skipped - rows.length)
        yield { records: kept.map((row) => recordOf(row, columns, place, names.length, found)), fraction }
      }
    },
    facts: () => ({
      ...(found.srid === undefined ? {} : { srid: found.srid }),
      warnings: [...warnings, ...layout.warnings, ...tooLongWarnings(found.tooLong)],
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
  const read = geometryOfRow(row, place)
  if ('fault' in read) return { values, geometry: 'invalid' }
  found.srid ??= read.srid
  return { values, geometry: read.geometry }
}

function tooLongWarnings(count: number): Warning[] {
  return count > 0
    ? [{ code: 'extra_cells', message: 'Rows have more cells than the header; they were cut.', count }]
    : []
}
