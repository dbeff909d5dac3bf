/** What somebody would see by rules that are not saved yet, asked for when they have not changed for a moment. */
import type { Dataset } from '@graticule/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { queryKeys } from '../../../../query-keys.ts'
import { useClient } from '../../../../session/session.tsx'
import type { Rule } from '../rule.ts'
import { bodyOf, type Viewer } from './viewer.ts'

const quietMs = 400

export function usePreview({ id }: Dataset, rules: readonly Rule[], viewer: Viewer | null) {
  const client = useClient()
  const asked = useSettled(JSON.stringify({ rules, viewer }))
  const { rules: sent, viewer: seeing } = JSON.parse(asked) as { rules: Rule[]; viewer: Viewer | null }
  const { data, error, isFetching } = useQuery({
    queryKey: queryKeys.datasets.one(id, 'rules', asked),
    queryFn: async ({ signal }) => {
      const who = seeing ?? { kind: 'anyone' }
      return { viewer: who, answer: await client.datasets.tryRules(id, { rules: sent, ...bodyOf(who) }, { signal }) }
    },
    enabled: seeing !== null,
    placeholderData: keepPreviousData,
  })
  const isLate = isFetching || asked !== JSON.stringify({ rules, viewer })
  return { result: viewer && data, error, isLate }
}

/** The text when it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), quietMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
