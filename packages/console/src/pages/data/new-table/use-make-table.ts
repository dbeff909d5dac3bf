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
      const mayLook = may('databases', 'read') && may('databases', 'execute')
      const databaseId = mayLook ? await platformDatabase(client) : undefined
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

/** Tables are made in the platform's database, which need not be the application's default. */
async function platformDatabase(client: Client): Promise<string | undefined> {
  const drivers = await client.databases.driverDetails()
  const types = drivers.filter(({ isPlatform }) => isPlatform).map(({ name }) => name)
  const [database] = await client.databases.list({ filter: { type: { $in: types } }, fields: ['id'], limit: 1 })
  return database?.id
}
