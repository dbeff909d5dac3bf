/** A block of cells from the clipboard, laid over the table from one cell on: the changes that it makes, or why it makes none. */
import type { DatasetAttribute } from '../../dataset.ts'
import type { Row, RowId } from '../../table/selection.ts'
import type { CellChange } from './cell-change.ts'
import { isInlineColumn, isSameValue, readInline, typedDraft } from './inline-cell.ts'

/** A row of the table that the block covers, in the table's order. */
export interface PasteRow {
  id: RowId
  row: Row
}

export interface PasteTarget {
  rows: readonly PasteRow[]
  /** From the column of the cell on, as they are shown. */
  columns: readonly DatasetAttribute[]
}

export const maxPastedRows = 500

/** All cells or none: the first faults are told, with their places. */
export function pastedChanges(
  block: readonly (readonly string[])[],
  { rows, columns }: PasteTarget,
): { changes: CellChange[] } | { error: string } {
  const width = Math.max(...block.map((cells) => cells.length))
  const refusal = refusalOf({ height: block.length, width }, { rows, columns })
  if (refusal) return { error: refusal }
  const cells = block.flatMap((texts, index) =>
    texts.map((text, place) => pastedCell(text, rows[index] as PasteRow, columns[place] as DatasetAttribute)),
  )
  const faults = cells.flatMap((cell) => ('error' in cell ? [cell.error] : []))
  if (faults.length > 0) return { error: faultsText(faults) }
  const changes = cells.flatMap((cell) => ('error' in cell || isSameValue(cell.before, cell.after) ? [] : [cell]))
  return { changes }
}

function pastedCell(text: string, { id, row }: PasteRow, attribute: DatasetAttribute): CellChange | { error: string } {
  const { name } = attribute
  const read = readInline(attribute, typedDraft(attribute, text))
  if ('error' in read) return { error: `Row ${id}, ${name}: ${shortened(text)}. ${read.error}` }
  return { id, column: name, before: row[name] ?? null, after: read.value }
}

function refusalOf({ height, width }: { height: number; width: number }, { rows, columns }: PasteTarget) {
  if (height > maxPastedRows)
    return `The block has ${height} rows; at most ${maxPastedRows} are pasted at once. Upload a file.`
  if (height > rows.length)
    return `The block has ${height} rows, and the table ends after ${rows.length}. Add rows first.`
  if (width > columns.length)
    return `The block has ${width} columns, and only ${columns.length} are shown from here on.`
  const fixed = columns.slice(0, width).find((column) => !isInlineColumn(column))
  if (fixed) return `The column “${fixed.name}” cannot be pasted into: hide it, or edit it in the form of a row.`
  return undefined
}

const mostNamed = 3
const shownLength = 40

const shortened = (text: string): string =>
  text.length > shownLength ? `“${text.slice(0, shownLength)}…”` : `“${text}”`

function faultsText(faults: readonly string[]): string {
  const others = faults.length - mostNamed
  return [...faults.slice(0, mostNamed), ...(others > 0 ? [`And ${others} more.`] : [])].join(' ')
}
