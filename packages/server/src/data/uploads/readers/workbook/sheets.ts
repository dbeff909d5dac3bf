// The sheets of a workbook, each a table that is read by the rules of CSV.
import type { CsvCell } from '../csv/rows.ts'
import type { Reading } from '../engine/reading.ts'
import { type RecordBatch, readRecords } from '../engine/records.ts'
import { kindsOfLoose } from '../engine/type-inference.ts'
import { type ReaderOptions, ReadFault, type Warning } from '../reader.ts'
import { layoutOf } from '../table/layout.ts'
import { createTable, type TabularLayer } from '../table/table.ts'
import { isDateHeading } from '../table/table-faults.ts'
import { tableRulesOf } from '../table-rules.ts'

/** Numbers, truths and texts; dates and times are texts of ISO 8601. */
export type SheetRows = unknown[][]

/** The sheets that hold more than a heading; where none does, a heading alone is a table without rows. */
export function filledSheets(sheets: ReadonlyMap<string, SheetRows>): Map<string, SheetRows> {
  const filled = new Map([...sheets].filter(([, rows]) => rows.length > 1))
  const chosen = filled.size > 0 ? filled : new Map([...sheets].filter(([, rows]) => rows.length === 1))
  if (chosen.size === 0) throw new ReadFault('no_features', 'There are no rows in the workbook.')
  return chosen
}

export function readSheet(rows: SheetRows, options: ReaderOptions, warnings: readonly Warning[]): Reading {
  const sample = rows.slice(0, 200).map((row) => row.map(cellOf))
  const rules = tableRulesOf(options)
  const table = createTable(layoutOf(sample, { ...rules, sourceSrid: options.sourceSrid }), {
    warnings,
    isStrict: options.strict === true,
    rules,
  })
  return readRecords({
    ...table,
    kindsOf: (value, place) => kindsOfLoose(value, rules, isDateHeading(table.fields.names[place] ?? '')),
    batches: batchesOf(rows, table),
  })
}

function cellOf(value: unknown): CsvCell {
  return value === null || value === undefined ? null : String(value)
}

/** A sheet has no ends of rows: cells that are not there are blank. */
const filledUp = (row: readonly unknown[], width: number): readonly unknown[] =>
  row.length >= width ? row : [...row, ...Array(width - row.length).fill(null)]

const batchRows = 1_000

export async function* batchesOf(all: SheetRows, { layout, recordOf }: TabularLayer): AsyncGenerator<RecordBatch> {
  for (let index = layout.skippedRows; index < all.length; index += batchRows) {
    const rows = all.slice(index, index + batchRows)
    const fraction = (index + batchRows) / all.length
    const width = layout.names.length
    yield { records: rows.map((row, offset) => recordOf(filledUp(row, width), index + offset + 1)), fraction }
  }
}
