/** Code snippets that serve the agent, invoke it, and use its tools in other programs. */
import type { Agent } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import type { ReactElement, ReactNode } from 'react'
import { serverAddress } from '../../address.ts'
import { CodeBlock } from '../../components/copyable.tsx'
import { Note } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import {
  askSnippet,
  commandSnippet,
  dataWorkerSnippet,
  installLine,
  mcpCommand,
  mcpSnippet,
  workerSnippet,
} from './agent-snippets.ts'
import { workersText } from './agent-status.tsx'
import classes from './agents.module.css'

interface ConnectTabProps {
  agent: Agent
}

export function ConnectTab({ agent }: ConnectTabProps): ReactElement {
  const isServed = agent.status === 'online'
  return (
    <div className={`${layout.form} ${classes.snippets}`}>
      <Note kind={isServed ? 'ok' : 'info'}>
        {isServed ? `The agent is served by ${workersText(agent)}.` : 'This page notices when a worker connects.'} Put a
        key in place of <code>YOUR_KEY</code>: serving needs write on agents, asking execute.{' '}
        <Link to="/access/keys">API keys</Link>
      </Note>
      <Part
        title="A worker in five lines"
        text="Save it as worker.mjs and run it with Node 20 or later: node worker.mjs."
      >
        <CodeBlock text={installLine} label="command that installs the package" />
        <CodeBlock text={workerSnippet(agent.id)} label="worker" />
      </Part>
      <Part
        title="Ask your data, without a model"
        text="It finds the dataset that a question names by the tools of this server, with the rights of whoever asks, and tells its first rows."
      >
        <CodeBlock text={dataWorkerSnippet(agent.id)} label="worker that asks the data" />
      </Part>
      <Part
        title="Without code"
        text="The command of the same package puts a program, a web service or a model behind the agent."
      >
        <CodeBlock text={commandSnippet(agent.id)} label="command that serves the agent" />
      </Part>
      <Part title="Ask it" text="The answer streams as Server-Sent Events.">
        <CodeBlock text={askSnippet(agent.id)} label="command that asks the agent" />
      </Part>
      <Part
        title="Datasets for MCP clients"
        text="Assistants such as Claude Code or Cursor read this server’s datasets by the Model Context Protocol. A key with read and execute on datasets is enough."
      >
        <CodeBlock text={mcpSnippet()} label="MCP configuration" />
        <CodeBlock text={mcpCommand()} label="command for Claude Code" />
        <p>
          <a href={serverAddress('api/docs#/agents')} target="_blank" rel="noreferrer">
            All operations of agents
          </a>
        </p>
      </Part>
    </div>
  )
}

interface PartProps {
  title: string
  text: string
  children: ReactNode
}

function Part({ title, text, children }: PartProps): ReactElement {
  return (
    <section className={layout.section}>
      <h2>{title}</h2>
      <p>{text}</p>
      {children}
    </section>
  )
}
