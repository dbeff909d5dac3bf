/** The settings of a dataset: general fields, source, metadata, tile sources, and deletion. */
import type { Dataset } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../components/error-note.tsx'
import { useFaults } from '../../components/faults/use-faults.ts'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { useDataset } from './dataset.ts'
import { ConflictError, saveDataset } from './save-dataset.ts'
import { useSessionState } from './session-state.ts'
import { ConflictNote } from './settings/conflict-note.tsx'
import { DeleteDataset } from './settings/delete-dataset.tsx'
import { draftOf, isChanged, patchOf, type SettingsDraft } from './settings/draft.ts'
import { GeneralFields } from './settings/general-fields.tsx'
import { MetadataFields } from './settings/metadata-fields.tsx'
import { SaveBar } from './settings/save-bar.tsx'
import classes from './settings/settings.module.css'
import { SourceFields } from './settings/source-fields.tsx'
import { TileSources } from './settings/tile-sources.tsx'

export function SettingsTab(): ReactElement {
  const dataset = useDataset()
  return (
    <div className={classes.settings}>
      <SettingsForm key={dataset.id} dataset={dataset} />
      <TileSources dataset={dataset} />
      <DeleteDataset dataset={dataset} />
    </div>
  )
}

interface Editing {
  read: Dataset
  draft: SettingsDraft
}

const nothing: { editing?: Editing | undefined } = {}

interface SettingsFormProps {
  dataset: Dataset
}

function SettingsForm({ dataset }: SettingsFormProps): ReactElement {
  const [{ editing }, keep] = useSessionState(`settings ${dataset.id}`, nothing)
  // The draft keeps the version that it started from, even if the record is fetched again.
  const { read, draft } = editing ?? { read: dataset, draft: draftOf(dataset) }
  const isEdited = editing !== undefined && isChanged(read, draft)
  const save = useSave(draft, () => keep({ editing: undefined }))
  const change = (values: Partial<SettingsDraft>) => keep({ editing: { read, draft: { ...draft, ...values } } })
  const faults = useFaults(save.error)
  const props = { dataset, draft, change, errorAt: faults.at }
  const onSave = () => isEdited && save.mutate(read)
  return (
    <form
      className={classes.settings}
      style={{ padding: 0 }}
      onSubmit={(event) => {
        event.preventDefault()
        onSave()
      }}
    >
      <GeneralFields {...props} />
      <SourceFields {...props} />
      <MetadataFields {...props} faults={faults} onSave={onSave} />
      <SaveFault
        error={save.error}
        draft={draft}
        onTakeTheirs={() => {
          keep({ editing: undefined })
          save.reset()
        }}
        onSaveMine={save.mutate}
      />
      <SaveBar
        isEdited={isEdited}
        isSaving={save.isPending}
        datasetId={dataset.id}
        onDiscard={() => {
          keep({ editing: undefined })
          save.reset()
        }}
      />
    </form>
  )
}

interface SaveFaultProps {
  error: unknown
  draft: SettingsDraft
  onTakeTheirs(): void
  onSaveMine(theirs: Dataset): void
}

function SaveFault({ error, draft, onTakeTheirs, onSaveMine }: SaveFaultProps): ReactElement | null {
  if (!error) return null
  if (!(error instanceof ConflictError)) return <ErrorNote error={error} />
  const { theirs } = error
  return (
    <ConflictNote draft={draft} theirs={theirs} onTakeTheirs={onTakeTheirs} onSaveMine={() => onSaveMine(theirs)} />
  )
}

/** Saves the differences from a given version. */
function useSave(draft: SettingsDraft, onSaved: () => void) {
  const client = useClient()
  const cache = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: (read: Dataset) => saveDataset(client, read, patchOf(read, draft)),
    onSuccess: async (saved) => {
      cache.setQueryData(queryKeys.datasets.one(saved.id), saved)
      onSaved()
      toast.say({ title: 'Settings saved' })
      await cache.invalidateQueries({ queryKey: queryKeys.datasets.list })
    },
    onError: (error) => {
      if (error instanceof ConflictError) cache.setQueryData(queryKeys.datasets.one(error.theirs.id), error.theirs)
    },
  })
}
