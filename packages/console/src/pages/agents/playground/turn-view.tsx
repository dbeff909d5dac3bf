/** A question with its answer, outcome, duration and usage. */
import type { Agent } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { CodeBlock, Copyable } from '../../../components/copyable.tsx'
import { ErrorNote, faultOf } from '../../../components/error-note.tsx'
import { Note, StatusDot } from '../../../components/note.tsx'
import { formatMs } from '../../../format.ts'
import { usageText } from '../invocation-labels.ts'
import classes from './playground.module.css'
import { advice, type Turn, type TurnState } from './turn.ts'

interface TurnViewProps {
  agent: Agent
  turn: Turn
}

export function TurnView({ agent, turn }: TurnViewProps): ReactElement {
  const { input, answer, state, artifacts } = turn
  return (
    <article className={classes.turn}>
      <h2 className="visually-hidden">Question</h2>
      <div className={classes.question}>{input}</div>
      <h2 className="visually-hidden">Answer</h2>
      {answer && <div className={classes.answer}>{answer}</div>}
      {state === 'waiting' && <p className={classes.waiting}>Waiting for the first word …</p>}
      {artifacts && artifacts.length > 0 && (
        <details>
          <summary>{artifacts.length === 1 ? '1 artifact' : `${artifacts.length} artifacts`}</summary>
          <CodeBlock text={JSON.stringify(artifacts, null, 2)} label="artifacts" />
        </details>
      )}
      <TurnFailure agent={agent} turn={turn} />
      <TurnFacts turn={turn} />
    </article>
  )
}

interface TurnFailureProps {
  agent: Agent
  turn: Turn
}

function TurnFailure({ agent, turn }: TurnFailureProps): ReactElement | null {
  const { state, error, answer } = turn
  if (state === 'incomplete') {
    return (
      <Note kind="warn">
        <strong>Incomplete.</strong> The connection was cut before the agent said that its answer ends here. Send again,
        or look in the history for how it ended.
      </Note>
    )
  }
  if (state !== 'failed') return null
  const { code = '' } = faultOf(error)
  return (
    <div className={classes.failure}>
      {answer && (
        <Note kind="warn">
          <strong>Incomplete.</strong> The agent failed before its answer ended.
        </Note>
      )}
      <ErrorNote error={error} />
      {code in advice && (
        <p>
          {advice[code]}{' '}
          {code === 'agent_unavailable' && (
            <Link to="/agents/$agentId/$tab" params={{ agentId: agent.id, tab: 'connect' }}>
              Connect a worker
            </Link>
          )}
        </p>
      )}
    </div>
  )
}

const endings: Record<TurnState, { kind: 'ok' | 'warn' | 'danger' | 'off'; label: string }> = {
  waiting: { kind: 'off', label: 'waiting' },
  streaming: { kind: 'ok', label: 'answering' },
  done: { kind: 'ok', label: 'done' },
  stopped: { kind: 'off', label: 'stopped by you' },
  failed: { kind: 'danger', label: 'failed' },
  incomplete: { kind: 'warn', label: 'incomplete' },
}

interface TurnFactsProps {
  turn: Turn
}

function TurnFacts({ turn }: TurnFactsProps): ReactElement {
  const { state, firstMs, totalMs, model, usage, finishReason, invocationId } = turn
  const { kind, label } = endings[state]
  const facts = [
    firstMs !== undefined && `first ${formatMs(firstMs)}`,
    totalMs !== undefined && `total ${formatMs(totalMs)}`,
    usageText(usage),
    model !== 'unknown' && model,
    finishReason && finishReason !== 'stop' && `ended by ${finishReason}`,
  ].filter((fact) => typeof fact === 'string')
  return (
    <div className={classes.facts}>
      <StatusDot kind={kind}>{label}</StatusDot>
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
      {invocationId && <Copyable text={invocationId} label="invocation id" />}
    </div>
  )
}
