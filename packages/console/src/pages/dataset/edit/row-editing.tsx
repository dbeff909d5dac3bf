/** Editing on the table tab: the buttons that add, edit and delete rows, their shortcuts, and the sheet. */
import { createContext, type ReactElement, type ReactNode, use, useState } from 'react'
import { Button, type ButtonVariant } from '../../../components/button.tsx'
import { useToast } from '../../../components/toast.tsx'
import { useLetter } from '../../../shell/shortcuts.ts'
import { keyOf } from '../dataset.ts'
import type { OpenRow } from '../table/details.tsx'
import { type RowId, rowId } from '../table/selection.ts'
import type { TableState } from '../table/use-table.ts'
import { useDeleteRows } from './delete-rows.ts'
import { type Editability, useRowEditability } from './editability.ts'
import { useRenewTable } from './renew-table.ts'
import { RowSheet } from './row-sheet.tsx'

interface RowEditingAccess extends Editability {
  /** Why rows cannot be added, where others may be able to. */
  addRefusal: string | undefined
  /** Perhaps with what was drawn for it. */
  add(geometry?: object): void
  edit(id: RowId): void
  remove(ids: readonly RowId[]): void
  idOf(open: OpenRow): RowId | undefined
  selected: readonly RowId[]
}

const RowEditingContext = createContext<RowEditingAccess | null>(null)

interface RowEditingProps {
  table: TableState
  children: ReactNode
}

interface EditedRow {
  /** Null: a new row. */
  id: RowId | null
  geometry: object | undefined
}

/** Around the table tab; the buttons below are placed by its parts. */
export function RowEditing({ table, children }: RowEditingProps): ReactElement {
  const { dataset, selection, close } = table
  const editability = useRowEditability(dataset, 'write')
  const { refusal: addRefusal } = useRowEditability(dataset, 'append')
  const [edited, setEdited] = useState<EditedRow>()
  const written = useAfterWrite(table)
  const remove = useDeleteRows(dataset, () => written(undefined, 'deleted'))
  const isAllowed = editability.isOffered && editability.refusal === undefined
  const begin = (id: RowId | null, geometry?: object) => {
    close()
    setEdited({ id, geometry })
  }
  const [only, ...others] = selection.ids
  useLetter('n', () => editability.isOffered && addRefusal === undefined && begin(null))
  useLetter('e', () => isAllowed && only !== undefined && others.length === 0 && begin(only))
  useLetter('Delete', () => isAllowed && remove(selection.ids))
  const access: RowEditingAccess = {
    ...editability,
    addRefusal,
    add: (geometry) => begin(null, geometry),
    edit: (id) => begin(id),
    remove(ids) {
      close()
      remove(ids)
    },
    idOf: (open) => (open.index === null ? selection.ids.at(-1) : rowId(open.row, keyOf(dataset))),
    selected: selection.ids,
  }
  return (
    <RowEditingContext value={access}>
      {children}
      {edited && (
        <RowSheet
          dataset={dataset}
          {...edited}
          onClose={() => setEdited(undefined)}
          onSaved={(id) => {
            setEdited(undefined)
            written(id, edited.id === null ? 'added' : 'saved')
          }}
        />
      )}
    </RowEditingContext>
  )
}

function useAfterWrite(table: TableState) {
  const { selection } = table
  const renew = useRenewTable(table)
  const toast = useToast()
  return (id: RowId | undefined, what: 'added' | 'saved' | 'deleted') => {
    void renew()
    if (what === 'deleted') return selection.clear()
    toast.say({ title: id === undefined ? `The row is ${what}` : `Row ${id} is ${what}` })
    if (what === 'added' && id !== undefined) selection.onFeature(id, { isAdded: false })
    else selection.show()
  }
}

/** Null where rows are never written, and outside of the table tab. */
export function useOfferedEditing(): RowEditingAccess | null {
  const access = use(RowEditingContext)
  return access?.isOffered ? access : null
}

interface AddRowButtonProps {
  variant?: ButtonVariant
}

export function AddRowButton({ variant }: AddRowButtonProps): ReactElement | null {
  const editing = useOfferedEditing()
  if (!editing) return null
  return (
    <Button variant={variant} icon="plus" disabledReason={editing.addRefusal} onClick={() => editing.add()}>
      Add row
    </Button>
  )
}

/** For the status line, beside the number of selected rows. */
export function SelectedRowActions(): ReactElement | null {
  const editing = useOfferedEditing()
  if (!editing || editing.refusal) return null
  const [only, ...others] = editing.selected
  return (
    <>
      {only !== undefined && others.length === 0 && (
        <Button variant="ghost" onClick={() => editing.edit(only)}>
          edit
        </Button>
      )}
      <Button variant="ghost" onClick={() => editing.remove(editing.selected)}>
        delete
      </Button>
    </>
  )
}

interface OpenRowActionsProps {
  open: OpenRow
}

/** For the details of a row. */
export function OpenRowActions({ open }: OpenRowActionsProps): ReactElement | null {
  const editing = useOfferedEditing()
  const id = editing?.idOf(open)
  if (!editing || editing.refusal || id === undefined) return null
  return (
    <>
      <Button variant="ghost" icon="edit" onClick={() => editing.edit(id)}>
        Edit
      </Button>
      <Button variant="ghost" icon="trash" onClick={() => editing.remove([id])}>
        Delete
      </Button>
    </>
  )
}

interface FirstRowHintProps {
  datasetId: string
}

/** For a table without rows: how to add the first one. */
export function FirstRowHint({ datasetId }: FirstRowHintProps): ReactElement {
  const editing = useOfferedEditing()
  if (!editing) return <p>The rows of this dataset would be here.</p>
  return (
    <>
      <p>
        {editing.addRefusal ??
          'Add the first row here. Programs add rows by the API, one or thousands at once, as JSON, GeoJSON or CSV:'}
      </p>
      {!editing.addRefusal && <code>POST /api/v1/datasets/{datasetId}/rows</code>}
    </>
  )
}
