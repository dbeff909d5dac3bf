/** The list of agents, with status and last invocation. */
import type { Agent } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { TextField } from '../../components/field.tsx'
import { Empty, Skeleton, StatusDot } from '../../components/note.tsx'
import { layout, Page } from '../../components/page.tsx'
import { formatDate, formatRelative } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import { useAgents, useLastInvocation } from './agent-queries.ts'
import { AgentStatus, slotsText, workersText } from './agent-status.tsx'
import { agentName, agentTypes } from './agent-types.ts'
import classes from './agents.module.css'
import { invocationDots } from './invocation-labels.ts'
import { NewAgentDialog } from './new-agent-dialog.tsx'

const searchFrom = 8

const example = {
  name: 'Ask your data',
  description: 'Finds a dataset by its name and tells its rows',
  type: 'remote',
} as const

export function AgentsPage(): ReactElement {
  const { data: agents, error, refetch } = useAgents()
  const [isNew, setNew] = useState(false)
  const refusal = useRefusal()
  const button = (
    <Button variant="primary" icon="plus" disabledReason={refusal('agents', 'write')} onClick={() => setNew(true)}>
      New agent
    </Button>
  )
  return (
    <Page title="Agents" facts={agents && factsOf(agents)} actions={button}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!agents && !error && <Skeletons />}
      {agents &&
        (agents.length === 0 ? <NoAgents refusal={refusal('agents', 'write')} /> : <AgentList agents={agents} />)}
      {isNew && <NewAgentDialog onClose={() => setNew(false)} />}
    </Page>
  )
}

function factsOf(agents: readonly Agent[]): string {
  const online = agents.filter(({ enabled, status }) => enabled && status === 'online').length
  return `${agents.length === 1 ? '1 agent' : `${agents.length} agents`} · ${online} online`
}

interface NoAgentsProps {
  refusal: string | undefined
}

function NoAgents({ refusal }: NoAgentsProps): ReactElement {
  const client = useClient()
  const cache = useQueryClient()
  const navigate = useNavigate()
  const make = useMutation({
    mutationFn: () => client.agents.create(example),
    async onSuccess({ id }) {
      await cache.invalidateQueries({ queryKey: queryKeys.agents.list })
      await navigate({ to: '/agents/$agentId/$tab', params: { agentId: id, tab: 'connect' } })
    },
  })
  return (
    <Empty
      title="No agents yet"
      action={
        <Button icon="play" disabled={make.isPending} disabledReason={refusal} onClick={() => make.mutate()}>
          Make an example
        </Button>
      }
    >
      <p>
        An agent is a name under which a process of yours, or a model, answers questions. Make one, then start a worker
        for it with five lines of code. Its questions and answers, their times and errors appear here.
      </p>
      <p>The example answers questions about your datasets with a worker that needs no model.</p>
      {make.error && <ErrorNote error={make.error} />}
    </Empty>
  )
}

const Skeletons = (): ReactElement => (
  <div className={layout.section}>
    {['a', 'b', 'c'].map((key) => (
      <Skeleton key={key} height={36} />
    ))}
  </div>
)

interface AgentListProps {
  agents: readonly Agent[]
}

function AgentList({ agents }: AgentListProps): ReactElement {
  const [search, setSearch] = useState('')
  const words = search.trim().toLowerCase()
  const matches = agents.filter((agent) => `${agentName(agent)} ${agent.description}`.toLowerCase().includes(words))
  return (
    <div className={layout.section}>
      {agents.length > searchFrom && (
        <div className={layout.row}>
          <TextField
            label="Search agents"
            isLabelHidden
            placeholder="Search agents"
            value={search}
            onChange={setSearch}
          />
          {words && (
            <span className={classes.quiet}>
              {matches.length} of {agents.length}
            </span>
          )}
        </div>
      )}
      <table className={`${layout.list} ${classes.agents}`}>
        <thead>
          <tr>
            <th>Name</th>
            <th>State</th>
            <th className={classes.wideOnly}>Type</th>
            <th className={classes.wideOnly}>Workers</th>
            <th className={classes.wideOnly} data-align="end">
              In use
            </th>
            <th>Last asked</th>
          </tr>
        </thead>
        <tbody>
          {matches.map((agent) => (
            <AgentRow key={agent.id} agent={agent} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface AgentRowProps {
  agent: Agent
}

function AgentRow({ agent }: AgentRowProps): ReactElement {
  const navigate = useNavigate()
  const to = `/agents/${agent.id}/playground`
  return (
    // The name is the link; the row's click handler only enlarges the target for the pointer.
    <tr className={classes.row} onClick={() => void navigate({ to })}>
      <td className={classes.nameCell}>
        <Link to={to} className={classes.name} onClick={(event) => event.stopPropagation()}>
          {agentName(agent)}
        </Link>
        {agent.description && <div className={classes.description}>{agent.description}</div>}
      </td>
      <td>
        <AgentStatus agent={agent} />
      </td>
      <td className={classes.wideOnly}>{agentTypes[agent.type].label}</td>
      <td className={classes.wideOnly}>{workersText(agent)}</td>
      <td className={classes.wideOnly} data-align="end">
        {agent.capacity > 0 ? slotsText(agent) : '–'}
      </td>
      <td>
        <LastInvocation agent={agent} />
      </td>
    </tr>
  )
}

interface LastInvocationProps {
  agent: Agent
}

function LastInvocation({ agent }: LastInvocationProps): ReactElement {
  const { data, error } = useLastInvocation(agent)
  if (error) return <span title={error.message}>unknown</span>
  if (data === undefined) return <Skeleton width={80} />
  if (data === null) return <span className={classes.quiet}>never</span>
  return (
    <span title={`${formatDate(data.createdAt)}, ${data.status}`}>
      <StatusDot kind={invocationDots[data.status]}>{formatRelative(data.createdAt)}</StatusDot>
    </span>
  )
}
