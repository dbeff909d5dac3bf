/** Pastes a block from a spreadsheet into the table, or one value into all selected rows. */
import { useToast } from '../../../../components/toast.tsx'
import { type DatasetAttribute, keyOf } from '../../dataset.ts'
import { type Row, rowId } from '../../table/selection.ts'
import type { TableState } from '../../table/use-table.ts'
import { readClipboardTable } from './clipboard-table.ts'
import { isInlineColumn, readInline, typedDraft } from './inline-cell.ts'
import { pastedChanges } from './pasted-cells.ts'
import type { ChangeCells } from './use-change-cells.ts'
import type { FillRows } from './use-fill-rows.ts'

/** The cells from one on, to the right and down. */
export interface PasteArea {
  rowCount: number
  /** Undefined while it is not loaded. */
  rowAt(offset: number): Row | undefined
  columns: readonly DatasetAttribute[]
}

export function usePaste({ dataset, selection }: TableState, { change }: ChangeCells, fill: FillRows) {
  const toast = useToast()
  const key = keyOf(dataset)
  const refuse = (reason: string) => toast.fail('Nothing was pasted', new Error(reason))
  const pasteInAll = (text: string, attribute: DatasetAttribute) => {
    const read = isInlineColumn(attribute) ? readInline(attribute, typedDraft(attribute, text)) : { error: notInline }
    if ('error' in read) refuse(read.error)
    else fill(attribute, read.value)
  }
  return (text: string, { rowCount, rowAt, columns }: PasteArea) => {
    const block = readClipboardTable(text)
    const [first, attribute] = [rowAt(0), columns[0]]
    const isInSelection = first !== undefined && selection.ids.length > 1 && selection.isSelected(first)
    if (isInSelection && attribute && isOneCell(block)) pasteInAll(block[0]?.[0] ?? '', attribute)
    else {
      const rows = Array.from({ length: Math.min(block.length, rowCount) }, (_, offset) => rowAt(offset))
      const targets = rows.flatMap((row) => (row ? [{ id: rowId(row, key) ?? '', row }] : []))
      const areLoaded = targets.length === rows.length
      const pasted = areLoaded ? pastedChanges(block, { rows: targets, columns }) : { error: notLoaded }
      if ('error' in pasted) refuse(pasted.error)
      else change(pasted.changes)
    }
  }
}

const isOneCell = (block: readonly (readonly string[])[]): boolean => block.length === 1 && block[0]?.length === 1

const notInline = 'This column is not edited in the table. Use the form of a row.'
const notLoaded = 'Some rows that it would cover are not loaded yet. Scroll to them once, then paste again.'
