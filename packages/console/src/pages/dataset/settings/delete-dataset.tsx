/** Deletes a dataset after a confirmation that lists the consequences. */
import type { Dataset } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactElement, type RefObject, useRef, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { useConfirm } from '../../../components/confirm.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Checkbox } from '../../../components/field.tsx'
import { layout } from '../../../components/page.tsx'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import { useUsersOf } from '../users/use-users.ts'
import { consequencesOf } from './consequences.ts'
import classes from './settings.module.css'

interface DeleteDatasetProps {
  dataset: Dataset
}

export function DeleteDataset({ dataset }: DeleteDatasetProps): ReactElement {
  const ask = useConfirm()
  const refusal = useRefusal()('datasets', 'write', dataset.id)
  const keepsData = useRef(false)
  const users = useUsersOf(dataset)
  const onConfirm = useDelete(dataset, keepsData)
  const begin = useMutation({
    mutationFn: users,
    onSuccess: ({ tileSources, styles }) => {
      keepsData.current = false
      const sentences = consequencesOf(
        dataset,
        tileSources,
        styles.map(({ name }) => name),
      )
      ask({
        title: `Delete “${dataset.name}”?`,
        body: <Consequences sentences={sentences} keepsData={dataset.type === 'table' ? keepsData : undefined} />,
        action: 'Delete',
        onConfirm,
      })
    },
  })
  return (
    <section className={`${classes.section} ${classes.danger}`} aria-label="Delete">
      <h2>Delete this dataset</h2>
      <p className={classes.muted}>Programs, maps and keys that name it fail from then on. This cannot be undone.</p>
      {begin.error && <ErrorNote error={begin.error} />}
      <div>
        <Button
          variant="danger"
          icon="trash"
          disabled={begin.isPending}
          disabledReason={refusal}
          onClick={() => begin.mutate()}
        >
          Delete dataset
        </Button>
      </div>
    </section>
  )
}

function useDelete(dataset: Dataset, keepsData: RefObject<boolean>): () => Promise<void> {
  const client = useClient()
  const cache = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  return async () => {
    await client.datasets.delete(dataset.id, keepsData.current ? { keepData: true } : {})
    await navigate({ to: '/data' })
    cache.removeQueries({ queryKey: queryKeys.datasets.one(dataset.id) })
    await Promise.all(['datasets', 'tilesources'].map((name) => cache.invalidateQueries({ queryKey: [name, 'list'] })))
    toast.say({ title: `Dataset “${dataset.name}” deleted` })
  }
}

interface ConsequencesProps {
  sentences: readonly string[]
  /** Receives the choice, if there is one. */
  keepsData: RefObject<boolean> | undefined
}

function Consequences({ sentences, keepsData }: ConsequencesProps): ReactElement {
  const [keepsTable, setKeepsTable] = useState(false)
  return (
    <div className={layout.section}>
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {keepsData && (
        <Checkbox
          label="Keep the table with its rows in the database"
          isChecked={keepsTable}
          onChange={(next) => {
            setKeepsTable(next)
            keepsData.current = next
          }}
        />
      )}
    </div>
  )
}
