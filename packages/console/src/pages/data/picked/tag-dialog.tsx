/** Gives several datasets a tag, or moves them from the folder of one tag to that of another. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useId, useState } from 'react'
import { TextField } from '../../../components/field.tsx'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { useToast } from '../../../components/toast.tsx'
import { formatNumber } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { type ListedDataset, useTags } from '../use-datasets.ts'
import { failureTitle } from './each-dataset.ts'
import { tagDatasets } from './tags.ts'

export interface TagDialogProps {
  datasets: readonly ListedDataset[]
  /** The tag that is taken from them: a move. */
  from: string | undefined
  onClose(): void
  onDone(): void
}

export function TagDialog({ datasets, from, onClose, onDone }: TagDialogProps): ReactElement {
  const [tag, setTag] = useState('')
  const list = useId()
  const tags = useTags().filter(({ name }) => name !== from)
  const save = useSaveTag({ datasets, from, onDone })
  const count = datasets.length === 1 ? '1 dataset' : `${formatNumber(datasets.length)} datasets`
  return (
    <FormDialog
      title={from ? `Move ${count}` : `Tag ${count}`}
      labels={from ? ['Move', 'Moving …'] : ['Tag', 'Tagging …']}
      isPending={save.isPending}
      missing={tag.trim() === '' ? 'Give a tag.' : undefined}
      error={save.error}
      onClose={onClose}
      onSubmit={() => save.mutate(tag.trim())}
    >
      <TextField
        label={from ? 'To the folder' : 'Tag'}
        hint={from ? `They are no longer in “${from}”.` : 'Each tag is a folder of the list.'}
        list={list}
        maxLength={100}
        autoComplete="off"
        value={tag}
        onChange={setTag}
      />
      <datalist id={list}>
        {tags.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </FormDialog>
  )
}

function useSaveTag({ datasets, from, onDone }: Omit<TagDialogProps, 'onClose'>) {
  const client = useClient()
  const cache = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: (tag: string) => tagDatasets(client, datasets, { add: tag, remove: from }),
    onSuccess({ done, failures }, tag) {
      const [first] = failures
      if (first) toast.fail(failureTitle(failures, from ? 'moved' : 'tagged'), first.error)
      if (done > 0) toast.say({ title: `${formatNumber(done)} ${from ? 'moved to' : 'tagged'} “${tag}”` })
      void cache.invalidateQueries({ queryKey: queryKeys.datasets.all })
      onDone()
    },
  })
}
