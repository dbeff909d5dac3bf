/** Makes the table, and opens its page. */
import type { Client } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useToast } from '../../../components/toast.tsx'
import { useClient, useMay } from '../../../session/session.tsx'
import { makeTiles } from '../make-tiles.ts'
import { type TableDraft, tableOf } from './table-draft.ts'

export function useMakeTable(onClose: () => void) {
  const client = useClient()
  const cache = useQueryClient()
  const navigate = useNavigate()
  const may = useMay()
  const { say, fail } = useToast()
  return useMutation({
    async mutationFn(draft: TableDraft) {
      const databaseId = may('databases', 'read') ? await ownDatabase(client) : undefined
      return client.datasets.create(tableOf(draft, databaseId))
    },
    async onSuccess(dataset) {
      onClose()
      say({ title: `The table “${dataset.name}” is made` })
      if (may('tiles', 'write'))
        await makeTiles(client, dataset).catch((error) => fail('It is not served as tiles', error))
      for (const resource of ['datasets', 'tilesources']) void cache.invalidateQueries({ queryKey: [resource] })
      await navigate({ to: '/data/$datasetId/table', params: { datasetId: dataset.id } })
    },
  })
}

/** Tables are made in the application's own database, which need not be its default. */
async function ownDatabase(client: Client): Promise<string | undefined> {
  const [own] = await client.databases.list({ filter: { type: 'internal' }, fields: ['id'], limit: 1 })
  return own?.id
}
