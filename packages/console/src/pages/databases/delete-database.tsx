/** Deletes a connection and its datasets; datasets first, because the server refuses to delete a database in use. */
import type { Client, Database } from '@graticule/client'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useConfirm } from '../../components/confirm.tsx'
import { Checkbox } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { formatNumber } from '../../format.ts'
import { useClient } from '../../session/session.tsx'

interface UsedBy {
  id: string
  name: string
}

const shownNames = 10
const mostDatasets = 10_000

export function useDeleteDatabase(): (database: Database, onDeleted: () => void) => Promise<void> {
  const client = useClient()
  const cache = useQueryClient()
  const confirm = useConfirm()
  const { say, fail } = useToast()
  return async (database, onDeleted) => {
    const users = await datasetsOf(client, database.id).catch((error) => void fail('Its datasets are not known', error))
    if (!users) return
    let withDatasets = false
    confirm({
      title: `Delete the connection “${database.name}”?`,
      body: <Body users={users} onChange={(next) => (withDatasets = next)} />,
      action: 'Delete',
      mustType: database.name,
      async onConfirm() {
        if (withDatasets) for (const { id } of users) await deleteDataset(client, id)
        await client.databases.delete(database.id)
        onDeleted()
        for (const resource of ['databases', 'datasets', 'tilesources']) {
          void cache.invalidateQueries({ queryKey: [resource] })
        }
        say({ title: `“${database.name}” is deleted` })
      },
    })
  }
}

const datasetsOf = (client: Client, databaseId: string): Promise<UsedBy[]> =>
  client.datasets.list({ filter: { databaseId }, fields: ['id', 'name'], sort: ['name'], limit: mostDatasets })

async function deleteDataset(client: Client, id: string): Promise<void> {
  const tiles = await client.tileSources.list({ filter: { type: 'dataset', source: id }, fields: ['id'] })
  for (const tile of tiles) await client.tileSources.delete(tile.id)
  // Keeps the tables, which belong to the tenant's database.
  await client.datasets.delete(id, { keepData: true })
}

interface BodyProps {
  users: readonly UsedBy[]
  onChange(next: boolean): void
}

function Body({ users, onChange }: BodyProps): ReactElement {
  const [isChosen, setChosen] = useState(false)
  const names = users.slice(0, shownNames).map(({ name }) => `“${name}”`)
  const rest = users.length - names.length
  return (
    <div className={layout.section}>
      <p>The database itself and its tables stay as they are; only the way to it is forgotten, with its password.</p>
      {users.length > 0 && (
        <>
          <p>
            {users.length === 1 ? 'A dataset uses' : `${formatNumber(users.length)} datasets use`} it:{' '}
            {names.join(', ')}
            {rest > 0 && ` and ${formatNumber(rest)} more`}. It can be deleted only without them.
          </p>
          <Checkbox
            label="Delete these datasets and their tile sources too"
            isChecked={isChosen}
            onChange={(next) => {
              setChosen(next)
              onChange(next)
            }}
          />
        </>
      )}
    </div>
  )
}
