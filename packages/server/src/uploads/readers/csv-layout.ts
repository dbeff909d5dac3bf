import { open } from 'node:fs/promises'
import { findGeometry, type GeometryPlace } from './csv-geometry.ts'
import { type Cell, rowsOf } from './csv-rows.ts'
import { maxFields, ReadFault } from './reader.ts'
import { kind, kindsOfText } from './type-inference.ts'

/** How a table lies in its rows. */
export type TableLayout = { names: string[]; geometry: GeometryPlace; skippedRows: number }

const sampleBytes = 256 * 1024
const sampleRows = 200
const delimiters = [',', ';', '\t', '|'] as const

/** The delimiter and the layout of a delimited file, from a sample of its beginning. */
export async function layoutOfFile(file: string): Promise<TableLayout & { delimiter: string }> {
  const text = await beginning(file)
  const declared = /^sep=(.)\r?\n/i.exec(text)
  const delimiter = declared?.[1] ?? sniffDelimiter(text)
  const rows = rowsOf(text, delimiter)
  const skipped = declared ? 1 : 0
  const layout = layoutOf(rows.slice(skipped))
  return { ...layout, delimiter, skippedRows: layout.skippedRows + skipped }
}

/** The names and the geometry of a table, from its first rows. */
export function layoutOf(rows: readonly (readonly Cell[])[]): TableLayout {
  const [header = []] = rows
  const width = Math.max(...rows.slice(0, sampleRows).map((row) => row.length))
  if (header.length > maxFields) throw new ReadFault('too_many_columns', `There are more than ${maxFields} columns.`)
  const hasHeader = header.some((cell) => cell !== null && (kindsOfText(cell) & (kind.text | kind.boolean)) !== 0)
  const cells = hasHeader ? header : Array.from({ length: Math.min(width, maxFields) }, () => null)
  const names = uniqueNames(cells)
  const sample = rows.slice(hasHeader ? 1 : 0, sampleRows)
  return { names, geometry: findGeometry(names, sample), skippedRows: hasHeader ? 1 : 0 }
}

async function beginning(file: string): Promise<string> {
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0)
    const text = buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, '')
    // The last row of a whole file needs no line end, that of a sample is cut.
    return bytesRead < sampleBytes ? `${text}\n` : text
  } finally {
    await handle.close()
  }
}

/** The delimiter that cuts the first rows into the same number of cells most often, and into more than one. */
function sniffDelimiter(text: string): string {
  const scores = delimiters.map((delimiter) => {
    const rows = safeRows(text, delimiter).slice(0, 50)
    const width = rows[0]?.length ?? 1
    const same = rows.filter((row) => row.length === width).length / (rows.length || 1)
    return { delimiter, score: width > 1 ? same * 1000 + Math.min(width, 100) : 0 }
  })
  scores.sort((left, right) => right.score - left.score)
  return scores[0]?.score ? scores[0].delimiter : ','
}

function safeRows(text: string, delimiter: string): Cell[][] {
  return rowsOf(text.slice(0, 64 * 1024), delimiter)
}

/** Every column has a name of its own. */
function uniqueNames(header: readonly Cell[]): string[] {
  const seen = new Set<string>()
  return header.map((cell, index) => {
    const name = cell?.trim() || `column_${index + 1}`
    let unique = name
    for (let count = 2; seen.has(unique); count++) unique = `${name}_${count}`
    seen.add(unique)
    return unique
  })
}
