/** Hooks for the queries that are kept in the application. */
import type { Query } from '@graticule/client'
import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'

export function useSavedQueries(): UseQueryResult<Query[]> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.queries.list,
    queryFn: ({ signal }) => client.queries.list({ sort: ['name'], limit: 1000, signal }),
  })
}

export function useSavedQuery(id: string | undefined): UseQueryResult<Query> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.queries.one(id ?? ''),
    queryFn: ({ signal }) => client.queries.get(id ?? '', { signal }),
    enabled: id !== undefined,
  })
}

export type KeptText = Pick<Query, 'name' | 'sql' | 'databaseId'>

/** Makes a kept query, or changes the one with this id. */
export function useKeepQuery(id: string | undefined) {
  const client = useClient()
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (text: KeptText) => (id === undefined ? client.queries.create(text) : client.queries.patch(id, text)),
    onSuccess: (kept) => {
      cache.setQueryData(queryKeys.queries.one(kept.id), kept)
      return cache.invalidateQueries({ queryKey: queryKeys.queries.list })
    },
  })
}

export function useForgetQuery() {
  const client = useClient()
  const cache = useQueryClient()
  return async (id: string): Promise<void> => {
    await client.queries.delete(id)
    await cache.invalidateQueries({ queryKey: queryKeys.queries.list })
  }
}
