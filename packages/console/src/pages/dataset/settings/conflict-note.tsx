/** An edit conflict: shows both versions and lets the user choose. */
import type { Dataset } from '@graticule/client'
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { Note } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { formatDate } from '../../../format.ts'
import { differences, type SettingsDraft } from './draft.ts'
import classes from './settings.module.css'

export interface ConflictNoteProps {
  draft: SettingsDraft
  theirs: Dataset
  onTakeTheirs(): void
  onSaveMine(): void
}

const fieldLabels: Record<string, string> = { databaseId: 'database' }

export function ConflictNote({ draft, theirs, onTakeTheirs, onSaveMine }: ConflictNoteProps): ReactElement {
  const rows = differences(draft, theirs)
  return (
    <div role="alert">
      <Note kind="warn">
        <div className={layout.section}>
          <p>
            Somebody else saved this dataset at {formatDate(theirs.updatedAt)}, after you began. Nothing of yours was
            saved yet.
          </p>
          {rows.length > 0 && (
            <div className={layout.scroll}>
              <table className={classes.versions}>
                <thead>
                  <tr>
                    <th scope="col">Field</th>
                    <th scope="col">Yours</th>
                    <th scope="col">Theirs</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ field, mine, theirs: other }) => (
                    <tr key={field}>
                      <th scope="row">{fieldLabels[field] ?? field}</th>
                      <td>
                        <pre>{mine}</pre>
                      </td>
                      <td>
                        <pre>{other}</pre>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
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
