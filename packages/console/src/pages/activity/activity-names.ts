/** The names of what entries mention by id: records that still exist, users, API keys and applications. */
import type { AuditEntry, Client } from '@graticule/client'
import { useQueries } from '@tanstack/react-query'
import { useApplicationNames } from '../../session/application-names.ts'
import type { AclClass } from '../../session/permissions.ts'
import { useMay, useSession } from '../../session/session.tsx'
import { useKeys } from '../access/keys.ts'

interface Found {
  id: string
  name: string
}

interface Asked {
  filter: { id: { $in: string[] } }
  fields: ('id' | 'name')[]
  limit: number
  signal: AbortSignal
}

interface Kind {
  aclClass: AclClass
  /** The page of the record. */
  to(record: Found): string
  list(client: Client, asked: Asked): Promise<Found[]>
}

const kinds: Readonly<Record<string, Kind>> = {
  datasets: {
    aclClass: 'datasets',
    to: ({ id }) => `/data/${id}/table`,
    list: (client, asked) => client.datasets.list(asked),
  },
  styles: {
    aclClass: 'styles',
    to: ({ id }) => `/maps/${id}/look`,
    list: (client, asked) => client.styles.list(asked),
  },
  tilesources: {
    aclClass: 'tiles',
    to: ({ id }) => `/tiles/${id}`,
    list: (client, asked) => client.tileSources.list(asked),
  },
  databases: {
    aclClass: 'databases',
    to: ({ id }) => `/databases/${id}`,
    list: (client, asked) => client.databases.list(asked),
  },
  agents: {
    aclClass: 'agents',
    to: ({ id }) => `/agents/${id}`,
    list: (client, asked) => client.agents.list(asked),
  },
  contactpoints: {
    aclClass: 'contactpoints',
    to: ({ id }) => `/contact-points/${id}`,
    list: (client, asked) => client.contactPoints.list(asked),
  },
  users: {
    aclClass: 'users',
    to: ({ name }) => `/access/users?q=${encodeURIComponent(name)}`,
    list: async (client, asked) =>
      (await client.auth.users.list({ ...asked, fields: ['id', 'email'] })).map(({ id, email }) => ({
        id,
        name: email,
      })),
  },
}

export interface Names {
  /** A record that exists and that the key may read. */
  recordOf(entry: AuditEntry): { name: string; to: string } | undefined
  keyName(fingerprint: string | null): string | undefined
  userName(id: number | null): string | undefined
  /** For master keys; of a deleted one its id. */
  applicationName(id: string | null): string | undefined
}

export function useNames(entries: readonly AuditEntry[]): Names {
  const { access } = useSession()
  const { data: keys } = useKeys()
  const keyNames = new Map(keys?.map(({ fingerprint, description }) => [fingerprint, description]))
  const records = useRecords(entries)
  const applications = new Map(useApplicationNames().map(({ id, name }) => [id, name]))
  return {
    recordOf: ({ targetType, targetId, targetName }) => {
      if (targetType === 'appconfig') return { name: targetName ?? 'configuration', to: '/configuration' }
      if (targetId === null) return undefined
      if (targetType === 'apikeys' && keyNames.has(targetId))
        return { name: keyNames.get(targetId) || targetId, to: '/access/keys' }
      const found = records.get(`${targetType} ${targetId}`)
      const kind = kinds[targetType]
      return found && kind ? { name: found.name || targetId, to: kind.to(found) } : undefined
    },
    keyName: (fingerprint) => (fingerprint ? keyNames.get(fingerprint) : undefined),
    userName: (id) => records.get(`users ${id}`)?.name,
    applicationName: (id) => (id && access.type === 'master' ? (applications.get(id) ?? id) : undefined),
  }
}

/** Asks once for each kind of record on the page. */
function useRecords(entries: readonly AuditEntry[]): ReadonlyMap<string, Found> {
  const { client } = useSession()
  const may = useMay()
  const asked = Object.entries(kinds).map(([name, kind]) => ({ name, kind, ids: idsOf(entries, name) }))
  const results = useQueries({
    queries: asked.map(({ name, kind, ids }) => ({
      queryKey: [name, 'names', ids],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        kind.list(client, { filter: { id: { $in: ids } }, fields: ['id', 'name'], limit: ids.length, signal }),
      enabled: ids.length > 0 && may(kind.aclClass, 'read'),
    })),
  })
  return new Map(
    results.flatMap(({ data = [] }, index) => data.map((found) => [`${asked[index]?.name} ${found.id}`, found])),
  )
}

/** What a refused request named may be anything, and a list refuses ids of another form. */
const digits = /^\d+$/
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

function idsOf(entries: readonly AuditEntry[], kind: string): string[] {
  const ids = entries.flatMap(({ targetType, targetId, userId }) => [
    ...(targetType === kind && targetId !== null ? [targetId] : []),
    ...(kind === 'users' && userId !== null ? [String(userId)] : []),
  ])
  return [...new Set(ids)].filter((id) => (kind === 'users' ? digits : uuid).test(id)).toSorted()
}
