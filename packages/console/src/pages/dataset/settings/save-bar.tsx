/** The line below a form of a dataset: whether it is saved, and the buttons that save and discard. */
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { useRefusal } from '../../../session/session.tsx'
import classes from './settings.module.css'

export interface SaveBarProps {
  isEdited: boolean
  isSaving: boolean
  datasetId: string
  onDiscard(): void
}

export function SaveBar({ isEdited, isSaving, datasetId, onDiscard }: SaveBarProps): ReactElement {
  const refusal = useRefusal()('datasets', 'write', datasetId)
  return (
    <div className={classes.bar}>
      <span className={classes.muted} role="status">
        {isEdited ? 'Not saved yet.' : 'All is saved.'}
      </span>
      <Button disabled={!isEdited || isSaving} onClick={onDiscard}>
        Discard
      </Button>
      <Button type="submit" variant="primary" icon="save" disabled={!isEdited || isSaving} disabledReason={refusal}>
        {isSaving ? 'Saving …' : 'Save'}
      </Button>
    </div>
  )
}
