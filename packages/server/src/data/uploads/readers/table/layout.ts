import { withoutGuard } from '../../../../query/formats/formula-guard.ts'
import { type CsvCell, rowsOf } from '../csv/rows.ts'
import { readStart } from '../file-start.ts'
import { maxFields, ReadFault, type Warning } from '../reader.ts'
import type { TableRules } from '../table-rules.ts'
import type { GeometryColumns } from './geometry-cell.ts'
import { cellsOf, findGeometry } from './geometry-columns.ts'
import { findHeading, mostFrequent, sampleRows } from './heading.ts'
import { demandTable } from './plausible.ts'
import { demandTypes } from './typed-cell.ts'

/** How a table lies in its rows. */
export type TableLayout = {
  names: string[]
  geometry: GeometryColumns
  /** The reference system that names and values tell, or which ones it may be. */
  srid?: number | undefined
  sridHint?: string | undefined
  /** So many rows come before the heading. */
  titles: number
  /** Titles and the heading: so many rows come before the first of the table. */
  skippedRows: number
  /** Most rows have more cells than the heading: then those are no mistake. */
  hasLongRows: boolean
  warnings: Warning[]
}

const sampleBytes = 256 * 1024
const delimiters = [',', ';', '\t', '|'] as const

/** The delimiter and the layout of a delimited file, from a sample of its beginning. */
export async function layoutOfFile(
  file: string,
  rules: LayoutRules = {},
): Promise<TableLayout & { delimiter: string }> {
  const text = await beginning(file)
  const declared = /^sep=(.)\r?\n/i.exec(text)
  const delimiter = declared?.[1] ?? sniffDelimiter(text)
  const rows = rowsOf(text, delimiter)
  const skipped = declared ? 1 : 0
  const layout = layoutOf(rows.slice(skipped), rules)
  demandTable(text, rows.slice(skipped + layout.titles, skipped + layout.titles + sampleRows))
  return { ...layout, delimiter, skippedRows: layout.skippedRows + skipped }
}

/** What the client says of a table. */
export type LayoutRules = TableRules & { readonly sourceSrid?: number | undefined }

/** The names and the geometry of a table, from its first rows. */
export function layoutOf(rows: readonly (readonly CsvCell[])[], rules: LayoutRules = {}): TableLayout {
  const { titles, hasHeading, warnings: headingWarnings } = findHeading(rows, rules)
  const header = rows[titles] ?? []
  const width = Math.max(...rows.slice(titles, titles + sampleRows).map((row) => row.length))
  if (header.length > maxFields)
    throw new ReadFault('too_many_columns', `The table has more than ${maxFields} columns, the limit.`)
  const cells = hasHeading ? header : Array.from({ length: Math.min(width, maxFields) }, () => null)
  const names = uniqueNames(cells)
  const skippedRows = titles + (hasHeading ? 1 : 0)
  const sample = rows.slice(skippedRows, skippedRows + sampleRows)
  const { geometryColumns, warnings, srid, sridHint } = findGeometry(names, sample, rules)
  demandTypes(rules, names, cellsOf(names, sample, rules))
  const longRows = sample.filter((row) => row.slice(names.length).some((cell) => cell !== null && cell !== ''))
  return {
    names,
    geometry: geometryColumns,
    srid,
    sridHint,
    titles,
    skippedRows,
    hasLongRows: longRows.length * 2 > sample.length,
    warnings: [...headingWarnings, ...warnings],
  }
}

async function beginning(file: string): Promise<string> {
  const bytes = await readStart(file, sampleBytes)
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  // The last row of a whole file needs no line end, that of a sample is cut.
  return bytes.length < sampleBytes ? `${text}\n` : text
}

/** The delimiter that cuts the first rows into the same number of cells most often, and into more than one. */
function sniffDelimiter(text: string): string {
  const scores = delimiters.map((delimiter) => {
    const rows = safeRows(text, delimiter).slice(0, 50)
    const width = mostFrequent(rows.map((row) => row.length))
    const same = rows.filter((row) => row.length === width).length / (rows.length || 1)
    return { delimiter, score: width > 1 ? same * 1000 + Math.min(width, 100) : 0 }
  })
  scores.sort((left, right) => right.score - left.score)
  return scores[0]?.score ? scores[0].delimiter : ','
}

function safeRows(text: string, delimiter: string): CsvCell[][] {
  return rowsOf(text.slice(0, 64 * 1024), delimiter)
}

/** Every column has a name of its own. */
function uniqueNames(header: readonly CsvCell[]): string[] {
  const seen = new Set<string>()
  return header.map((cell, index) => {
    const name = withoutGuard(cell?.trim() ?? '') || `column_${index + 1}`
    let unique = name
    for (let count = 2; seen.has(unique); count++) unique = `${name}_${count}`
    seen.add(unique)
    return unique
  })
}
