/** The workers that currently serve an agent. */
import type { Agent } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { buttonClass } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton, StatusDot } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatDate, formatRelative } from '../../format.ts'
import { useWorkers } from './agent-queries.ts'
import { slotsText } from './agent-status.tsx'
import classes from './agents.module.css'

interface WorkersTabProps {
  agent: Agent
}

export function WorkersTab({ agent }: WorkersTabProps): ReactElement {
  const { data: workers, error, refetch } = useWorkers(agent.id)
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!workers) return <Skeleton height={120} />
  if (workers.length === 0) return <NoWorkers agent={agent} />
  return (
    <table className={layout.list}>
      <thead>
        <tr>
          <th>Worker</th>
          <th>State</th>
          <th data-align="end">In use</th>
          <th className={classes.wideOnly}>Version</th>
          <th className={classes.wideOnly}>Speaks by</th>
          <th>Connected</th>
        </tr>
      </thead>
      <tbody>
        {workers.map((worker) => (
          <tr key={worker.connectionId}>
            <td className={classes.mono}>{worker.workerId}</td>
            <td>
              <StatusDot kind={worker.status === 'online' ? 'ok' : 'warn'}>{worker.status}</StatusDot>
            </td>
            <td data-align="end">{slotsText(worker)}</td>
            <td className={classes.wideOnly}>{worker.version ?? '–'}</td>
            <td className={classes.wideOnly}>{worker.sdk ?? '–'}</td>
            <td title={formatDate(worker.connectedAt)}>{formatRelative(worker.connectedAt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface NoWorkersProps {
  agent: Agent
}

function NoWorkers({ agent }: NoWorkersProps): ReactElement {
  const isBridged = agent.capacity > 0
  return (
    <Empty
      title={isBridged ? 'The server itself answers' : 'No worker is connected'}
      action={
        <Link to="/agents/$agentId/$tab" params={{ agentId: agent.id, tab: 'connect' }} className={buttonClass()}>
          Connect a worker
        </Link>
      }
    >
      <p>
        {isBridged
          ? 'A worker that connects for this agent is asked first.'
          : 'A worker is any process that can reach this server: your laptop, a container, a machine behind a firewall. It appears here as soon as it has connected.'}
      </p>
    </Empty>
  )
}
