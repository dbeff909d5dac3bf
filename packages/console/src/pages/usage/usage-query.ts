/** What applications use: of the own application, or, for a master key, of any and of all. */
import type { Usage } from '@graticule/client'
import { keepPreviousData, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useSession } from '../../session/session.tsx'
import { periodsOf, type UsageRequest } from './periods.ts'
import type { UsageSpan } from './usage-search.ts'

export interface Report {
  usage: Usage
  request: UsageRequest
}

/** Null: there is no such application, or the key is a user's own, which reads no application. */
export function useReport(applicationId: string, span: UsageSpan): UseQueryResult<Report | null> {
  const { access, client, unscoped } = useSession()
  return useQuery({
    queryKey: ['usage', applicationId, span],
    queryFn: async ({ signal }) => {
      const request = periodsOf(span, Date.now())
      const [usage] = await (access.type === 'master'
        ? unscoped.server.usage({ ...request, filter: { applicationId }, signal })
        : client.server.usage({ ...request, signal }))
      return usage ? { usage, request } : null
    },
    placeholderData: keepPreviousData,
  })
}

/** The largest page that the server gives. */
const pageSize = 100

/** Reads page after page until all are there: an order is right only over all of them. */
export function useAllUsage() {
  const { unscoped } = useSession()
  const query = useInfiniteQuery({
    queryKey: ['usage', 'all'],
    queryFn: async ({ pageParam: offset, signal }) => {
      let total = 0
      const { to } = periodsOf('week', Date.now())
      const rows = await unscoped.server.usage({
        from: to,
        to,
        limit: pageSize,
        offset,
        signal,
        onResponse: ({ headers }) => {
          total = Number(headers.get('x-total-count'))
        },
      })
      return { rows, total }
    },
    initialPageParam: 0,
    getNextPageParam: ({ rows, total }, pages) => {
      const read = pages.reduce((sum, page) => sum + page.rows.length, 0)
      return rows.length > 0 && read < total ? read : undefined
    },
  })
  const { data, hasNextPage, isFetching, error, fetchNextPage } = query
  useEffect(() => {
    if (hasNextPage && !isFetching && !error) void fetchNextPage()
  }, [hasNextPage, isFetching, error, fetchNextPage])
  return { ...query, rows: data?.pages.flatMap(({ rows }) => rows), total: data?.pages.at(-1)?.total ?? 0 }
}
