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
import { useClient, useMay, useRefusal } from '../../../session/session.tsx'
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
      const sentences = consequencesOf(dataset, tileSources, styles)
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

/** The tile sources and styles that use the dataset, as far as the key may read them. */
function useUsersOf(dataset: Dataset) {
  const client = useClient()
  const may = useMay()
  return async () => {
    const limit = 500
    const filter = { type: 'dataset', source: dataset.id }
    const tileSources = may('tiles', 'read') ? await client.tileSources.list({ filter, limit, fields: ['id'] }) : []
    const all = may('styles', 'read') ? await client.styles.list({ fields: ['id', 'name', 'style'], limit }) : []
    const ids = [dataset.id, ...tileSources.map(({ id }) => id)]
    const styles = all.filter(({ style }) => ids.some((id) => JSON.stringify(style).includes(id)))
    return { tileSources: tileSources.length, styles: styles.map(({ name }) => name) }
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
