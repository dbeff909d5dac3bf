/** Adds a column to the table of a dataset. */
import type { Dataset } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { useFaults } from '../../../components/faults/use-faults.ts'
import { TextField } from '../../../components/field.tsx'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { type ColumnDraft, columnFault, columnOf, emptyColumn } from './column-draft.ts'
import { ColumnFields } from './column-fields.tsx'
import { useColumnEditability } from './editability.ts'

interface AddColumnProps {
  dataset: Dataset
}

export function AddColumn({ dataset }: AddColumnProps): ReactElement | null {
  const [isOpen, setOpen] = useState(false)
  const { isOffered, refusal } = useColumnEditability(dataset)
  if (!isOffered) return null
  return (
    <>
      <Button icon="plus" disabledReason={refusal} onClick={() => setOpen(true)}>
        Add column
      </Button>
      {isOpen && <AddColumnDialog dataset={dataset} onClose={() => setOpen(false)} />}
    </>
  )
}

interface AddColumnDialogProps {
  dataset: Dataset
  onClose(): void
}

function AddColumnDialog({ dataset, onClose }: AddColumnDialogProps): ReactElement {
  const [column, setColumn] = useState(emptyColumn)
  const add = useAddColumn(dataset, onClose)
  const faults = useFaults(add.error)
  const change = (changes: Partial<ColumnDraft>) => {
    setColumn((before) => ({ ...before, ...changes }))
    add.reset()
  }
  const missing = column.name.trim() === '' ? 'Give it a name.' : columnFault(column)
  return (
    <FormDialog
      title={`Add a column to ${dataset.name}`}
      onClose={onClose}
      labels={['Add column', 'Adding …']}
      isPending={add.isPending}
      missing={missing}
      error={faults.isEmpty ? add.error : null}
      onSubmit={() => add.mutate(column)}
    >
      <ColumnFields column={column} errorAt={faults.at} onChange={change} />
      <TextField
        label="Description"
        value={column.description}
        maxLength={1000}
        error={faults.at('description')}
        onChange={(description) => change({ description })}
      />
    </FormDialog>
  )
}

function useAddColumn(dataset: Dataset, onClose: () => void) {
  const client = useClient()
  const cache = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: (column: ColumnDraft) => client.datasets.addColumn(dataset.id, columnOf(column)),
    onSuccess(changed, column) {
      onClose()
      toast.say({ title: `The column “${column.name.trim()}” is added` })
      cache.setQueryData(queryKeys.datasets.one(dataset.id), changed)
      void cache.invalidateQueries({ queryKey: queryKeys.datasets.all })
    },
  })
}
