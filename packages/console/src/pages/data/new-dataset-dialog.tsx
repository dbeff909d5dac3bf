/** The dialog that creates a dataset from a table, a query, a web service or a function. Errors are shown at their fields. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { ErrorNote } from '../../components/error-note.tsx'
import { useFaults } from '../../components/faults/use-faults.ts'
import { Checkbox, Segmented, TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { useClient, useMay } from '../../session/session.tsx'
import { type DatasetType, datasetTypes } from './data-search.ts'
import { makeTiles } from './make-tiles.ts'
import { type DatasetDraft, datasetOf, emptyDraft } from './new-dataset.ts'
import { ParameterFields } from './parameter-fields.tsx'
import { SourceFields } from './source-fields.tsx'
import { typeNames } from './type-names.ts'

/** The error paths that are shown at fields of the dialog. */
const shownPaths = [
  ...['name', 'description', 'source', 'databaseId', 'type'],
  ...['metadata/parameters', 'metadata/rest', 'metadata/tags', 'secrets'],
]

interface NewDatasetDialogProps {
  type: DatasetType
  onClose(): void
}

export function NewDatasetDialog({ type, onClose }: NewDatasetDialogProps): ReactElement {
  const [draft, setDraft] = useState(() => emptyDraft(type))
  const { mutate, reset, isPending, error } = useMake(onClose)
  const change = (changes: Partial<DatasetDraft>) => {
    setDraft((old) => ({ ...old, ...changes }))
    // The server's errors refer to the previous source.
    if (changes.source !== undefined) reset()
  }
  const faults = useFaults(error)
  return (
    <FormDialog
      title="New dataset"
      kind="wide"
      onClose={onClose}
      labels={['Make dataset', 'Making …']}
      isPending={isPending}
      missing={missing(draft)}
      error={faults.areOf(shownPaths) ? null : error}
      onSubmit={() => mutate(draft)}
    >
      <div className={layout.row}>
        <Segmented
          label="Type"
          value={draft.type}
          options={datasetTypes.map((value) => ({ value, label: typeNames[value] }))}
          onChange={(next) => change({ type: next, source: '' })}
        />
      </div>
      {faults.at('type') && <ErrorNote error={error} />}
      <SourceFields draft={draft} faultAt={faults.at} onChange={change} />
      <ParameterFields draft={draft} faultAt={faults.at} onChange={change} />
      <TextField
        label="Name"
        value={draft.name}
        maxLength={255}
        error={faults.at('name')}
        onChange={(name) => change({ name })}
      />
      <TextField
        label="Description"
        value={draft.description}
        maxLength={10_000}
        error={faults.at('description')}
        onChange={(description) => change({ description })}
      />
      <TextField
        label="Tags"
        hint="Separated by commas"
        value={draft.tags}
        error={faults.at('metadata/tags')}
        onChange={(tags) => change({ tags })}
      />
      <TilesChoice draft={draft} onChange={change} />
    </FormDialog>
  )
}

const missing = ({ name, source }: DatasetDraft): string | undefined =>
  source.trim() === '' ? 'Say first where the data come from.' : name.trim() === '' ? 'Give it a name.' : undefined

interface TilesChoiceProps {
  draft: DatasetDraft
  onChange(changes: Partial<DatasetDraft>): void
}

function TilesChoice({ draft, onChange }: TilesChoiceProps) {
  if (!useMay()('tiles', 'write')) return null
  return (
    <Checkbox
      label="If it has a geometry, serve it as map tiles too"
      isChecked={draft.isMapped}
      onChange={(isMapped) => onChange({ isMapped })}
    />
  )
}

function useMake(onClose: () => void) {
  const client = useClient()
  const cache = useQueryClient()
  const navigate = useNavigate()
  const mayMap = useMay()('tiles', 'write')
  const { say, fail } = useToast()
  return useMutation({
    mutationFn: (draft: DatasetDraft) => client.datasets.create(datasetOf(draft)),
    async onSuccess(dataset, { isMapped }) {
      onClose()
      say({ title: `The dataset “${dataset.name}” is made` })
      if (isMapped && mayMap) {
        await makeTiles(client, dataset).catch((error) => fail('It is not served as tiles', error))
      }
      for (const resource of ['datasets', 'tilesources']) void cache.invalidateQueries({ queryKey: [resource] })
      await navigate({ to: '/data/$datasetId/table', params: { datasetId: dataset.id } })
    },
  })
}
