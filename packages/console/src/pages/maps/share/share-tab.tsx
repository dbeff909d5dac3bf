/** The share tab: what readers can do, links and code with their own keys, and the list of those keys. */
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { Empty, Note } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { type EditorState, isUnsaved } from '../editor-store.ts'
import { NewShare } from './new-share.tsx'
import { ReaderTools } from './reader-tools.tsx'
import classes from './share-tab.module.css'
import { Shares } from './shares.tsx'

interface ShareTabProps {
  id: string
  state: EditorState
  onSave(): void
}

export function ShareTab({ id, state, onSave }: ShareTabProps): ReactElement {
  if (!state.record || !state.saved) {
    return (
      <Empty
        title="Save the map to share it"
        action={
          <Button variant="primary" icon="save" onClick={onSave}>
            Save
          </Button>
        }
      >
        <p>A link shows the map as it was saved last, to anybody who has the link.</p>
      </Empty>
    )
  }
  return (
    <div className={`${layout.padded} ${classes.share}`}>
      {isUnsaved(state) && (
        <Note kind="warn">
          Shared pages show the map as it was saved last. <Button onClick={onSave}>Save the changes</Button>
        </Note>
      )}
      <NewShare styleId={id} name={state.saved.name} style={state.saved.style} />
      <ReaderTools />
      <Shares styleId={id} name={state.saved.name} />
    </div>
  )
}
