import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Caller, Scope } from '../../api/access/acl.ts'
import { createEventStream, eventSchema, eventStreamHeaders } from '../../api/http/answers/event-stream.ts'
import type { Answer, Operation } from '../../api/http/operation.ts'
import { hasLeft } from '../../api/http/request-signal.ts'
import { createRecordCache, type RecordCache } from '../../api/resource/record-cache.ts'
import type { BaseServices } from '../../api/resource/resource.ts'
import { ApiError, isNotFound } from '../../kernel/errors.ts'
import { type Agent, agent as agentResource } from '../agent.ts'
import type { Agents } from '../agents.ts'
import { type AgentServices, operation } from '../services.ts'
import { callSchema, readCall } from './call.ts'
import { once } from './idempotency.ts'
import type { Invocation } from './invocation.ts'
import { errorPayload } from './outcome.ts'
import type { Question } from './question.ts'

const bodyLimit = 1_048_576

const usageSchema = Type.Object({}, { additionalProperties: true, description: 'Tokens and cost, as far as known' })
const responseSchema = Type.Object(
  {
    invocationId: Type.String({ format: 'uuid' }),
    output: Type.String(),
    text: Type.String({ description: 'The same as output' }),
    finishReason: Type.String(),
    model: Type.String(),
    usage: usageSchema,
    durationMs: Type.Number(),
    conversationId: Type.Optional(Type.String()),
    artifacts: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
  },
  { title: 'AgentInvokeResponse' },
)

/** Cache of agents for invocations, fresh to a second. */
export const createAgentCache = (services: BaseServices): RecordCache<Agent> =>
  createRecordCache({ resource: agentResource, services }, ({ entity }) => entity as unknown as Agent)

const common = {
  audit: { none: 'Invocations have a history of their own.' },
  access: { class: 'agents', level: 'execute' },
  method: 'POST',
  body: callSchema,
  bodyLimit,
  repairsText: true,
  beforeBody: ({ scope, services }: Pick<InvokeContext, 'scope' | 'services'>, { id }: { readonly id: string }) =>
    findAgent(services, scope, id),
  failures: [429, 502, 504],
} as const

export const invokeOperations: readonly Operation<AgentServices>[] = [
  operation({
    ...common,
    id: 'agents.invoke',
    path: `${agentResource.path}/{id}/invoke`,
    summary: 'Ask an agent and wait for its whole answer',
    description: 'With an Idempotency-Key, a repeated call within a day gets the answer of the first.',
    success: { status: 200, description: 'The answer', schema: responseSchema, headers: ['X-Invocation-Id'] },
    failures: [409, ...common.failures],
    async handle(context, { params: { id }, body }) {
      const { db, secrets, agents } = context.services
      const question = await questionOf(context, id, body, 'invoke')
      const key = context.request.headers['idempotency-key']
      if (typeof key !== 'string') return invoke(agents, context.signal, question)
      const { agent, keyHash, userId } = question
      const call = { agentId: agent.id, keyHash, userId, key, body, replicaId: agents.replicaId }
      const work = async () => (await invoke(agents, context.signal, question)).body as { invocationId: string }
      const { answer, isReplay } = await once(db, secrets, call, work)
      const { invocationId } = answer as { invocationId: string }
      const headers = { 'x-invocation-id': invocationId, 'idempotency-replayed': String(isReplay) }
      return { headers, body: answer }
    },
  }),
  operation({
    ...common,
    id: 'agents.stream',
    path: `${agentResource.path}/{id}/stream`,
    summary: 'Ask an agent and read its answer while it is made',
    description:
      'Server-Sent Events: `start`, then `delta` with pieces of the text, then `done` or `error`. ' +
      'What fails before the first output is an ordinary error. A stream without `done` or `error` was cut off.',
    success: {
      status: 200,
      description: 'The events',
      schema: eventSchema(['start', 'delta', 'done', 'error']),
      contentType: 'text/event-stream',
      headers: ['X-Invocation-Id'],
    },
    async handle(context, { params: { id }, body }) {
      const question = await questionOf(context, id, body, 'stream')
      return stream(context.services.agents, context, question)
    },
  }),
]

type InvokeContext = { request: FastifyRequest; caller: Caller; scope: Scope; services: AgentServices }

async function questionOf(
  { request, caller, scope, services }: InvokeContext,
  id: string,
  body: Parameters<typeof readCall>[0],
  mode: 'invoke' | 'stream',
): Promise<Question> {
  const { agents, toolsFor } = services
  const { limits, tracing } = agents
  const agent = await findAgent(services, scope, id)
  const call = readCall(body, limits)
  const tools = toolsFor(request, caller, agent)
  const trace = tracing.begin(request.headers.traceparent, agent, call)
  const userId = caller.bearer?.userId ?? caller.userId
  return { agent, call, mode, keyHash: caller.keyHash, userId, trace, tools }
}

const findAgent = ({ agentCache }: AgentServices, scope: Scope, id: string): Promise<Agent> =>
  agentCache.get(scope, id).catch(explainAbsence)

function explainAbsence(error: unknown): never {
  if (!isNotFound(error)) throw error
  throw new ApiError('agent_not_found', 'There is no Agent with this id.')
}

type Context = { readonly request: FastifyRequest; readonly signal: AbortSignal }

/** Answers when the invocation has ended. */
function invoke(agents: Agents, signal: AbortSignal, question: Question): Promise<Answer> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const pieces: string[] = []
    const invocation = agents.begin(question, {
      open() {},
      write: (text) => pieces.push(text) > 0,
      done({ invocationId, ...ending }) {
        forget()
        const { conversationId } = question.call
        const output = pieces.join('')
        const body = { invocationId, output, text: output, ...ending, ...(conversationId && { conversationId }) }
        resolve({ headers: { 'x-invocation-id': invocationId }, body })
      },
      fail(error) {
        forget()
        reject(error)
      },
    })
    const forget = endWith(signal, invocation)
  })
}

/** Server-Sent Events. The headers wait for the first output, so that a failure before it is an HTTP status. */
function stream(agents: Agents, { request, signal }: Context, question: Question): Promise<Answer> {
  signal.throwIfAborted()
  const { keepaliveMs, stalledMs } = agents.limits
  return new Promise((resolve, reject) => {
    let isOpen = false
    const events = createEventStream({
      keepaliveMs,
      stalledMs,
      onRoom: () => invocation.room(),
      onStalled() {
        invocation.leave('slow_consumer')
        // Reset instead of close, or the system keeps the unread buffers of a client that never reads.
        request.raw.socket.resetAndDestroy()
      },
    })
    const invocation = agents.begin(question, {
      open(invocationId) {
        isOpen = true
        events.send('start', { invocationId })
        resolve({ headers: { ...eventStreamHeaders, 'x-invocation-id': invocationId }, body: events.body })
      },
      write: (text) => events.send('delta', { text }),
      done({ invocationId, ...ending }) {
        forget()
        events.end('done', { ...ending, invocationId })
      },
      fail(error) {
        forget()
        if (isOpen) return events.end('error', errorPayload(error))
        events.body.destroy()
        reject(error)
      },
    })
    const forget = endWith(signal, invocation)
  })
}

/** The call ends with its request: when the client leaves, and when its credential is revoked. */
function endWith(signal: AbortSignal, invocation: Invocation): () => void {
  const end = () => {
    const { reason } = signal
    if (reason instanceof ApiError && !hasLeft(reason)) invocation.end(reason.code, reason.message, 'key_revoked')
    else invocation.leave('client_disconnected')
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return () => signal.removeEventListener('abort', end)
}
