/** Whether the rows and columns of a dataset can be edited here, by its source and the key's rights. The server still checks. */
import type { Database, Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay, useRefusal } from '../../../session/session.tsx'
import { keyOf } from '../dataset.ts'

export interface Editability {
  /** Whether buttons are shown: not for what is never written, such as a query. */
  isOffered: boolean
  /** Why they are disabled. */
  refusal: string | undefined
}

const never: Editability = { isOffered: false, refusal: undefined }

/** `append` is enough to add rows; to change and delete them takes `write`. */
export function useRowEditability(dataset: Dataset, level: 'append' | 'write'): Editability {
  const { type, isLoading } = useDatabaseType(dataset)
  const refusal = useRefusal()('datasets', level, dataset.id)
  if (dataset.type !== 'table' || type === 'duckdb' || isLoading) return never
  return { isOffered: true, refusal: refusal ?? refusalOf(dataset, type) }
}

function refusalOf(dataset: Dataset, type: Database['type'] | undefined): string | undefined {
  if (type === 'postgres' && dataset.metadata.editable !== true)
    return 'This table is in a database of its own, which is only read. Set "editable": true in its metadata (Settings).'
  if (keyOf(dataset).length === 0) return 'This dataset has no primary key, so that none of its rows has an address.'
  return undefined
}

/** Columns are changed in the application's own database only. */
export function useColumnEditability(dataset: Dataset): Editability {
  const { type, isLoading } = useDatabaseType(dataset)
  const refusal = useRefusal()('datasets', 'write', dataset.id)
  if (dataset.type !== 'table' || isLoading || (type !== undefined && type !== 'internal')) return never
  return { isOffered: true, refusal }
}

/** Undefined if the key may not read the database: then the server decides. */
function useDatabaseType({ type, databaseId }: Dataset): { type: Database['type'] | undefined; isLoading: boolean } {
  const client = useClient()
  const mayRead = useMay()('databases', 'read', databaseId)
  const { data, isLoading } = useQuery({
    queryKey: queryKeys.databases.one(databaseId, 'type'),
    queryFn: ({ signal }) => client.databases.get(databaseId, { signal }),
    enabled: type === 'table' && mayRead,
    staleTime: 60_000,
  })
  return { type: data?.type, isLoading }
}
