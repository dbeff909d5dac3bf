/** The keys that the current key can see (those without more permissions than itself), newest first. */
import type { ApiKey } from '@graticule/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay } from '../../../session/session.tsx'

export function useKeys(): UseQueryResult<ApiKey[]> {
  const client = useClient()
  const may = useMay()
  return useQuery({
    queryKey: queryKeys.apikeys.list,
    queryFn: ({ signal }) => client.apiKeys.list({ sort: ['-createdAt'], limit: 10_000, signal }),
    enabled: may('apikeys', 'read'),
  })
}
