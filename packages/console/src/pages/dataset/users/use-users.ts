/** What uses a dataset: its tile sources, and the maps that show it, as far as the key may read them. */
import type { Dataset } from '@graticule/client'
import { useClient, useMay } from '../../../session/session.tsx'
import type { UsingStyle } from './styles-naming.ts'

export interface DatasetUsers {
  /** How many. */
  tileSources: number
  styles: UsingStyle[]
}

const limit = 500

export function useUsersOf(dataset: Pick<Dataset, 'id'>): () => Promise<DatasetUsers> {
  const client = useClient()
  const may = useMay()
  return async () => {
    const filter = { type: 'dataset', source: dataset.id }
    const tileSources = may('tiles', 'read') ? await client.tileSources.list({ filter, limit, fields: ['id'] }) : []
    const all = may('styles', 'read') ? await client.styles.list({ fields: ['id', 'name', 'style'], limit }) : []
    const ids = [dataset.id, ...tileSources.map(({ id }) => id)]
    const styles = all.filter(({ style }) => ids.some((id) => JSON.stringify(style).includes(id)))
    return { tileSources: tileSources.length, styles }
  }
}
