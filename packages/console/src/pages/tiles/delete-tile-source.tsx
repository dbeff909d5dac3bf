/** Deletes a tile source after a confirmation that names the styles that use it. */
import type { Client, TileSource } from '@graticule/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { useConfirm } from '../../components/confirm.tsx'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useMay } from '../../session/session.tsx'

export function useDeleteTileSource(record: TileSource, title: string): () => Promise<void> {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const may = useMay()
  const confirm = useConfirm()
  const { say } = useToast()
  return async () => {
    const styles = may('styles', 'read') ? await stylesWith(client, record.id) : []
    confirm({
      title: `Delete the tile source ${title}?`,
      body: <Consequences type={record.type} styles={styles} />,
      action: 'Delete',
      async onConfirm() {
        await client.tileSources.delete(record.id)
        await navigate({ to: '/maps' })
        queries.removeQueries({ queryKey: queryKeys.tilesources.one(record.id) })
        await queries.invalidateQueries({ queryKey: queryKeys.tilesources.all })
        say({ title: 'The tile source is deleted' })
      },
    })
  }
}

/** The names of the styles that use it; empty if the key may not list styles. */
async function stylesWith(client: Client, id: string): Promise<string[]> {
  const styles = await client.styles.list({ fields: ['id', 'name', 'style'] }).catch(() => [])
  return styles.filter(({ style }) => JSON.stringify(style).includes(id)).map(({ name }) => name)
}

interface ConsequencesProps {
  type: TileSource['type']
  styles: readonly string[]
}

function Consequences({ type, styles }: ConsequencesProps): ReactElement {
  return (
    <>
      <p>
        {type === 'dataset'
          ? 'Its zooms, extent and name are lost. The dataset stays, and keeps tiles of its own.'
          : 'Its tiles can no longer be asked for here. The archive itself stays.'}
      </p>
      {styles.length > 0 && <p>{`Used by ${styles.map((name) => `“${name}”`).join(', ')}.`}</p>}
    </>
  )
}
