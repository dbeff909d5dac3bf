/** Searches records by name and turns them into commands that open them. */
import type { Client } from '@graticule/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { AclClass } from '../../../server/src/api/access/grants.ts'
import type { IconName } from '../components/icons.ts'
import { useClient, useMay } from '../session/session.tsx'
import type { Command, Navigate } from './palette-commands.ts'

const quietMs = 150
const shownOfEach = 6

type RecordMatch = { id: string; name: string }

interface Kind {
  title: string
  aclClass: AclClass
  icon: IconName
  to(id: string): string
  find(client: Client, filter: { name: { $iLike: string } }, signal: AbortSignal): Promise<RecordMatch[]>
}

const fields = ['id', 'name'] as const
const kinds: readonly Kind[] = [
  {
    title: 'Datasets',
    aclClass: 'datasets',
    icon: 'data',
    to: (id) => `/data/${id}/table`,
    find: (client, filter, signal) => client.datasets.list({ filter, fields: [...fields], limit: shownOfEach, signal }),
  },
  {
    title: 'Maps',
    aclClass: 'styles',
    icon: 'maps',
    to: (id) => `/maps/${id}/look`,
    find: (client, filter, signal) => client.styles.list({ filter, fields: [...fields], limit: shownOfEach, signal }),
  },
  {
    title: 'Agents',
    aclClass: 'agents',
    icon: 'agents',
    to: (id) => `/agents/${id}`,
    find: (client, filter, signal) => client.agents.list({ filter, fields: [...fields], limit: shownOfEach, signal }),
  },
]

/** Escapes the wildcards `%` and `_`. */
const pattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

export function useRecords(text: string, navigate: Navigate): { value: string; items: Command[] }[] {
  const client = useClient()
  const may = useMay()
  const words = useQuiet(text)
  const { data = [] } = useQuery({
    queryKey: ['palette', words],
    enabled: words !== '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      Promise.all(
        kinds
          .filter(({ aclClass }) => may(aclClass, 'read'))
          .map(async (kind) => ({
            kind,
            records: await kind.find(client, { name: { $iLike: pattern(words) } }, signal),
          })),
      ),
  })
  if (text === '') return []
  return data.map(({ kind, records }) => ({
    value: kind.title,
    items: records.map(({ id, name }) => ({
      id: `${kind.aclClass}/record/${id}`,
      label: name,
      icon: kind.icon,
      run: () => void navigate({ to: kind.to(id) }),
    })),
  }))
}

/** Debounces the text. */
function useQuiet(text: string): string {
  const [quiet, setQuiet] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(text), quietMs)
    return () => clearTimeout(timer)
  }, [text])
  return quiet
}
