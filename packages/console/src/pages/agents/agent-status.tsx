/** The status of an agent: whether a worker is online, and how many slots are in use. */
import type { Agent } from '@graticule/client'
import type { ReactElement } from 'react'
import { StatusDot } from '../../components/note.tsx'
import { formatNumber } from '../../format.ts'

type Live = Pick<Agent, 'enabled' | 'status' | 'workers' | 'capacity' | 'inFlight'>

interface AgentStatusProps {
  agent: Live
}

export function AgentStatus({ agent }: AgentStatusProps): ReactElement {
  if (!agent.enabled) return <StatusDot kind="off">disabled</StatusDot>
  if (agent.status === 'offline') return <StatusDot kind="danger">offline</StatusDot>
  if (agent.status === 'draining') return <StatusDot kind="warn">draining</StatusDot>
  return <StatusDot kind="ok">online</StatusDot>
}

/** "2 workers"; the platform itself does not count. */
export function workersText({ workers, capacity }: Pick<Agent, 'workers' | 'capacity'>): string {
  if (workers === 0) return capacity > 0 ? 'the server itself' : 'no worker'
  return workers === 1 ? '1 worker' : `${formatNumber(workers)} workers`
}

/** "3 of 8 slots" */
export const slotsText = ({ inFlight, capacity }: Pick<Agent, 'inFlight' | 'capacity'>): string =>
  `${formatNumber(inFlight)} of ${formatNumber(capacity)} slots`
