/** The stored configuration with its ETag, and the draft, which survives navigation. */
import type { Client, JsonObject } from '@graticule/client'
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'

export interface StoredConfiguration {
  config: JsonObject
  /** Undefined while the application has none. */
  etag: string | undefined
  updatedAt: string | undefined
}

export async function fetchConfiguration(
  client: Client,
  applicationId: string,
  signal?: AbortSignal,
): Promise<StoredConfiguration> {
  // Lists the records first, because the 404 of a missing one would appear as an error in the browser's log.
  const [record] = await client.appconfig.records.list({
    fields: ['id'],
    filter: { id: applicationId },
    limit: 1,
    signal,
  })
  if (!record) return { config: {}, etag: undefined, updatedAt: undefined }
  let etag: string | undefined
  const onResponse = ({ headers }: Response) => {
    etag = headers.get('etag') ?? undefined
  }
  const { config, updatedAt } = await client.appconfig.records.get(applicationId, { signal, onResponse })
  return { config, etag, updatedAt }
}

export function useConfiguration(applicationId: string): UseQueryResult<StoredConfiguration> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.appconfig.one(applicationId),
    queryFn: ({ signal }) => fetchConfiguration(client, applicationId, signal),
  })
}

export interface ConfigurationDraft {
  text: string
  /** The version that the draft started from. */
  base: StoredConfiguration
}

/** The draft, or null. It is in the session's cache, so that it survives navigation but not signing out. */
export function useDraft(
  applicationId: string,
): [ConfigurationDraft | null, (draft: ConfigurationDraft | null) => void] {
  const queryClient = useQueryClient()
  const queryKey = ['appconfig', applicationId, 'draft']
  const { data } = useQuery<ConfigurationDraft | null>({
    queryKey,
    queryFn: () => null,
    initialData: null,
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return [data, (draft) => queryClient.setQueryData(queryKey, draft)]
}
