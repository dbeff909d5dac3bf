/** An edit conflict: shows both versions and lets the user choose. */
import type { Dataset } from '@graticule/client'
import type { ReactElement } from 'react'
import { EditConflict } from '../../../components/records/edit-conflict.tsx'
import { formatDate } from '../../../format.ts'
import { differences, type SettingsDraft } from './draft.ts'

export interface ConflictNoteProps {
  draft: SettingsDraft
  theirs: Dataset
  onTakeTheirs(): void
  onSaveMine(): void
}

const fieldLabels: Record<string, string> = { databaseId: 'database' }

export function ConflictNote({ draft, theirs, onTakeTheirs, onSaveMine }: ConflictNoteProps): ReactElement {
  const rows = differences(draft, theirs).map(({ field, mine, theirs: other }) => ({
    name: fieldLabels[field] ?? field,
    mine: <pre>{mine}</pre>,
    theirs: <pre>{other}</pre>,
  }))
  return (
    <EditConflict of="Field" differences={rows} onTakeTheirs={onTakeTheirs} onSaveMine={onSaveMine}>
      Somebody else saved this dataset at {formatDate(theirs.updatedAt)}, after you began. Nothing of yours was saved
      yet.
    </EditConflict>
  )
}
