/** Whether the rows and columns of a dataset can be edited here, by its source and the key's rights. The server still checks. */
import type { DatabaseDriver, Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay, useRefusal } from '../../../session/session.tsx'
import { useDrivers } from '../../databases/use-drivers.ts'
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
  const { can, isLoading } = useDatabase(dataset)
  const refusal = useRefusal()('datasets', level, dataset.id)
  if (dataset.type !== 'table' || can?.isWritable === false || isLoading) return never
  return { isOffered: true, refusal: refusal ?? refusalOf(dataset, can) }
}

function refusalOf(dataset: Dataset, can: Capabilities | undefined): string | undefined {
  if (can?.isPlatform === false && dataset.metadata.editable !== true)
    return 'This table is in an external database, which is only read. Set "editable": true in its metadata (Settings).'
  if (keyOf(dataset).length === 0) return 'This dataset has no primary key, so that none of its rows has an address.'
  return undefined
}

/** Columns are changed in the platform's database only. */
export function useColumnEditability(dataset: Dataset): Editability {
  const { can, isLoading } = useDatabase(dataset)
  const refusal = useRefusal()('datasets', 'write', dataset.id)
  if (dataset.type !== 'table' || isLoading || can?.isPlatform === false) return never
  return { isOffered: true, refusal }
}

type Capabilities = Pick<DatabaseDriver, 'isPlatform' | 'isWritable'>

/** A driver that the server does not have can do nothing. */
const unknown: Capabilities = { isPlatform: false, isWritable: false }

/** What its database can do; undefined if the key may not read the database or list drivers: then the server decides. */
function useDatabase({ type, databaseId }: Dataset): { can: Capabilities | undefined; isLoading: boolean } {
  const client = useClient()
  const mayRead = useMay()('databases', 'read', databaseId)
  const { data, isLoading } = useQuery({
    queryKey: queryKeys.databases.one(databaseId, 'type'),
    queryFn: ({ signal }) => client.databases.get(databaseId, { signal }),
    enabled: type === 'table' && mayRead,
    staleTime: 60_000,
  })
  const drivers = useDrivers()
  const driver = drivers.drivers?.find(({ name }) => name === data?.type)
  return { can: data && drivers.drivers && (driver ?? unknown), isLoading: isLoading || drivers.isLoading }
}
