/** The default API key of an application's users (`metadata.auth` of the application): access tokens have its permissions. */
import type { Application } from '@graticule/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay, useSession } from '../../../session/session.tsx'

export interface ApplicationRecord {
  application: Application
  /** For If-Match. */
  etag: string
}

export function useApplication(): UseQueryResult<ApplicationRecord> {
  const client = useClient()
  const { access } = useSession()
  const id = access.application?.id ?? ''
  const may = useMay()
  return useQuery({
    queryKey: queryKeys.applications.one(id, 'with its tag'),
    queryFn: async ({ signal }) => {
      let etag = ''
      const onResponse = ({ headers }: Response) => {
        etag = headers.get('etag') ?? ''
      }
      return { application: await client.applications.get(id, { signal, onResponse }), etag }
    },
    enabled: id !== '' && may('applications', 'read', id),
  })
}

/** Null if there is none or the user may not see it. */
export function useDefaultKey(): string | null {
  return defaultKeyOf(useApplication().data?.application.metadata)
}

export function defaultKeyOf(metadata: unknown): string | null {
  const { auth } = (metadata ?? {}) as { auth?: { defaultApiKey?: unknown } | null }
  return typeof auth?.defaultApiKey === 'string' ? auth.defaultApiKey : null
}
