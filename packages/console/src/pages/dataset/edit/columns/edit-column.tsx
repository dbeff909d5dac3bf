/** Renames, retypes and describes a column of a dataset's table. What another type would lose is said before. */
import type { Dataset } from '@graticule/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { IconButton } from '../../../../components/button.tsx'
import { useFaults } from '../../../../components/faults/use-faults.ts'
import { Checkbox, Select, TextField } from '../../../../components/field.tsx'
import { FormDialog } from '../../../../components/form-dialog.tsx'
import { useToast } from '../../../../components/toast.tsx'
import { queryKeys } from '../../../../query-keys.ts'
import { useClient } from '../../../../session/session.tsx'
import type { DatasetAttribute } from '../../dataset.ts'
import { columnFault, kindOf } from '../column-draft.ts'
import { SizeField } from '../column-fields.tsx'
import { useColumnEditability } from '../editability.ts'
import {
  type ColumnChangeDraft,
  changeOf,
  draftOfAttribute,
  kindsFor,
  newDbType,
  typeRefusal,
} from './column-change.ts'
import { ConversionNote } from './conversion-note.tsx'
import { DefaultFields } from './default-fields.tsx'
import { RenameNote } from './rename-note.tsx'

interface EditColumnProps {
  dataset: Dataset
  attribute: DatasetAttribute
}

export function EditColumn({ dataset, attribute }: EditColumnProps): ReactElement | null {
  const [isOpen, setOpen] = useState(false)
  const { isOffered, refusal } = useColumnEditability(dataset)
  if (!isOffered) return null
  return (
    <>
      <IconButton
        icon="edit"
        label={`Change the column ${attribute.name}`}
        disabledReason={refusal}
        onClick={() => setOpen(true)}
      />
      {isOpen && <EditColumnDialog dataset={dataset} attribute={attribute} onClose={() => setOpen(false)} />}
    </>
  )
}

interface EditColumnDialogProps extends EditColumnProps {
  onClose(): void
}

function EditColumnDialog({ dataset, attribute, onClose }: EditColumnDialogProps): ReactElement {
  const [draft, setDraft] = useState(() => draftOfAttribute(attribute))
  const [isLossMeant, setLossMeant] = useState(false)
  const save = useSaveColumn(dataset, attribute, onClose)
  const faults = useFaults(save.error)
  const conversion = useConversion(dataset, attribute, newDbType(attribute, draft))
  const losesUnmeant = (conversion.data?.lost ?? 0) > 0 && !isLossMeant
  const change = (changes: Partial<ColumnChangeDraft>) => {
    setDraft((before) => ({ ...before, ...changes }))
    save.reset()
  }
  return (
    <FormDialog
      title={`Change the column “${attribute.name}”`}
      onClose={onClose}
      labels={['Save', 'Saving …']}
      isPending={save.isPending}
      missing={missingOf(attribute, draft) ?? (losesUnmeant ? 'Say that the values may be lost.' : undefined)}
      error={faults.isEmpty ? save.error : null}
      onSubmit={() => save.mutate({ draft, isLossMeant })}
    >
      <TextField
        label="Name"
        value={draft.name}
        maxLength={63}
        autoComplete="off"
        spellCheck={false}
        hint="Queries and programs that name it by its old name fail from then on."
        error={faults.at('name')}
        onChange={(name) => change({ name })}
      />
      {draft.name.trim() !== attribute.name && <RenameNote dataset={dataset} attribute={attribute} />}
      <TypeFields attribute={attribute} draft={draft} errorAt={faults.at} onChange={change} />
      <ConversionNote conversion={conversion} isLossMeant={isLossMeant} onLossMeant={setLossMeant} />
      <DefaultFields attribute={attribute} draft={draft} errorAt={faults.at} onChange={change} />
      <TextField
        label="Description"
        value={draft.description}
        maxLength={1000}
        error={faults.at('description')}
        onChange={(description) => change({ description })}
      />
    </FormDialog>
  )
}

function missingOf(attribute: DatasetAttribute, draft: ColumnChangeDraft): string | undefined {
  if (draft.name.trim() === '') return 'Give it a name.'
  const isChanged = Object.keys(changeOf(attribute, draft)).length > 0
  return columnFault(draft) ?? (isChanged ? undefined : 'Nothing is changed.')
}

export interface ColumnPartProps {
  attribute: DatasetAttribute
  draft: ColumnChangeDraft
  errorAt(field: string): string | undefined
  onChange(changes: Partial<ColumnChangeDraft>): void
}

function TypeFields({ attribute, draft, errorAt, onChange }: ColumnPartProps): ReactElement {
  const refusal = typeRefusal(attribute)
  return (
    <>
      <Select
        label="Type"
        value={draft.kind}
        disabled={refusal !== undefined}
        hint={refusal ?? `Now ${attribute.dbType}`}
        options={kindsFor(attribute).map((value) => ({ value, label: kindOf(value).label }))}
        error={errorAt('type')}
        onChange={(kind) => onChange({ kind, size: '', preset: '' })}
      />
      {refusal === undefined && (
        <SizeField column={draft} errorAt={errorAt} onChange={onChange} label={(text) => text} isLabelHidden={false} />
      )}
      <Checkbox
        label="Required"
        isChecked={draft.isRequired || draft.isKey}
        disabled={draft.isKey}
        onChange={(isRequired) => onChange({ isRequired })}
      />
    </>
  )
}

/** What a new type would do to the values. */
function useConversion({ id }: Dataset, { name }: DatasetAttribute, dbType: string | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.datasets.one(id, 'conversion', name, dbType),
    queryFn: ({ signal }) => client.datasets.columnConversion(id, name, { dbType: dbType ?? '', signal }),
    enabled: dbType !== undefined,
    staleTime: 0,
    retry: false,
  })
}

interface SavedColumn {
  draft: ColumnChangeDraft
  isLossMeant: boolean
}

function useSaveColumn(dataset: Dataset, attribute: DatasetAttribute, onClose: () => void) {
  const client = useClient()
  const cache = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: ({ draft, isLossMeant }: SavedColumn) =>
      client.datasets.changeColumn(dataset.id, attribute.name, changeOf(attribute, draft), {
        onLoss: isLossMeant ? 'null' : 'refuse',
      }),
    onSuccess(changed, { draft }) {
      onClose()
      toast.say({ title: `The column “${draft.name.trim()}” is changed` })
      cache.setQueryData(queryKeys.datasets.one(dataset.id), changed)
      void cache.invalidateQueries({ queryKey: queryKeys.datasets.all })
    },
  })
}
