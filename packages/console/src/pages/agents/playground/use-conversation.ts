/**
 * A conversation with an agent, with streamed answers. The first piece is shown at once, further ones once per animation
 * frame, because a fast model sends more pieces than a screen can draw. Leaving the agent's page cancels the invocation.
 */
import type { Agent, AgentQuestion, Client } from '@graticule/client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { createFrameBatch } from './frame-batch.ts'
import { endOf, type Turn, turnMessages } from './turn.ts'

export interface Conversation {
  id: string
  turns: readonly Turn[]
  isRunning: boolean
  ask(question: AgentQuestion): void
  stop(): void
  /** Clears the turns; the next question starts a new conversation. */
  restart(): void
}

export function useConversation(agent: Agent): Conversation {
  const client = useClient()
  const queryClient = useQueryClient()
  const [id, setId] = useState(() => crypto.randomUUID() as string)
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const change = (turnId: string, fields: Partial<Turn>) =>
    setTurns((all) => all.map((turn) => (turn.id === turnId ? { ...turn, ...fields } : turn)))

  const ask = (input: AgentQuestion) => {
    const abort = new AbortController()
    running.current = abort
    const turn: Turn = { id: crypto.randomUUID(), input: input.input, answer: '', state: 'waiting' }
    const earlier = agent.memory === 'none' && !input.messages ? turnMessages(turns) : []
    const question = { conversationId: id, ...(earlier.length > 0 ? { messages: earlier } : {}), ...input }
    setTurns([...turns, turn])
    const show = (fields: Partial<Turn>) => change(turn.id, fields)
    void read(client, agent.id, question, abort.signal, show).finally(() => {
      if (running.current === abort) running.current = null
      void queryClient.invalidateQueries({ queryKey: queryKeys.agents.one(agent.id) })
    })
  }
  return {
    id,
    turns,
    isRunning: turns.some(({ state }) => state === 'waiting' || state === 'streaming'),
    ask,
    stop: () => running.current?.abort(),
    restart() {
      running.current?.abort()
      setTurns([])
      setId(crypto.randomUUID())
    },
  }
}

/** Runs one turn and updates it until it ends. */
async function read(
  client: Client,
  agentId: string,
  question: AgentQuestion,
  signal: AbortSignal,
  show: (fields: Partial<Turn>) => void,
): Promise<void> {
  const begin = performance.now()
  const pieces: string[] = []
  const later = createFrameBatch(() => show({ answer: pieces.join('') }))
  const onResponse = ({ headers }: Response) => show({ invocationId: headers.get('x-invocation-id') ?? undefined })
  try {
    for await (const event of client.agents.stream(agentId, question, { signal, onResponse })) {
      if (event.type === 'start') show({ state: 'streaming', invocationId: event.invocationId })
      else if (event.type === 'delta') {
        pieces.push(event.text)
        if (pieces.length === 1) show({ firstMs: performance.now() - begin, answer: event.text })
        else later.ask()
      } else {
        const { model, usage, finishReason, artifacts } = event
        show({ state: 'done', model, usage, finishReason, artifacts })
      }
    }
  } catch (error) {
    show(endOf(error, signal, pieces.length > 0))
  } finally {
    later.cancel()
    show({ answer: pieces.join(''), totalMs: performance.now() - begin })
  }
}
