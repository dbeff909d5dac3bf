/** The settings of a tile source: name, zooms, extent and attribution. */
import type { TileSource } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { TextField } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import { draftOf, extentFault, patchOf, sides, type TileDraft, type TileSetExtent, textsOf } from './tile-draft.ts'
import classes from './tiles.module.css'
import { ZoomBar } from './zoom-bar.tsx'

export interface TileSettingsProps {
  record: TileSource
  draft: TileDraft
  onDraft(draft: TileDraft): void
  /** The current view of the map. */
  getView(): TileSetExtent | undefined
}

export function TileSettings({ record, draft, onDraft, getView }: TileSettingsProps): ReactElement {
  const refusal = useRefusal()('tiles', 'write', record.id)
  const patch = patchOf(record, draft)
  const { save, findOut } = useChanges(record, onDraft)
  const isDisabled = refusal !== undefined
  const set = (change: Partial<TileDraft>) => onDraft({ ...draft, ...change })
  return (
    <form
      className={layout.section}
      aria-label="Settings of the tile source"
      onSubmit={(event) => {
        event.preventDefault()
        if (patch) save.mutate(patch)
      }}
    >
      <TextField
        label="Name"
        value={draft.name}
        placeholder="As its data are called"
        disabled={isDisabled}
        onChange={(name) => set({ name })}
      />
      <ZoomBar minZoom={draft.minZoom} maxZoom={draft.maxZoom} isDisabled={isDisabled} onChange={set} />
      <ExtentFields draft={draft} isDisabled={isDisabled} onDraft={onDraft} getView={getView} />
      <TextField
        label="Attribution"
        hint="Text or links, shown on maps."
        value={draft.attribution}
        disabled={isDisabled}
        onChange={(attribution) => set({ attribution })}
      />
      {save.error && <ErrorNote error={save.error} />}
      {findOut.error && <ErrorNote error={findOut.error} />}
      <div className={layout.row}>
        <Button
          type="submit"
          variant="primary"
          disabled={!isDisabled && (!patch || save.isPending)}
          disabledReason={refusal}
        >
          {save.isPending ? 'Saving …' : 'Save'}
        </Button>
        {patch && <Button onClick={() => onDraft(draftOf(record))}>Reset</Button>}
        <Button icon="refresh" disabled={findOut.isPending} disabledReason={refusal} onClick={() => findOut.mutate()}>
          {findOut.isPending ? 'Looking at the data …' : 'Find out zooms and extent'}
        </Button>
      </div>
    </form>
  )
}

function useChanges(record: TileSource, onDraft: (draft: TileDraft) => void) {
  const client = useClient()
  const queries = useQueryClient()
  const { say } = useToast()
  const settled = async (changed: TileSource) => {
    onDraft(draftOf(changed))
    say({ title: 'The tile source is saved' })
    await queries.invalidateQueries({ queryKey: queryKeys.tilesources.all })
  }
  const save = useMutation({
    mutationFn: (patch: Parameters<typeof client.tileSources.patch>[1]) => client.tileSources.patch(record.id, patch),
    onSuccess: settled,
  })
  const findOut = useMutation({
    // Null restores the values detected from the data.
    mutationFn: () => client.tileSources.patch(record.id, { minZoom: null, maxZoom: null, extentLngLat: null }),
    onSuccess: settled,
  })
  return { save, findOut }
}

interface ExtentFieldsProps {
  draft: TileDraft
  isDisabled: boolean
  onDraft(draft: TileDraft): void
  getView(): TileSetExtent | undefined
}

function ExtentFields({ draft, isDisabled, onDraft, getView }: ExtentFieldsProps): ReactElement {
  const fault = extentFault(draft)
  const change = (index: number, text: string) => {
    const next = draft.extent.map((old, at) => (at === index ? text : old))
    onDraft({ ...draft, extent: next as unknown as TileDraft['extent'] })
  }
  return (
    <fieldset className={classes.extent}>
      <legend>Extent in degrees</legend>
      {sides.map((side, index) => (
        <TextField
          key={side}
          label={side}
          inputMode="decimal"
          value={draft.extent[index] ?? ''}
          disabled={isDisabled}
          aria-invalid={fault !== undefined}
          onChange={(text) => change(index, text)}
        />
      ))}
      {fault && (
        <p role="alert" className={classes.fault}>
          {fault}
        </p>
      )}
      <Button
        icon="locate"
        disabled={isDisabled}
        onClick={() => {
          const view = getView()
          if (view) onDraft({ ...draft, extent: textsOf(view) })
        }}
      >
        Use what the map shows
      </Button>
    </fieldset>
  )
}
