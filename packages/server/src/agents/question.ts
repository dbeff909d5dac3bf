import { hash } from 'node:crypto'
import type { Agent } from './agent.ts'
import type { Call } from './call.ts'
import type { Entry } from './history.ts'
import type { Invoke, Message, Tools } from './protocol.ts'
import type { Trace } from './tracing.ts'

/** Who asks an agent for what. */
export type Question = {
  readonly agent: Agent
  readonly call: Call
  readonly mode: 'invoke' | 'stream'
  /** In hexadecimal. */
  readonly keyHash: string
  /** The user of the access token, or of the key. */
  readonly userId: number | null
  readonly trace: Trace
  /** What lets the worker use the platform's tools on behalf of whoever asks, for so many milliseconds. */
  tools?(invocationId: string, remainingMs: number): Tools
}

/** Does the platform keep what is said in this conversation? */
export const isRemembered = ({ agent, call }: Question): boolean =>
  agent.memory === 'platform' && call.conversationId !== undefined

/** The name by which workers know who asks: the user, else the key. It is the same each time, and tells nothing else. */
const callerName = ({ agent, userId, keyHash }: Question): string =>
  hash('sha256', `${agent.id} ${userId === null ? `key ${keyHash}` : `user ${userId}`}`, 'base64url').slice(0, 22)

/** As the history has it when it begins. */
export function entryOf(id: string, question: Question): Entry {
  const { agent, call, mode, keyHash, userId, trace } = question
  const isKept = agent.storeContent || isRemembered(question)
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
    input: isKept ? call.input : null,
    output: null,
  }
}

/** As a worker is told. */
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
