/** An edit conflict of a row: what differs, and the choice between the two states. */
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { Note } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import type { DatasetAttribute } from '../dataset.ts'
import { type CellDraft, isNull } from './cell-draft.ts'
import classes from './edit.module.css'
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
    <div role="alert">
      <Note kind="warn">
        <div className={layout.section}>
          <p>Somebody else has changed this row after you opened it. Nothing of yours was saved yet.</p>
          <Differences {...drafts} theirs={rowDraft(drafts.attributes, theirs.row)} />
          <div className={layout.row}>
            <Button onClick={() => onTakeTheirs(theirs)}>Take theirs</Button>
            <Button variant="danger" onClick={() => onSaveMine(theirs)}>
              Save mine over theirs
            </Button>
          </div>
        </div>
      </Note>
    </div>
  )
}

interface DifferencesProps {
  attributes: readonly DatasetAttribute[]
  before: RowDraft
  mine: RowDraft
  theirs: RowDraft
}

/** The columns that one of the two has changed. */
function Differences({ attributes, before, mine, theirs }: DifferencesProps): ReactElement {
  const [byMe, byThem] = [changedColumns(attributes, before, mine), changedColumns(attributes, before, theirs)]
  const shown = attributes.filter((one) => byMe.includes(one) || byThem.includes(one))
  return (
    <div className={layout.scroll}>
      <table className={classes.versions}>
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Yours</th>
            <th scope="col">Theirs</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <tr key={one.name}>
              <th scope="row">{one.name}</th>
              <td>{byMe.includes(one) ? shownCell(mine[one.name]) : <em>not changed, theirs stays</em>}</td>
              <td>{shownCell(theirs[one.name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const shownLength = 200

function shownCell({ mode, text, point }: CellDraft = isNull): ReactElement | string {
  if (mode === 'null') return <em>null</em>
  const shown = point?.join(', ') ?? text
  return shown.length > shownLength ? `${shown.slice(0, shownLength)}…` : shown
}
