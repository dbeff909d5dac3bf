/** The map editor: title, undo, save, and three tabs. */

import { seenOf } from '@graticule/map/recipe'
import { getRouteApi } from '@tanstack/react-router'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { lazy, type ReactElement, Suspense } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { Skeleton, StatusDot, Tag } from '../../components/note.tsx'
import { LinkTabs, Page } from '../../components/page.tsx'
import { formatRelative } from '../../format.ts'
import { useRefusal } from '../../session/session.tsx'
import { useLeaveWarning } from '../../shell/leave-warning.ts'
import { EditorProvider, useEditor } from './editor-context.tsx'
import { useEditorShortcuts } from './editor-shortcuts.ts'
import { type EditorActions, type EditorState, isUnsaved, type MapDocument } from './editor-store.ts'
import { withDescription, withSeenBreaks } from './recipe/map-style.ts'
import { ShareTab } from './share/share-tab.tsx'
import { viewOf } from './start-view.ts'
import { isBaseStyle } from './styles-query.ts'
import { type Save, useSave } from './use-save.ts'
import { VisualTab } from './visual-tab.tsx'

const JsonTab = lazy(async () => ({ default: (await import('./json-tab.tsx')).JsonTab }))

const route = getRouteApi('/shell/maps/$styleId/$tab')
const tabs = [
  { tab: 'look', label: 'Look' },
  { tab: 'json', label: 'JSON' },
  { tab: 'share', label: 'Share' },
]

export interface MapEditorProps {
  id: string
  state: EditorState
  actions: EditorActions
}

export function MapEditor(props: MapEditorProps): ReactElement {
  return (
    <EditorProvider document={props.state.history.present} change={props.actions.change}>
      <Frame {...props} />
    </EditorProvider>
  )
}

function Frame({ id, state, actions }: MapEditorProps): ReactElement {
  const { tab } = route.useParams()
  const { map } = useEditor()
  const saving = useSave(id, tab, state, actions, (document) => prepared(document, map.current?.gl))
  const unsaved = isUnsaved(state)
  const maySave = useRefusal()('styles', 'write', state.record?.id) === undefined
  useEditorShortcuts({
    undo: actions.undo,
    redo: actions.redo,
    save: () => unsaved && maySave && state.draft === null && !saving.isSaving && saving.save(),
  })
  useLeaveWarning(unsaved)
  return (
    <Page
      title={state.history.present.name || 'Map without a name'}
      facts={<Facts state={state} />}
      back={{ to: '/maps', label: 'All maps' }}
      isPadded={false}
      tabs={
        <LinkTabs label="Parts of the map" tabs={tabs.map(({ tab, label }) => ({ to: `/maps/${id}/${tab}`, label }))} />
      }
      actions={<Actions state={state} actions={actions} saving={saving} />}
    >
      {tab === 'json' ? (
        <Suspense fallback={<Skeleton height="100%" />}>
          <JsonTab state={state} actions={actions} saving={saving} />
        </Suspense>
      ) : tab === 'share' ? (
        <ShareTab id={id} state={state} onSave={saving.save} />
      ) : (
        <VisualTab state={state} onDiscardDraft={() => actions.setDraft(null)} />
      )}
    </Page>
  )
}

interface FactsProps {
  state: EditorState
}

function Facts({ state }: FactsProps): ReactElement {
  if (isUnsaved(state)) return <StatusDot kind="warn">Unsaved changes</StatusDot>
  return (
    <>
      {state.record && `Saved ${formatRelative(state.record.updatedAt)}`}{' '}
      {state.record && isBaseStyle(state.record) && <Tag>base map</Tag>}
    </>
  )
}

function Actions({ state, actions, saving }: Omit<MapEditorProps, 'id'> & { saving: Save }): ReactElement {
  const refusal = useRefusal()
  const { past, future } = state.history
  const isFaulty = state.draft !== null
  return (
    <>
      <IconButton icon="undo" label="Undo (Ctrl+Z)" disabled={past.length === 0} onClick={actions.undo} />
      <IconButton icon="redo" label="Redo (Ctrl+Shift+Z)" disabled={future.length === 0} onClick={actions.redo} />
      <Button
        variant="primary"
        icon="save"
        disabled={saving.isSaving || !(isUnsaved(state) || isFaulty)}
        disabledReason={
          refusal('styles', 'write', state.record?.id) ??
          (isFaulty ? 'The JSON has errors. Mend them or undo, then save.' : undefined)
        }
        onClick={saving.save}
      >
        {saving.isSaving ? 'Saving …' : 'Save'}
      </Button>
    </>
  )
}

/** Adds what shared pages show (name, description, classes of cells as they are seen), and the current camera if the style has none. */
function prepared(document: MapDocument, gl: MapLibreMap | undefined): MapDocument {
  const name = document.name.trim() || 'Map without a name'
  const described = withDescription(document.style, document.description.trim())
  const style = gl ? withSeenBreaks(described, seenOf(gl)) : described
  const view = style.center === undefined && gl ? viewOf(gl) : null
  if (!view && style === document.style && style.name === name && document.name === name) return document
  return { ...document, name, style: { ...style, name, ...view } }
}
