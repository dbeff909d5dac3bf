/** A turn of a conversation: question, answer, state, and advice after a failure. */
import { type AgentAnswer, type AgentQuestion, ApiError } from '@graticule/client'

/**
 * `stopped` by the user is not a failure. `incomplete` is a stream that was cut off before its end marker, so an unknown
 * part is missing.
 */
export type TurnState = 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed' | 'incomplete'

export interface Turn {
  id: string
  input: string
  answer: string
  state: TurnState
  invocationId?: string | undefined
  /** The time to the first piece of the answer. */
  firstMs?: number | undefined
  totalMs?: number | undefined
  model?: string | undefined
  usage?: AgentAnswer['usage'] | undefined
  finishReason?: string | undefined
  artifacts?: AgentAnswer['artifacts'] | undefined
  error?: unknown
}

/** The client's codes for a broken connection; their status is 0, because no server sent them. */
const brokenCodes = ['truncated', 'network_error', 'timeout']

export function endOf(error: unknown, signal: AbortSignal, hasText: boolean): Pick<Turn, 'state' | 'error'> {
  if (signal.aborted) return { state: 'stopped' }
  const isBroken = error instanceof ApiError && error.status === 0 && brokenCodes.includes(error.code)
  const isCut = isBroken && (hasText || error.code === 'truncated')
  return isCut ? { state: 'incomplete', error } : { state: 'failed', error }
}

/** The API's limit for earlier messages. */
const mostMessages = 100

/** Earlier turns, for agents that store no conversations. Only those that were answered completely or stopped by the user. */
export function turnMessages(turns: readonly Turn[]): NonNullable<AgentQuestion['messages']> {
  return turns
    .filter(({ state, answer }) => answer !== '' && (state === 'done' || state === 'stopped'))
    .flatMap(({ input, answer }) => [
      { role: 'user' as const, content: input },
      { role: 'assistant' as const, content: answer },
    ])
    .slice(-mostMessages)
}

/** Advice by error code; the server's message says what happened. */
export const advice: Readonly<Record<string, string>> = {
  input_required: 'Write something to ask first.',
  input_too_large: 'Ask with less text: the message above says how much is allowed.',
  agent_rejected: 'The agent itself refused this input. Change it as it says and send again.',
  unauthorized: 'Sign in with a key that has execute on agents, or ask an administrator for one.',
  key_revoked: 'Sign in with another key: this one was deleted, or its user or session has ended.',
  agent_not_found: 'It may have been deleted, or this key may not see it. Go back to the list of agents.',
  agent_busy: 'Send again in a moment. If it happens often, start another worker or raise the capacity.',
  agent_failed: 'The handler of the worker threw. Its log says why; look for the invocation id.',
  provider_failed: 'The model behind the agent failed. The log of the worker has the provider’s answer; send again.',
  agent_disconnected: 'The worker went away while it answered. See under Workers whether it is back, and send again.',
  agent_unavailable: 'Start a worker: the Connect tab has one to copy. A disabled agent is enabled under Settings.',
  cancelled: 'Somebody cancelled it in the history. Send again if that was a mistake.',
  shutting_down: 'The server is being restarted. Send again in a few seconds.',
  agent_timeout: 'The worker said nothing for too long. See its log, or raise the time limits under Settings.',
  network_error: 'Check whether the server runs and can be reached, and send again.',
  timeout: 'Check whether the server runs and can be reached, and send again.',
  busy: 'Send again in a moment.',
}
