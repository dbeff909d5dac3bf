/** The turns of a conversation. Scrolls along with new text only if it was scrolled to the end. */
import type { Agent } from '@graticule/client'
import { Link } from '@tanstack/react-router'
import { type ReactElement, useLayoutEffect, useRef, useState } from 'react'
import { Button, buttonClass } from '../../../components/button.tsx'
import { Empty, Note } from '../../../components/note.tsx'
import classes from './playground.module.css'
import { TurnView } from './turn-view.tsx'
import type { Conversation } from './use-conversation.ts'

/** Pixels from the end that count as the end. */
const nearEnd = 32

interface TranscriptProps {
  agent: Agent
  conversation: Conversation
}

export function Transcript({ agent, conversation }: TranscriptProps): ReactElement {
  const { turns, isRunning, id } = conversation
  const box = useRef<HTMLElement>(null)
  const isAtEnd = useRef(true)
  const [showsJump, setShowsJump] = useState(false)
  const goToEnd = () => box.current?.scrollTo({ top: box.current.scrollHeight })
  const last = turns.at(-1)
  // Any change of the last turn may have made the text longer.
  useLayoutEffect(() => {
    if (isAtEnd.current) goToEnd()
  }, [turns.length, last])
  const onScroll = () => {
    const element = box.current
    if (!element) return
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd
    setShowsJump(!isAtEnd.current)
  }
  // A new question scrolls to the end.
  useLayoutEffect(() => {
    if (turns.length === 0) return
    isAtEnd.current = true
    goToEnd()
  }, [turns.length])
  return (
    <div className={classes.transcriptFrame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long answers scroll, also by keyboard */}
      <section ref={box} className={classes.transcript} aria-label="Conversation" tabIndex={0} onScroll={onScroll}>
        {turns.length === 0 && <Start agent={agent} />}
        {turns.map((turn) => (
          <TurnView key={turn.id} agent={agent} turn={turn} />
        ))}
        {turns.length > 0 && (
          <p className={classes.conversation}>
            Conversation <code>{id}</code>
          </p>
        )}
      </section>
      <div role="status" className="visually-hidden">
        {isRunning ? 'The agent is answering.' : last && `The answer: ${last.state}.`}
      </div>
      {showsJump && (
        <Button icon="chevronDown" className={classes.jump} onClick={goToEnd}>
          To the end
        </Button>
      )}
    </div>
  )
}

interface StartProps {
  agent: Agent
}

function Start({ agent }: StartProps): ReactElement {
  const isOffline = agent.enabled && agent.status === 'offline'
  return (
    <>
      {!agent.enabled && (
        <Note kind="warn">This agent is disabled: every question is refused until it is enabled.</Note>
      )}
      <Empty
        title={isOffline ? 'Nobody serves this agent now' : 'Ask the agent something'}
        action={
          isOffline ? (
            <Link to="/agents/$agentId/$tab" params={{ agentId: agent.id, tab: 'connect' }} className={buttonClass()}>
              Start a worker
            </Link>
          ) : undefined
        }
      >
        <p>
          {isOffline
            ? 'Questions fail with agent_unavailable until a worker connects.'
            : 'The answer streams in here, with the time to its first word, its whole time and what it used.'}
        </p>
      </Empty>
    </>
  )
}
