/** Somebody else has saved the same thing meanwhile: what differs, and the choice between the two versions. */
import type { ReactElement, ReactNode } from 'react'
import { Button } from '../button.tsx'
import { Note } from '../note.tsx'
import { layout } from '../page.tsx'
import classes from './edit-conflict.module.css'

export interface Difference {
  name: string
  mine: ReactNode
  theirs: ReactNode
}

export interface EditConflictProps {
  /** What has happened, as a sentence. */
  children: ReactNode
  /** What the names of the differences are. */
  of: string
  differences: readonly Difference[]
  onTakeTheirs(): void
  onSaveMine(): void
}

export function EditConflict({ children, of, differences, onTakeTheirs, onSaveMine }: EditConflictProps): ReactElement {
  return (
    <div role="alert">
      <Note kind="warn">
        <div className={layout.section}>
          <p>{children}</p>
          {differences.length > 0 && <Versions of={of} differences={differences} />}
          <div className={layout.row}>
            <Button onClick={onTakeTheirs}>Take theirs</Button>
            <Button variant="danger" onClick={onSaveMine}>
              Save mine over theirs
            </Button>
          </div>
        </div>
      </Note>
    </div>
  )
}

function Versions({ of, differences }: Pick<EditConflictProps, 'of' | 'differences'>): ReactElement {
  return (
    <div className={layout.scroll}>
      <table className={classes.versions}>
        <thead>
          <tr>
            <th scope="col">{of}</th>
            <th scope="col">Yours</th>
            <th scope="col">Theirs</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ name, mine, theirs }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{mine}</td>
              <td>{theirs}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
