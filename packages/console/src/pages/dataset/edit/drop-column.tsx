/** Drops a column of a dataset's table, after a question that says what is lost. */
import type { Client, Dataset } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { useConfirm } from '../../../components/confirm.tsx'
import { useToast } from '../../../components/toast.tsx'
import { formatNumber } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay } from '../../../session/session.tsx'
import type { DatasetAttribute } from '../dataset.ts'
import { useColumnEditability } from './editability.ts'

interface ColumnProps {
  dataset: Dataset
  attribute: DatasetAttribute
}

export function DropColumn({ dataset, attribute }: ColumnProps): ReactElement | null {
  const { isOffered, refusal } = useColumnEditability(dataset)
  const begin = useDropColumn({ dataset, attribute })
  if (!isOffered) return null
  const keyRefusal = attribute.primaryKey ? 'The key addresses the rows: it cannot be dropped.' : undefined
  return (
    <IconButton
      icon="trash"
      label={`Drop the column ${attribute.name}`}
      disabledReason={refusal ?? keyRefusal}
      disabled={begin.isPending}
      onClick={() => begin.mutate()}
    />
  )
}

function useDropColumn({ dataset, attribute: { name } }: ColumnProps) {
  const client = useClient()
  const cache = useQueryClient()
  const ask = useConfirm()
  const toast = useToast()
  const mayCount = useMay()('datasets', 'execute', dataset.id)
  const onConfirm = async () => {
    await client.datasets.dropColumn(dataset.id, name)
    toast.say({ title: `The column “${name}” is dropped` })
    await cache.invalidateQueries({ queryKey: queryKeys.datasets.all })
  }
  return useMutation({
    mutationFn: async () => (mayCount ? countValues(client, dataset.id, name).catch(() => null) : null),
    onSuccess: (values) =>
      ask({ title: `Drop the column “${name}”?`, body: lossOf(values), action: 'Drop column', onConfirm }),
  })
}

async function countValues(client: Client, datasetId: string, name: string): Promise<number> {
  const query = { attributes: ['count(*) as rows'], where: { [name]: { $ne: null } } }
  const [row] = await client.datasets.query<{ rows: number | string }>(datasetId, query)
  return Number(row?.rows ?? 0)
}

/** Null: the key may not count, or there are too many. */
function lossOf(values: number | null): string {
  const lost =
    values === null
      ? 'All its values are deleted'
      : values === 0
        ? 'It has no values'
        : `Its ${values === 1 ? 'one value is' : `${formatNumber(values)} values are`} deleted`
  return `${lost}. Maps, queries and programs that name it fail from then on. This cannot be undone.`
}
