/** The details of an invocation, with its texts if the agent stores them and the key may read them. */
import type { Agent, AgentInvocation } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import type { ReactElement, ReactNode } from 'react'
import { Copyable } from '../../components/copyable.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Note, StatusDot } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatBytes, formatDate, formatMs } from '../../format.ts'
import { useMay } from '../../session/session.tsx'
import classes from './agents.module.css'
import { invocationDots, usageText } from './invocation-labels.ts'
import { advice } from './playground/turn.ts'

interface InvocationSheetProps {
  agent: Agent
  invocation: AgentInvocation
  onClose(): void
}

export function InvocationSheet({ agent, invocation, onClose }: InvocationSheetProps): ReactElement {
  const { status, errorCode, input, output } = invocation
  return (
    <Dialog kind="sheet" isOpen title="Invocation" onClose={onClose}>
      <div className={layout.section}>
        <dl className={classes.details}>
          {factsOf(invocation).map(([term, value]) => (
            <Fact key={term} term={term}>
              {value}
            </Fact>
          ))}
          <Fact term="Status">
            <StatusDot kind={invocationDots[status]}>{status}</StatusDot>
          </Fact>
          {errorCode && (
            <Fact term="Error">
              <code>{errorCode}</code>
            </Fact>
          )}
          <Fact term="Invocation">
            <Copyable text={invocation.id} label="invocation id" />
          </Fact>
          {invocation.conversationId && (
            <Fact term="Conversation">
              <Copyable text={invocation.conversationId} label="conversation id" />
            </Fact>
          )}
          {invocation.traceId && (
            <Fact term="Trace">
              <Copyable text={invocation.traceId} label="trace id" />
            </Fact>
          )}
        </dl>
        {errorCode && advice[errorCode] && <p>{advice[errorCode]}</p>}
        {input !== null && <Transcript label="Input" text={input} />}
        {output !== null && <Transcript label="Output" text={output} />}
        {input === null && <NotKept agent={agent} />}
      </div>
    </Dialog>
  )
}

interface FactProps {
  term: string
  children: ReactNode
}

function Fact({ term, children }: FactProps): ReactElement {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  )
}

function factsOf(invocation: AgentInvocation): [term: string, value: string][] {
  const { createdAt, ttfbMs, durationMs, inputBytes, outputBytes, usage, model, workerId, mode, finishReason, userId } =
    invocation
  const facts: [string, string | null | undefined][] = [
    ['Asked', formatDate(createdAt)],
    ['First word', ttfbMs === null ? null : formatMs(ttfbMs)],
    ['Total', durationMs === null ? null : formatMs(durationMs)],
    ['Input', formatBytes(inputBytes)],
    ['Output', outputBytes === null ? null : formatBytes(outputBytes)],
    ['Used', usageText(usage)],
    ['Model', model],
    ['Worker', workerId],
    ['Ended by', finishReason],
    ['Asked as', mode],
    ['User', userId === null ? null : String(userId)],
  ]
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
}

interface TranscriptProps {
  label: string
  text: string
}

function Transcript({ label, text }: TranscriptProps): ReactElement {
  return (
    <section className={layout.section}>
      <h3>{label}</h3>
      <div className={classes.transcript}>{text}</div>
    </section>
  )
}

interface NotKeptProps {
  agent: Agent
}

/** Says why there is no text: the key's permissions or the agent's settings. */
function NotKept({ agent }: NotKeptProps): ReactElement {
  if (!useMay()('agents', 'write', agent.id)) {
    return <Note>What was said is shown only to keys with write on this agent.</Note>
  }
  return (
    <Note>
      What was said is not kept. Turn on “Keep inputs and outputs” under{' '}
      <Link to="/agents/$agentId/$tab" params={{ agentId: agent.id, tab: 'settings' }}>
        Settings
      </Link>{' '}
      to see it here from the next question on.
    </Note>
  )
}
