/** The pages of the audit log. */
import type { AuditPage } from '@graticule/client'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useClient } from '../../session/session.tsx'
import { type ActivitySearch, auditFilter } from './activity-search.ts'

const pageSize = 50

/** A cursor continues behind an entry, so that entries that come meanwhile move nothing. */
export function useActivity({ entry: _, ...search }: ActivitySearch): UseQueryResult<AuditPage> {
  const client = useClient()
  return useQuery({
    queryKey: ['audit', search],
    queryFn: ({ signal }) => {
      const filter = auditFilter(search, Date.now())
      const { after: cursor } = search
      return client.audit.page({ limit: pageSize, ...(filter && { filter }), ...(cursor && { cursor }), signal })
    },
    placeholderData: keepPreviousData,
  })
}
