import { hash } from 'node:crypto'
import type { Agent } from '../agent.ts'
import type { InvocationRecord } from '../history/history.ts'
import type { Invoke, Message, Tools } from '../protocol.ts'
import type { AgentCall } from './call.ts'
import type { Trace } from './tracing.ts'

/** An invocation as it is asked: agent, request, caller and trace. */
export type Question = {
  readonly agent: Agent
  readonly call: AgentCall
  readonly mode: 'invoke' | 'stream'
  /** In hexadecimal. */
  readonly keyHash: string
  /** The user of the access token, or of the key. */
  readonly userId: number | null
  readonly trace: Trace
  /** The token with which the worker uses the platform's tools on behalf of the caller, for so many milliseconds. */
  tools?(invocationId: string, remainingMs: number): Tools
}

/** Does the platform keep the memory of this conversation? */
export const isRemembered = ({ agent, call }: Question): boolean =>
  agent.memory === 'platform' && call.conversationId !== undefined

/** A pseudonym of the caller for workers: stable for the user, else the key, and not reversible. */
const callerName = ({ agent, userId, keyHash }: Question): string =>
  hash('sha256', `${agent.id} ${userId === null ? `key ${keyHash}` : `user ${userId}`}`, 'base64url').slice(0, 22)

/** The first history entry of an invocation. */
export function entryOf(id: string, question: Question): InvocationRecord {
  const { agent, call, mode, keyHash, userId, trace } = question
  const isContentStored = agent.storeContent || isRemembered(question)
  return {
    id,
    agentId: agent.id,
    applicationId: agent.applicationId,
    createdAt: new Date().toISOString(),
    conversationId: call.conversationId ?? null,
    apiKeyHash: keyHash,
    userId,
    workerId: null,
    mode,
    status: 'running',
    statusCode: null,
    errorCode: null,
    ttfbMs: null,
    durationMs: null,
    inputBytes: Buffer.byteLength(call.input),
    outputBytes: null,
    usage: null,
    model: null,
    finishReason: null,
    traceId: trace.traceId,
    metadata: call.metadata ?? null,
    input: isContentStored ? call.input : null,
    output: null,
  }
}

/** The frame with which a worker gets it. */
export function invokeFrame(
  id: string,
  question: Question,
  messages: Message[] | undefined,
  remainingMs: number,
  window: number,
): Invoke {
  const { call, mode, trace, tools } = question
  const { input, conversationId, context, options, metadata } = call
  const { traceparent } = trace
  const invoke: Invoke = {
    t: 'invoke',
    id,
    mode,
    input,
    caller: callerName(question),
    deadline: Date.now() + remainingMs,
    remainingMs,
    window,
    trace: { traceparent },
  }
  if (messages) invoke.messages = messages
  if (conversationId !== undefined) invoke.conversationId = conversationId
  if (context) invoke.context = context
  if (options) invoke.options = options
  if (metadata) invoke.metadata = metadata
  if (tools) invoke.tools = tools(id, remainingMs)
  return invoke
}
