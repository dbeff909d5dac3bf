/** The queries of the agent pages, refetched every few seconds while visible. */
import type { Agent, AgentInvocation, AgentInvocationsParams, AgentWorker } from '@graticule/client'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'

const liveMs = 3000
const historyMs = 5000
/** The maximum page size of the API. */
const mostAgents = 1000

export function useAgents(): UseQueryResult<Agent[]> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.agents.listWith({ sort: 'name' }),
    queryFn: ({ signal }) => client.agents.list({ sort: ['name'], limit: mostAgents, signal }),
    refetchInterval: liveMs,
  })
}

export function useAgent(id: string): UseQueryResult<Agent> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.agents.one(id),
    queryFn: ({ signal }) => client.agents.get(id, { signal }),
    refetchInterval: ({ state }) => (state.error ? false : liveMs),
  })
}

export function useWorkers(id: string): UseQueryResult<AgentWorker[]> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.agents.one(id, 'workers'),
    queryFn: ({ signal }) => client.agents.workers(id, { signal }),
    refetchInterval: liveMs,
  })
}

export interface HistoryPage {
  invocations: AgentInvocation[]
  total: number
}

export function useHistory(id: string, params: AgentInvocationsParams): UseQueryResult<HistoryPage> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.agents.one(id, 'invocations', params),
    async queryFn({ signal }) {
      let total = 0
      const onResponse = ({ headers }: Response) => {
        total = Number(headers.get('x-total-count'))
      }
      const invocations = await client.agents.invocations(id, { ...params, signal, onResponse })
      return { invocations, total }
    },
    placeholderData: keepPreviousData,
    refetchInterval: historyMs,
  })
}

/** Refetched when the number of running invocations changes. */
export function useLastInvocation({ id, inFlight }: Agent): UseQueryResult<AgentInvocation | null> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.agents.one(id, 'last', inFlight),
    queryFn: async ({ signal }) => (await client.agents.invocations(id, { limit: 1, signal }))[0] ?? null,
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
}
