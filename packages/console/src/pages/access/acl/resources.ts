/** The resources that an ACL can name. */
import type { Client } from '@graticule/client'
import { useQueries } from '@tanstack/react-query'
import type { AclClass } from '../../../../../server/src/api/access/grants.ts'
import { useClient, useMay } from '../../../session/session.tsx'
import type { ExistingIds } from '../keys/key-warnings.ts'

export interface Resource {
  id: string
  name: string
}

export type Resources = Partial<Record<AclClass, readonly Resource[]>>

const most = 10_000
const named = { fields: ['id', 'name'] as const, limit: most }

interface Listing {
  aclClass: AclClass
  /** The resource's name in the API, used as the query key. */
  name: string
  list(client: Client, signal: AbortSignal): Promise<Resource[]>
}

/** Without API keys, whose ids are secrets, and without classes that have one record per application. */
const listings: readonly Listing[] = [
  { aclClass: 'agents', name: 'agents', list: ({ agents }, signal) => agents.list({ ...named, signal }) },
  {
    aclClass: 'contactpoints',
    name: 'contactpoints',
    list: ({ contactPoints }, signal) => contactPoints.list({ ...named, signal }),
  },
  { aclClass: 'databases', name: 'databases', list: ({ databases }, signal) => databases.list({ ...named, signal }) },
  { aclClass: 'datasets', name: 'datasets', list: ({ datasets }, signal) => datasets.list({ ...named, signal }) },
  { aclClass: 'styles', name: 'styles', list: ({ styles }, signal) => styles.list({ ...named, signal }) },
  { aclClass: 'tiles', name: 'tilesources', list: listTiles },
  { aclClass: 'uploads', name: 'uploads', list: listUploads },
  { aclClass: 'users', name: 'users', list: listUsers },
]

/** Includes datasets, because each also serves tiles under its own id. */
async function listTiles({ tileSources, datasets }: Client, signal: AbortSignal): Promise<Resource[]> {
  const sources = await tileSources.list({ ...named, signal })
  const implicit = await datasets.list({ ...named, signal }).catch(() => [])
  const tilesOf = implicit.map(({ id, name }) => ({ id, name: `${name} (dataset)` }))
  return [...sources.map(({ id, name }) => ({ id, name: name || id })), ...tilesOf]
}

async function listUploads({ uploads }: Client, signal: AbortSignal): Promise<Resource[]> {
  const rows = await uploads.list({ fields: ['id', 'fileName'], limit: most, signal })
  return rows.map(({ id, fileName }) => ({ id, name: fileName }))
}

async function listUsers({ auth }: Client, signal: AbortSignal): Promise<Resource[]> {
  const rows = await auth.users.list({ fields: ['id', 'email'], limit: most, signal })
  return rows.map(({ id, email }) => ({ id, name: email }))
}

/** Resources by class, as they are loaded; without classes that the key may not list. */
export function useResources(): Resources {
  const client = useClient()
  const may = useMay()
  return useQueries({
    queries: listings.map(({ aclClass, name, list }) => ({
      queryKey: [name, 'list', 'for the ACL'],
      queryFn: ({ signal }: { signal: AbortSignal }) => list(client, signal),
      enabled: may(aclClass, 'read'),
    })),
    combine: (results): Resources =>
      Object.fromEntries(listings.map(({ aclClass }, index) => [aclClass, results[index]?.data])),
  })
}

/** The existing ids; without classes that were listed only in part. */
export const knownIds = (resources: Resources): ExistingIds =>
  Object.fromEntries(
    Object.entries(resources)
      .filter(([, rows]) => rows !== undefined && rows.length < most)
      .map(([aclClass, rows]) => [aclClass, new Set(rows?.map(({ id }) => id))]),
  )
