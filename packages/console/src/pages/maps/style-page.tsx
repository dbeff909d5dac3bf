/** The page of a map with its editor. Unsaved changes survive navigation. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactElement, useEffect, useEffectEvent } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { layout, Page } from '../../components/page.tsx'
import { useClient } from '../../session/session.tsx'
import { type EditorState, isTouched, isUnsaved, newMapId, useEditorActions, useEditorState } from './editor-store.ts'
import { MapEditor } from './map-editor.tsx'
import { newMapQuery } from './new-map.ts'
import { styleQuery } from './styles-query.ts'

const route = getRouteApi('/shell/maps/$styleId/$tab')
const maps = { to: '/maps', label: 'All maps' }

export function StylePage(): ReactElement {
  const { styleId } = route.useParams()
  return styleId === newMapId ? <NewMap /> : <StoredMap key={styleId} id={styleId} />
}

interface StoredMapProps {
  id: string
}

function StoredMap({ id }: StoredMapProps): ReactElement {
  const client = useClient()
  const state = useEditorState(id)
  const actions = useEditorActions(id)
  const { data, error, refetch } = useQuery(styleQuery(client, id))
  // Takes over a version that somebody else saved, unless there are unsaved changes.
  const takeOver = useEffectEvent(() => {
    if (data && (!state || (!isUnsaved(state) && state.etag !== data.etag))) actions.open(data.record, data.etag)
  })
  useEffect(() => takeOver(), [data])
  if (state) return <MapEditor id={id} state={state} actions={actions} />
  return <Waiting title="Map" error={error} onRetry={refetch} />
}

function NewMap(): ReactElement {
  const client = useClient()
  const { dataset, base } = route.useSearch()
  const state = useEditorState(newMapId)
  const actions = useEditorActions(newMapId)
  const isOther = state !== undefined && dataset !== undefined && state.origin !== dataset
  const isBegun = state !== undefined && !(isOther && !isTouched(state))
  const { data, error, refetch } = useQuery({ ...newMapQuery(client, { dataset, base }), enabled: !isBegun })
  const begin = useEffectEvent(() => {
    if (data && !isBegun) actions.begin(data, dataset)
  })
  useEffect(() => begin(), [data])
  if (!isBegun) return <Waiting title="New map" error={error} onRetry={refetch} />
  if (isOther) return <Unfinished state={state} onDiscard={actions.discard} />
  return <MapEditor id={newMapId} state={state} actions={actions} />
}

interface UnfinishedProps {
  state: EditorState
  onDiscard(): void
}

/** Asks what to do with an unsaved new map when another one is started. */
function Unfinished({ state, onDiscard }: UnfinishedProps): ReactElement {
  const navigate = route.useNavigate()
  return (
    <Page title="New map" back={maps}>
      <Empty
        title={`“${state.history.present.name}” is not saved yet`}
        action={
          <div className={layout.row}>
            <Button variant="primary" onClick={() => void navigate({ search: {}, replace: true })}>
              Go on with it
            </Button>
            <Button variant="danger" onClick={onDiscard}>
              Discard it and begin a new map
            </Button>
          </div>
        }
      >
        <p>You began a map before and changed it. Go on with it and save it, or discard it.</p>
      </Empty>
    </Page>
  )
}

interface WaitingProps {
  title: string
  error: unknown
  onRetry(): unknown
}

function Waiting({ title, error, onRetry }: WaitingProps): ReactElement {
  return (
    <Page title={title} back={maps} isPadded={error !== null}>
      {error ? <ErrorNote error={error} onRetry={() => void onRetry()} /> : <Skeleton height="100%" />}
    </Page>
  )
}
