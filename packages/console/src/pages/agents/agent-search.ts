/** The search parameters of an agent's page: the filter of the history and the open invocation. */
import { type InvocationStatus, invocationStatuses } from './invocation-labels.ts'

export interface AgentSearch {
  status?: InvocationStatus | undefined
  offset?: number | undefined
  invocation?: string | undefined
}

export function readAgentSearch(search: Readonly<Record<string, unknown>>): AgentSearch {
  const status = invocationStatuses.find((one) => one === search.status)
  const offset = Number(search.offset)
  return {
    ...(status ? { status } : {}),
    ...(Number.isInteger(offset) && offset > 0 ? { offset } : {}),
    ...(typeof search.invocation === 'string' ? { invocation: search.invocation } : {}),
  }
}
