/** The mails of the outbox. Only a master key may read them, because their links grant access like passwords. */
import type { OutboxEntry } from '@graticule/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useSession } from '../../session/session.tsx'

export function useOutbox({ isPolled = false }: { isPolled?: boolean } = {}): UseQueryResult<OutboxEntry[]> {
  const { client, access } = useSession()
  return useQuery({
    queryKey: ['outbox', 'list'],
    queryFn: ({ signal }) => client.server.outbox.list({ limit: 100, signal }),
    enabled: access.type === 'master',
    ...(isPolled ? { refetchInterval: 3000 } : { staleTime: 60_000 }),
  })
}
