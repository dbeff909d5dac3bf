import { ApiError, problemError } from '../api-error.ts'
import { changeable, creatable, type Params, readable } from '../crud.ts'
import { readEvents } from '../event-stream.ts'
import { path } from '../request.ts'
import type { Sender } from '../send.ts'
import type {
  Agent,
  AgentAnswer,
  AgentCancellation,
  AgentCreate,
  AgentInput,
  AgentInvocation,
  AgentInvocationsParams,
  AgentPatch,
  AgentUpdate,
  AgentWorker,
  Problem,
} from '../types.ts'

export type AgentQuestion = AgentInput & { input: string }

/** The events of an agent's stream, in this order: `start` once, `delta` for each piece of the answer, `done` once. */
export type AgentEvent =
  | { type: 'start'; invocationId: string }
  | { type: 'delta'; text: string }
  | ({ type: 'done' } & Omit<AgentAnswer, 'output' | 'text'>)

const root = '/api/v1/agents'

export const agentsGroup = ({ json: send, stream }: Sender) => ({
  ...readable<Agent>(send, root),
  ...creatable<Agent, AgentCreate>(send, root),
  ...changeable<Agent, AgentUpdate, AgentPatch>(send, root),
  /** Asks an agent and waits for its whole answer. */
  invoke: (id: string, data: AgentQuestion, params?: Params) =>
    send<AgentAnswer>('POST', path`/api/v1/agents/${id}/invoke`, params, { json: data }),
  /** Asks an agent and streams its answer. Leaving the loop cancels the invocation. */
  stream: (id: string, data: AgentQuestion, params?: Params) =>
    readAnswer(stream('POST', path`/api/v1/agents/${id}/stream`, params, { json: data, accept: 'text/event-stream' })),
  /** The worker processes that serve the agent. */
  workers: (id: string, params?: Params) => send<AgentWorker[]>('GET', path`/api/v1/agents/${id}/workers`, params),
  invocations: (id: string, params?: Params<AgentInvocationsParams>) =>
    send<AgentInvocation[]>('GET', path`/api/v1/agents/${id}/invocations`, params),
  cancel: (id: string, invocationId: string, params?: Params) =>
    send<AgentCancellation>('POST', path`/api/v1/agents/${id}/invocations/${invocationId}/cancel`, params),
})

/** Rejects when the agent fails, and when the stream ends without `done`. */
async function* readAnswer(pieces: AsyncIterable<string>): AsyncGenerator<AgentEvent, void> {
  for await (const { event, data } of readEvents(pieces)) {
    const payload = JSON.parse(data)
    if (event === 'error') throw problemError(payload as Problem, 0)
    yield { ...payload, type: event } as AgentEvent
    if (event === 'done') return
  }
  throw new ApiError({ status: 0, code: 'truncated', message: 'The stream was cut off: the answer is not whole.' })
}
