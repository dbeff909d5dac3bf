/** Shows a new key to copy, and offers to delete the one it replaces. No form: nothing is filled in or sent, and there is nothing to cancel. */
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { CodeBlock } from '../../../components/copyable.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { Note } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import type { CreatedKey } from './key-editor.tsx'

interface CreatedKeyDialogProps {
  created: CreatedKey
  /** The description of the key to replace. */
  replaces: string | null
  onDeleteOld(): void
  onClose(): void
}

export function CreatedKeyDialog({ created, replaces, onDeleteOld, onClose }: CreatedKeyDialogProps): ReactElement {
  const actions = (
    <>
      {replaces !== null && (
        <Button variant="danger" onClick={onDeleteOld}>
          Delete the old key …
        </Button>
      )}
      <Button variant="primary" onClick={onClose}>
        {replaces === null ? 'Done' : 'Keep both for now'}
      </Button>
    </>
  )
  return (
    <Dialog isOpen onClose={onClose} title={`Key “${created.description}” is made`} actions={actions}>
      <div className={layout.section}>
        <CodeBlock text={created.id} label="the new key" />
        <p>It is in the list too: “Reveal” shows it again to keys that may do as much.</p>
        {replaces !== null && (
          <Note kind="warn">
            “{replaces}” still works. Put the new key wherever the old one is used, then delete the old one.
          </Note>
        )}
      </div>
    </Dialog>
  )
}
