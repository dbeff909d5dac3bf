/** An edit conflict of a row: what differs, and the choice between the two states. */
import type { ReactElement } from 'react'
import { Note } from '../../../components/note.tsx'
import { type Difference, EditConflict } from '../../../components/records/edit-conflict.tsx'
import type { DatasetAttribute } from '../dataset.ts'
import { type CellDraft, isNull } from './cell-draft.ts'
import { changedColumns, type RowDraft, rowDraft } from './row-draft.ts'
import type { StoredRow } from './row-requests.ts'

export interface RowConflictNoteProps {
  attributes: readonly DatasetAttribute[]
  /** The row as it was when the form was opened. */
  before: RowDraft
  mine: RowDraft
  /** Null: the row was deleted. */
  theirs: StoredRow | null
  onTakeTheirs(theirs: StoredRow): void
  onSaveMine(theirs: StoredRow): void
}

export function RowConflictNote({ theirs, onTakeTheirs, onSaveMine, ...drafts }: RowConflictNoteProps): ReactElement {
  if (!theirs)
    return (
      <div role="alert">
        <Note kind="warn">Somebody else has deleted this row meanwhile. Nothing was saved.</Note>
      </div>
    )
  return (
    <EditConflict
      of="Column"
      differences={differencesOf({ ...drafts, theirs: rowDraft(drafts.attributes, theirs.row) })}
      onTakeTheirs={() => onTakeTheirs(theirs)}
      onSaveMine={() => onSaveMine(theirs)}
    >
      Somebody else has changed this row after you opened it. Nothing of yours was saved yet.
    </EditConflict>
  )
}

interface Drafts {
  attributes: readonly DatasetAttribute[]
  before: RowDraft
  mine: RowDraft
  theirs: RowDraft
}

/** The columns that one of the two has changed. */
function differencesOf({ attributes, before, mine, theirs }: Drafts): Difference[] {
  const [byMe, byThem] = [changedColumns(attributes, before, mine), changedColumns(attributes, before, theirs)]
  return attributes
    .filter((one) => byMe.includes(one) || byThem.includes(one))
    .map((one) => ({
      name: one.name,
      mine: byMe.includes(one) ? shownCell(mine[one.name]) : <em>not changed, theirs stays</em>,
      theirs: shownCell(theirs[one.name]),
    }))
}

const shownLength = 200

function shownCell({ mode, text, point }: CellDraft = isNull): ReactElement | string {
  if (mode === 'null') return <em>null</em>
  const shown = point?.join(', ') ?? text
  return shown.length > shownLength ? `${shown.slice(0, shownLength)}…` : shown
}
