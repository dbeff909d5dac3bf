/** The dialog for a new map: a dataset on a base map, or JSON. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { Select } from '../../../components/field.tsx'
import { useClient } from '../../../session/session.tsx'
import { newMapId, useEditorActions, useEditorState } from '../editor-store.ts'
import { noBaseId } from '../new-map.ts'
import { isBaseStyle, styleListQuery } from '../styles-query.ts'
import { DatasetChoice } from '../visual-editor/dataset-choice.tsx'
import classes from './maps-page.module.css'

interface NewMapDialogProps {
  isOpen: boolean
  onClose(): void
}

export function NewMapDialog({ isOpen, onClose }: NewMapDialogProps): ReactElement {
  const client = useClient()
  const navigate = useNavigate()
  const unfinished = useEditorState(newMapId)
  const { discard } = useEditorActions(newMapId)
  const { data: styles = [] } = useQuery(styleListQuery(client))
  const bases = styles.filter(isBaseStyle)
  const light = bases.find(({ metadata }) => metadata.base === 'light') ?? bases[0]
  const [chosen, setChosen] = useState<string | null>(null)
  const base = chosen ?? light?.id ?? noBaseId
  const begin = (tab: string, search: { dataset?: string; base?: string }) => {
    discard()
    void navigate({ to: '/maps/$styleId/$tab', params: { styleId: newMapId, tab }, search })
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="New map"
      actions={
        <>
          {unfinished && (
            <Button
              onClick={() => void navigate({ to: '/maps/$styleId/$tab', params: { styleId: newMapId, tab: 'look' } })}
            >
              Go on with “{unfinished.history.present.name}”
            </Button>
          )}
          <Button onClick={() => begin('json', { base: noBaseId })}>Blank JSON</Button>
          <Button onClick={() => begin('look', { base })}>Only the base map</Button>
        </>
      }
    >
      <div className={classes.choices}>
        <Select
          label="Base map"
          value={base}
          options={[...bases.map(({ id, name }) => ({ value: id, label: name })), { value: noBaseId, label: 'None' }]}
          onChange={setChosen}
        />
        <p>Choose the data to show. More can be added later.</p>
        <DatasetChoice onChoose={({ id }) => begin('look', { dataset: id, base })} />
      </div>
    </Dialog>
  )
}
