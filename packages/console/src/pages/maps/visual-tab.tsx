/** The visual editor: the list of layers, the selected layer's panel, and the live map with its legend. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactElement, type ReactNode, useState, useSyncExternalStore } from 'react'
import { Button } from '../../components/button.tsx'
import { Note } from '../../components/note.tsx'
import { RecipePopups } from '../../map/popups/recipe-popups.tsx'
import { useClient } from '../../session/session.tsx'
import { useEditor } from './editor-context.tsx'
import type { EditorState } from './editor-store.ts'
import { isEditedByHand, withRecipes } from './recipe/map-style.ts'
import { StyleMap } from './style-map.tsx'
import { tileDescriptionQuery } from './styles-query.ts'
import { LayerList } from './visual-editor/layer-list.tsx'
import { LayerPanel } from './visual-editor/layer-panel.tsx'
import { MapFields } from './visual-editor/map-fields.tsx'
import { MapLegend } from './visual-editor/map-legend.tsx'
import { Sheet } from './visual-editor/sheet.tsx'
import classes from './visual-editor/visual-editor.module.css'

const route = getRouteApi('/shell/maps/$styleId/$tab')

interface VisualTabProps {
  state: EditorState
  onDiscardDraft(): void
}

export function VisualTab({ state, onDiscardDraft }: VisualTabProps): ReactElement {
  const { document, recipes, map } = useEditor()
  const { layer: chosen } = route.useSearch()
  const navigate = route.useNavigate()
  const [isFitted, setFitted] = useState(false)
  const layer = recipes.layers.find(({ id }) => id === chosen) ?? recipes.layers[0]
  const choose = (id: string) => void navigate({ search: (now) => ({ ...now, layer: id }), replace: true })
  const isByHand = isEditedByHand(document.style)
  const bounds = useFirstBounds()
  return (
    <div className={classes.editor}>
      <Sheet label="Layers and look">
        {state.draft !== null ? (
          <FaultyDraft onDiscard={onDiscardDraft} />
        ) : isByHand ? (
          <EditedByHand />
        ) : (
          <>
            <Fold title={layer ? `Layers: ${layer.name}` : 'Layers'}>
              <LayerList chosen={layer?.id} onChoose={choose} />
            </Fold>
            {layer && <LayerPanel key={layer.id} recipe={layer} />}
          </>
        )}
      </Sheet>
      <div className={classes.map}>
        {(bounds !== undefined || isFitted) && (
          <StyleMap
            label={`Map ${document.name}`}
            style={document.style}
            bounds={bounds ?? undefined}
            onReady={(ready) => {
              map.current = ready
              setFitted(true)
            }}
          >
            <MapLegend />
            <RecipePopups layers={recipes.layers} />
          </StyleMap>
        )}
      </div>
    </div>
  )
}

const narrow = matchMedia('(max-width: 700px)')

function subscribeNarrow(listener: () => void): () => void {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

interface FoldProps {
  title: string
  children: ReactNode
}

/** Collapsed on phones, to leave space for the selected layer. */
function Fold({ title, children }: FoldProps): ReactNode {
  const isNarrow = useSyncExternalStore(subscribeNarrow, () => narrow.matches)
  const { recipes } = useEditor()
  if (!isNarrow) return children
  return (
    <details className={classes.fold} open={recipes.layers.length === 0}>
      <summary>{title}</summary>
      {children}
    </details>
  )
}

/** The initial bounds: null if the style has a camera or there are no data; undefined while loading. */
function useFirstBounds(): readonly [number, number, number, number] | null | undefined {
  const { document, recipes } = useEditor()
  const client = useClient()
  const first = recipes.layers[0]
  const isAsked = document.style.center === undefined && first !== undefined
  const { data, isPending } = useQuery({ ...tileDescriptionQuery(client, first?.tilesId ?? ''), enabled: isAsked })
  if (!isAsked) return null
  return isPending ? undefined : (data?.bounds ?? null)
}

interface FaultyDraftProps {
  onDiscard(): void
}

/** Replaces the controls while there is invalid JSON, because they would change the map under the edited text. */
function FaultyDraft({ onDiscard }: FaultyDraftProps): ReactElement {
  return (
    <div className={classes.byHand}>
      <Note kind="warn">
        <p>
          <strong>The JSON has errors.</strong> What was written there last is not part of the map yet.
        </p>
      </Note>
      <p>Mend it in the JSON tab, or discard it to go on here with the last version without errors.</p>
      <Button onClick={onDiscard}>Discard the text with errors</Button>
    </div>
  )
}

function EditedByHand(): ReactElement {
  const { change, recipes } = useEditor()
  return (
    <div className={classes.byHand}>
      <MapFields />
      <Note kind="warn">
        <p>
          <strong>Edited by hand.</strong> Layers of this map were changed in its JSON, so they are no longer what the
          controls here would make. They stay as they are.
        </p>
      </Note>
      <p>
        You can go on in the JSON tab, or start again from what was chosen here last
        {recipes.layers.length > 0 && ` (${recipes.layers.map(({ name }) => name).join(', ')})`}. Changes made by hand
        to these layers are lost then; Undo brings them back.
      </p>
      <Button onClick={() => change((now) => ({ ...now, style: withRecipes(now.style, recipes) }))}>
        Start again from the recipe
      </Button>
    </div>
  )
}
