/** Deletes a dataset after a confirmation that names what is deleted with it and what uses it. */
import { ApiError, type Client, type Dataset } from '@graticule/client'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useConfirm } from '../../components/confirm.tsx'
import { Checkbox } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { useClient } from '../../session/session.tsx'

type Deleted = Pick<Dataset, 'id' | 'name' | 'type'>

interface Consequences {
  tileSources: { id: string; name: string }[]
  styles: string[]
  keys: number
}

export function useDeleteDataset(): (dataset: Deleted) => Promise<void> {
  const client = useClient()
  const queryClient = useQueryClient()
  const confirm = useConfirm()
  const { say } = useToast()
  return async (dataset) => {
    const consequences = await findConsequences(client, dataset.id)
    let keepData = false
    confirm({
      title: `Delete the dataset “${dataset.name}”?`,
      body: <Body dataset={dataset} consequences={consequences} onKeep={(keepsTable) => (keepData = keepsTable)} />,
      action: 'Delete',
      async onConfirm() {
        await client.datasets.delete(dataset.id, keepData ? { keepData } : {})
        for (const { id } of consequences.tileSources) await deleteIfThere(client, id)
        for (const resource of ['datasets', 'tilesources'])
          await queryClient.invalidateQueries({ queryKey: [resource] })
        say({ title: `“${dataset.name}” is deleted` })
      },
    })
  }
}

/** Ignores 404, because the server deletes the tile sources of an uploaded dataset with it. */
async function deleteIfThere(client: Client, id: string): Promise<void> {
  await client.tileSources.delete(id).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  })
}

/** Counts only what the key may read. */
async function findConsequences({ tileSources, styles, apiKeys }: Client, id: string): Promise<Consequences> {
  const [tiles, drawn, keys] = await Promise.all([
    tileSources.list({ filter: { type: 'dataset', source: id }, fields: ['id', 'name'] }).catch(() => []),
    styles.list({ fields: ['name', 'style'], limit: 500 }).catch(() => []),
    apiKeys.list({ fields: ['permissions'], limit: 500 }).catch(() => []),
  ])
  const ids = [id, ...tiles.map((tile) => tile.id)]
  const names = (value: unknown) => ids.some((one) => JSON.stringify(value).includes(one))
  return {
    tileSources: tiles,
    styles: drawn.filter(({ style }) => names(style)).map(({ name }) => name),
    keys: keys.filter(({ permissions }) => names(permissions)).length,
  }
}

interface BodyProps {
  dataset: Deleted
  consequences: Consequences
  onKeep(keepsTable: boolean): void
}

function Body({ dataset, consequences: { tileSources, styles, keys }, onKeep }: BodyProps): ReactElement {
  const [keepsTable, setKeepsTable] = useState(false)
  return (
    <div className={layout.section}>
      <ul>
        {tileSources.map(({ id, name }) => (
          <li key={id}>Its tile source {name ? `“${name}”` : id} is deleted too.</li>
        ))}
        {styles.length > 0 && <li>Maps that draw it will lack it: {styles.map((name) => `“${name}”`).join(', ')}.</li>}
        {keys > 0 && <li>{keys === 1 ? 'An API key names it' : `${keys} API keys name it`} and will name nothing.</li>}
        <li>Programs that ask for it will be answered with 404.</li>
      </ul>
      {dataset.type === 'table' && (
        <Checkbox
          label="Keep the table in the database. (A table that an upload made is dropped otherwise; others stay anyway.)"
          isChecked={keepsTable}
          onChange={(next) => {
            setKeepsTable(next)
            onKeep(next)
          }}
        />
      )}
    </div>
  )
}
