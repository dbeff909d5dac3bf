import type { CsvCell } from '../csv/rows.ts'
import { ReadFault } from '../reader.ts'

/** What texts begin with that have lines and commas, but are no tables: PDF, PostScript, RTF, scripts, keys, diffs. */
const otherTexts = /^\s*(%PDF-|%!PS|\{\\rtf|#!\/|-----BEGIN |diff --git |MIME-Version:|<\?php)/

/** A table may hold a stray control character; a binary file is full of them. */
const mostControls = 0.01
/** Of less, the sniffer has looked at every byte. */
const sniffedLength = 64 * 1024

const fewestRows = 4

/** Throws a fault for a text that is no table. The first row is the heading. */
export function demandTable(text: string, rows: readonly (readonly CsvCell[])[]): void {
  if (otherTexts.test(text) || isBinary(text) || isUneven(rows)) {
    throw new ReadFault(
      'unsupported_format',
      'The file is text, but not a table. A CSV has a heading and rows with the same number of cells.',
    )
  }
}

function isBinary(text: string): boolean {
  if (text.length <= sniffedLength) return false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell binary from text
  const controls = text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g)?.length ?? 0
  return controls > text.length * mostControls
}

/** No width is that of half of the rows, and not because cells are missing at the end: many rows are longer than the heading. */
function isUneven(rows: readonly (readonly CsvCell[])[]): boolean {
  const [heading, ...body] = rows
  if (!heading || body.length < fewestRows) return false
  const counts = new Map<number, number>()
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1)
  const longer = body.filter(({ length }) => length > heading.length).length
  return counts.size > 2 && Math.max(...counts.values()) * 2 < rows.length && longer * 10 > body.length
}
