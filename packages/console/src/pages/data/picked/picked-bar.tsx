/** What is done with several datasets at once: tagging, moving to another folder, deleting. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { useConfirm } from '../../../components/confirm.tsx'
import { useToast } from '../../../components/toast.tsx'
import { formatNumber } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import type { ListedDataset } from '../use-datasets.ts'
import { failureTitle, forEachDataset } from './each-dataset.ts'
import classes from './picked.module.css'
import { TagDialog } from './tag-dialog.tsx'

export interface PickedBarProps {
  picked: readonly ListedDataset[]
  /** The folder that is shown: its tag. */
  folder: string | undefined
  onDone(): void
}

export function PickedBar({ picked, folder, onDone }: PickedBarProps): ReactElement | null {
  const refusal = useRefusal()('datasets', 'write')
  const [way, setWay] = useState<'tag' | 'move' | null>(null)
  const remove = useDeletePicked(picked, onDone)
  if (picked.length === 0) return null
  return (
    <section className={classes.bar} aria-label="Selected datasets">
      <strong role="status">{formatNumber(picked.length)} selected</strong>
      <Button icon="tag" disabledReason={refusal} onClick={() => setWay('tag')}>
        Tag …
      </Button>
      {folder && (
        <Button icon="folder" disabledReason={refusal} onClick={() => setWay('move')}>
          Move …
        </Button>
      )}
      <Button icon="trash" variant="danger" disabledReason={refusal} onClick={remove}>
        Delete …
      </Button>
      <Button variant="ghost" onClick={onDone}>
        Clear
      </Button>
      {way && (
        <TagDialog
          datasets={picked}
          from={way === 'move' ? folder : undefined}
          onClose={() => setWay(null)}
          onDone={() => {
            setWay(null)
            onDone()
          }}
        />
      )}
    </section>
  )
}

/** What fails stays selected. */
function useDeletePicked(picked: readonly ListedDataset[], onDone: () => void): () => void {
  const client = useClient()
  const cache = useQueryClient()
  const ask = useConfirm()
  const toast = useToast()
  const count = countOf(picked.length)
  const onConfirm = async () => {
    const { done, failures } = await forEachDataset(picked, ({ id }) => client.datasets.delete(id))
    for (const { all } of [queryKeys.datasets, queryKeys.tilesources]) await cache.invalidateQueries({ queryKey: all })
    const [first] = failures
    if (done > 0) toast.say({ title: `${countOf(done)} deleted` })
    if (first) toast.fail(failureTitle(failures, 'deleted'), first.error)
    else onDone()
  }
  return () =>
    ask({
      title: `Delete ${count}?`,
      body: `${picked.map(({ name }) => `“${name}”`).join(', ')}: tables that an upload or the console made are deleted with them, and their tiles. Maps and keys that name them will lack them. This cannot be undone.`,
      action: `Delete ${count}`,
      onConfirm,
    })
}

const countOf = (datasets: number): string => (datasets === 1 ? '1 dataset' : `${formatNumber(datasets)} datasets`)
