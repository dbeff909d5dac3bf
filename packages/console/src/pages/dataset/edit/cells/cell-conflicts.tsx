/** What somebody else has changed before a cell was saved: both values, and the choice between them. */
import type { Dataset } from '@graticule/client'
import type { ReactElement } from 'react'
import { Dialog } from '../../../../components/dialog.tsx'
import { type Difference, EditConflict } from '../../../../components/records/edit-conflict.tsx'
import { formatCell } from '../../attribute.ts'
import type { CellConflict } from './send-changes.ts'
import type { CellEditing } from './use-cell-editing.ts'

interface CellConflictsProps {
  cells: CellEditing
  dataset: Dataset
}

export function CellConflicts({ cells, dataset }: CellConflictsProps): ReactElement | null {
  const { conflicts, takeTheirs, saveMine } = cells
  if (conflicts.length === 0) return null
  return (
    <Dialog isOpen title="Not saved yet" onClose={takeTheirs}>
      <EditConflict
        of="Cell"
        differences={conflicts.map((one) => differenceOf(one, dataset))}
        onTakeTheirs={takeTheirs}
        onSaveMine={saveMine}
      >
        Somebody else has changed {conflicts.length === 1 ? 'this cell' : 'these cells'} meanwhile.
      </EditConflict>
    </Dialog>
  )
}

function differenceOf({ change, theirs }: CellConflict, { attributes }: Dataset): Difference {
  const { id, column, after } = change
  const attribute = attributes.find(({ name }) => name === column)
  const shown = (value: unknown) => (attribute && formatCell(attribute, value)) ?? <em>null</em>
  return {
    name: `${column} of row ${id}`,
    mine: shown(after),
    theirs: theirs === undefined ? <em>the row is deleted</em> : shown(theirs),
  }
}
