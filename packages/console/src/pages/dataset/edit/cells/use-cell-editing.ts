/** Editing in the table: the cell that is being edited, paste, and several rows at once. */
import { useState } from 'react'
import { type DatasetAttribute, keyOf } from '../../dataset.ts'
import { type Row, type RowId, rowId } from '../../table/selection.ts'
import type { TableState } from '../../table/use-table.ts'
import type { CellDraft } from '../cell-draft.ts'
import { useOfferedEditing } from '../row-editing.tsx'
import { inlineDraft, isInlineColumn, isInlineValue, isSameValue, readInline } from './inline-cell.ts'
import { type ChangeCells, useChangeCells } from './use-change-cells.ts'
import { type FillRows, useFillRows } from './use-fill-rows.ts'
import { type PasteArea, usePaste } from './use-paste.ts'

export interface EditedCell {
  id: RowId
  row: Row
  attribute: DatasetAttribute
  draft: CellDraft
  /** Shown after an attempt to save it. */
  error?: string
}

export interface CellEditing extends ChangeCells {
  edited: EditedCell | null
  /** The selected rows, where the edited cell is in one of several. */
  together: readonly RowId[]
  /** Begins to edit a cell, in its place or in the form; false if it cannot be edited. */
  begin(row: Row | undefined, attribute: DatasetAttribute): boolean
  /** Whether a cell is edited in its place, as `begin` would. */
  isInline(row: Row | undefined, attribute: DatasetAttribute): boolean
  set(draft: CellDraft): void
  /** False if what was typed is wrong. */
  save(areAllSelected?: boolean): boolean
  giveUp(): void
  /** Gives all selected rows the same value. */
  fill: FillRows
  paste(text: string, target: PasteArea): void
}

/** Null where the rows of the table cannot be written. */
export function useCellEditing(table: TableState): CellEditing | null {
  const { dataset, selection } = table
  const access = useOfferedEditing()
  const cells = useChangeCells(table)
  const [edited, setEdited] = useState<EditedCell | null>(null)
  const fill = useFillRows(table, cells)
  const paste = usePaste(table, cells, fill)
  if (!access || access.refusal) return null
  const key = keyOf(dataset)
  const isTogether = edited !== null && selection.ids.length > 1 && selection.isSelected(edited.row)
  return {
    ...cells,
    edited,
    together: isTogether ? selection.ids : [],
    isInline: (row, attribute) => row !== undefined && isInlineColumn(attribute) && isInlineValue(row[attribute.name]),
    begin(row, attribute) {
      const id = rowId(row, key)
      if (!row || id === undefined || attribute.primaryKey || attribute.generated === 'always') return false
      const mark = cells.marks.get(String(id))?.get(attribute.name)
      const value = mark ? mark.value : row[attribute.name]
      if (isInlineColumn(attribute) && isInlineValue(value))
        setEdited({ id, row, attribute, draft: inlineDraft(attribute, value) })
      else access.edit(id)
      return true
    },
    set: (draft) =>
      setEdited((before) => before && { id: before.id, row: before.row, attribute: before.attribute, draft }),
    save(areAllSelected = false) {
      if (!edited) return true
      const { id, row, attribute, draft } = edited
      const read = readInline(attribute, draft)
      if ('error' in read) {
        setEdited({ ...edited, error: read.error })
        return false
      }
      setEdited(null)
      if (areAllSelected && isTogether) fill(attribute, read.value)
      else saveOne(cells, { id, column: attribute.name, row, after: read.value })
      return true
    },
    giveUp: () => setEdited(null),
    fill,
    paste,
  }
}

interface SavedCell {
  id: RowId
  column: string
  row: Row
  after: Row[string]
}

/** What is saved just now, or could not be, is what the user sees and has edited. */
function saveOne(cells: ChangeCells, { id, column, row, after }: SavedCell): void {
  const mark = cells.marks.get(String(id))?.get(column)
  const stored = row[column] ?? null
  const before = mark && mark.failure === undefined ? mark.value : stored
  if (!isSameValue(before, after)) cells.change([{ id, column, before, after }])
  else if (mark) cells.forget({ id, column, before, after: mark.value })
}
