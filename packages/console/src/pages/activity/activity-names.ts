/** The names of what entries mention by id: records that still exist, users, API keys and applications. */
import type { AuditEntry, Client } from '@graticule/client'
import { useQueries } from '@tanstack/react-query'
import type { AclClass } from '../../../../server/src/api/access/grants.ts'
import { useApplicationNames } from '../../session/application-names.ts'
import { useMay, useSession } from '../../session/session.tsx'
import { useKeys } from '../access/keys/keys.ts'

interface NamedRow {
  id: string
  name: string
}

interface NameQuery {
  filter: { id: { $in: string[] } }
  fields: ('id' | 'name')[]
  limit: number
  signal: AbortSignal
}

/** A page of the console, for a `Link`. */
interface PageLink {
  to: string
  search?: { q: string }
}

interface Kind {
  aclClass: AclClass
  page(record: NamedRow): PageLink
  list(client: Client, query: NameQuery): Promise<NamedRow[]>
}

const kinds: Readonly<Record<string, Kind>> = {
  datasets: {
    aclClass: 'datasets',
    page: ({ id }) => ({ to: `/data/${id}/table` }),
    list: (client, query) => client.datasets.list(query),
  },
  styles: {
    aclClass: 'styles',
    page: ({ id }) => ({ to: `/maps/${id}/look` }),
    list: (client, query) => client.styles.list(query),
  },
  tilesources: {
    aclClass: 'tiles',
    page: ({ id }) => ({ to: `/tiles/${id}` }),
    list: (client, query) => client.tileSources.list(query),
  },
  databases: {
    aclClass: 'databases',
    page: ({ id }) => ({ to: `/databases/${id}` }),
    list: (client, query) => client.databases.list(query),
  },
  agents: {
    aclClass: 'agents',
    page: ({ id }) => ({ to: `/agents/${id}` }),
    list: (client, query) => client.agents.list(query),
  },
  contactpoints: {
    aclClass: 'contactpoints',
    page: ({ id }) => ({ to: `/contact-points/${id}` }),
    list: (client, query) => client.contactPoints.list(query),
  },
  roles: {
    aclClass: 'users',
    page: () => ({ to: '/access/roles' }),
    list: (client, query) => client.auth.roles.list(query),
  },
  oidcproviders: {
    aclClass: 'users',
    page: () => ({ to: '/access/signin' }),
    list: (client, query) => client.auth.providers.list(query),
  },
  users: {
    aclClass: 'users',
    page: ({ name }) => ({ to: '/access/users', search: { q: name } }),
    list: async (client, query) =>
      (await client.auth.users.list({ ...query, fields: ['id', 'email'] })).map(({ id, email }) => ({
        id,
        name: email,
      })),
  },
}

interface NamedRecord {
  name: string
  page: PageLink
}

export interface Names {
  /** A record that exists and that the key may read. */
  recordOf(entry: AuditEntry): NamedRecord | undefined
  keyName(fingerprint: string | null): string | undefined
  userName(id: number | null): string | undefined
  /** For master keys; of a deleted one its id. */
  applicationName(id: string | null): string | undefined
}

export function useNames(entries: readonly AuditEntry[]): Names {
  const { access } = useSession()
  const { data: keys = [] } = useKeys()
  const applications = useApplicationNames()
  const records = useRecords(entries)
  const named = new Map<string, NamedRecord>([
    ...keys.map(({ fingerprint, description }) => namedRecord('apikeys', fingerprint, description, '/access/keys')),
    ...applications.map(({ id, name }) => namedRecord('applications', id, name, '/access/applications')),
    ...records,
  ])
  return {
    recordOf: ({ targetType, targetId }) =>
      targetType === 'appconfig' ? configuration : named.get(`${targetType} ${targetId}`),
    keyName: (fingerprint) => keys.find((key) => key.fingerprint === fingerprint)?.description,
    userName: (id) => named.get(`users ${id}`)?.name,
    applicationName: (id) =>
      id && access.type === 'master' ? (named.get(`applications ${id}`)?.name ?? id) : undefined,
  }
}

const configuration: NamedRecord = { name: 'open it', page: { to: '/configuration' } }

const namedRecord = (kind: string, id: string, name: string, to: string): [string, NamedRecord] => [
  `${kind} ${id}`,
  { name: name || id, page: { to } },
]

/** Asks once for each kind of record on the page. */
function useRecords(entries: readonly AuditEntry[]): [string, NamedRecord][] {
  const { client } = useSession()
  const may = useMay()
  const requests = Object.entries(kinds).map(([name, kind]) => ({ name, kind, ids: idsOf(entries, name) }))
  const results = useQueries({
    queries: requests.map(({ name, kind, ids }) => ({
      queryKey: [name, 'names', ids],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        kind.list(client, { filter: { id: { $in: ids } }, fields: ['id', 'name'], limit: ids.length, signal }),
      enabled: ids.length > 0 && may(kind.aclClass, 'read'),
    })),
  })
  return requests.flatMap(({ name, kind }, index) =>
    (results[index]?.data ?? []).map((record): [string, NamedRecord] => [
      `${name} ${record.id}`,
      { name: record.name || record.id, page: kind.page(record) },
    ]),
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
