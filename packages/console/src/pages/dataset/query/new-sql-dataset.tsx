/** A button and a dialog that create a dataset from SQL. */
import type { Dataset } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { TextField } from '../../../components/field.tsx'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'

interface NewSqlDatasetProps {
  dataset: Pick<Dataset, 'databaseId' | 'metadata'>
  source: string
  /** Of the button. */
  label?: string
}

export function NewSqlDataset({ dataset, source, label = 'Save as new dataset' }: NewSqlDatasetProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const client = useClient()
  const cache = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const refusal = useRefusal()('datasets', 'write')
  const { databaseId, metadata } = dataset
  const { parameters } = metadata
  const make = useMutation({
    mutationFn: () =>
      client.datasets.create({
        type: 'sql',
        name: name.trim(),
        source,
        databaseId,
        ...(parameters ? { metadata: { parameters } } : {}),
      }),
    onSuccess: async (made) => {
      setOpen(false)
      await cache.invalidateQueries({ queryKey: queryKeys.datasets.list })
      toast.say({ title: `Dataset “${made.name}” made` })
      await navigate({ to: '/data/$datasetId/query', params: { datasetId: made.id } })
    },
  })
  return (
    <>
      <Button icon="plus" disabledReason={refusal} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && (
        <FormDialog
          title="New dataset from this SQL"
          onClose={() => setOpen(false)}
          labels={['Make dataset', 'Making …']}
          isPending={make.isPending}
          missing={name.trim() === '' ? 'Give it a name.' : undefined}
          error={make.error}
          onSubmit={() => make.mutate()}
        >
          <TextField label="Name" value={name} onChange={setName} maxLength={255} />
        </FormDialog>
      )}
    </>
  )
}
