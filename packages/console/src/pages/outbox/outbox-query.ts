/**
 * The mails of the outbox. Only a master key may read them, because their links grant access like passwords. Each reading
 * leaves an entry in the audit log, so they are asked for where they are shown, and when somebody looks, not every few seconds.
 */
import type { OutboxEntry } from '@graticule/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useSession } from '../../session/session.tsx'

export function useOutbox(): UseQueryResult<OutboxEntry[]> {
  const { client, access } = useSession()
  return useQuery({
    queryKey: queryKeys.outbox.list,
    queryFn: ({ signal }) => client.server.outbox.list({ limit: 100, signal }),
    enabled: access.type === 'master',
    staleTime: 0,
  })
}
