/** The page of an agent: playground, history, workers, how to connect, and settings. */
import type { Agent } from '@graticule/client'
import { useParams } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { LinkTabs, Page } from '../../components/page.tsx'
import { useAgent } from './agent-queries.ts'
import { AgentStatus, slotsText, workersText } from './agent-status.tsx'
import { agentName } from './agent-types.ts'
import classes from './agents.module.css'
import { ConnectTab } from './connect-tab.tsx'
import { HistoryTab } from './history-tab.tsx'
import { Playground } from './playground/playground.tsx'
import { useConversation } from './playground/use-conversation.ts'
import { SettingsTab } from './settings-tab.tsx'
import { WorkersTab } from './workers-tab.tsx'

const tabs = [
  ['playground', 'Playground'],
  ['history', 'History'],
  ['workers', 'Workers'],
  ['connect', 'Connect'],
  ['settings', 'Settings'],
] as const

const back = { to: '/agents', label: 'All agents' }

export function AgentPage(): ReactElement {
  const { agentId, tab } = useParams({ from: '/shell/agents/$agentId/$tab' })
  const { data: agent, error, refetch } = useAgent(agentId)
  const links = tabs.map(([name, label]) => ({ to: `/agents/${agentId}/${name}`, label }))
  const isFilled = tab === 'playground'
  return (
    <Page
      title={agent ? agentName(agent) : 'Agent'}
      facts={agent && <Facts agent={agent} />}
      back={back}
      tabs={<LinkTabs label="Parts of the agent" tabs={links} />}
      isPadded={!isFilled}
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!agent && !error && <Skeleton height="100%" />}
      {/* Keyed by id, so that each agent has its own conversation. */}
      {agent && <AgentTab key={agent.id} agent={agent} tab={tab} />}
    </Page>
  )
}

interface FactsProps {
  agent: Agent
}

function Facts({ agent }: FactsProps): ReactElement {
  return (
    <span className={classes.facts}>
      <AgentStatus agent={agent} />
      <span>{workersText(agent)}</span>
      {agent.capacity > 0 && <span>{slotsText(agent)}</span>}
    </span>
  )
}

interface AgentTabProps {
  agent: Agent
  tab: string
}

/** Holds the conversation, so that switching to another tab does not end it. */
function AgentTab({ agent, tab }: AgentTabProps): ReactElement {
  const conversation = useConversation(agent)
  if (tab === 'playground') return <Playground agent={agent} conversation={conversation} />
  if (tab === 'history') return <HistoryTab agent={agent} />
  if (tab === 'workers') return <WorkersTab agent={agent} />
  if (tab === 'connect') return <ConnectTab agent={agent} />
  if (tab === 'settings') return <SettingsTab agent={agent} />
  return <Empty title={`An agent has no page “${tab}”`} />
}
