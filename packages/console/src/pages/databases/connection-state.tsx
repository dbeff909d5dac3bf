/** Whether a database of the list answers. It is asked once a minute at most, and only by keys that may test. */
import type { Database } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { StatusDot } from '../../components/note.tsx'
import { formatMs } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useMay } from '../../session/session.tsx'
import { useDriver } from './use-drivers.ts'

const freshMs = 60_000

interface ConnectionStateProps {
  database: Database
}

/** The platform's own database answers, or there would be no page. */
export function ConnectionState({ database: { id, type, updatedAt } }: ConnectionStateProps): ReactElement | null {
  const client = useClient()
  const isAsked = useMay()('databases', 'execute', id) && useDriver(type)?.isPlatform === false
  const { data, error } = useQuery({
    queryKey: queryKeys.databases.one(id, 'state', updatedAt),
    queryFn: ({ signal }) => client.databases.test(id, { signal }),
    enabled: isAsked,
    staleTime: freshMs,
    retry: false,
  })
  if (!isAsked) return null
  if (error) return <StatusDot kind="warn">not known</StatusDot>
  if (!data) return <StatusDot kind="off">asking …</StatusDot>
  return data.ok ? (
    <StatusDot kind="ok">answers in {formatMs(data.latencyMs)}</StatusDot>
  ) : (
    <StatusDot kind="danger">{data.error?.code === 'not_installed' ? 'no driver' : 'does not answer'}</StatusDot>
  )
}
