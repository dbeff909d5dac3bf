import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import Type from 'typebox'
import type { Operation } from '../../api/http/operation.ts'
import { getEntity } from '../../api/resource/store.ts'
import { ApiError, invalid } from '../../kernel/errors.ts'
import { limits, overLimit, type RefusingLimit } from '../../kernel/limits/limits.ts'
import { agent } from '../agent.ts'
import type { Agents } from '../agents.ts'
import { subprotocol } from '../protocol.ts'
import { type AgentServices, operation } from '../services.ts'

const nullableText = Type.Union([Type.String(), Type.Null()])
const workerSchema = Type.Object({
  connectionId: Type.String({ format: 'uuid' }),
  workerId: Type.String({ description: 'The name that the worker gives itself' }),
  status: Type.Enum(['online', 'draining']),
  capacity: Type.Integer(),
  inFlight: Type.Integer(),
  version: nullableText,
  sdk: nullableText,
  connectedAt: Type.String({ format: 'date-time' }),
})

/** The operations for workers: connecting, and the list of those connected. */
export const workerOperations: readonly Operation<AgentServices>[] = [
  operation({
    id: 'agents.connect',
    method: 'GET',
    path: `${agent.path}/{id}/connect`,
    summary: 'Serve an agent over a WebSocket',
    description: `Subprotocol \`${subprotocol}\`. Needs write access: whoever serves an agent reads what it is asked.`,
    access: { class: 'agents', level: 'write' },
    success: { status: 101, description: 'The connection is a WebSocket now' },
    failures: [426, 429],
    async handle({ request, caller, scope, signal, services }, { params: { id } }) {
      const { agents, mayConnectWorker } = services
      const { entity } = await getEntity({ resource: agent, services }, scope, id, ['id', 'applicationId'])
      const { raw } = request
      if (!agents.upgrades.isPending(raw)) throw notAnUpgrade()
      if (!offersProtocol(raw.headers['sec-websocket-protocol'])) {
        throw invalid('header/sec-websocket-protocol', `must offer ${subprotocol}`)
      }
      if (!mayConnectWorker(caller.keyHash)) throw tooOften()
      const [agentId, applicationId] = [String(entity.id), String(entity.applicationId)]
      checkRoom(agents, agentId, applicationId)
      const socket = await agents.upgrades.accept(raw)
      const identity = { connectionId: randomUUID(), agentId, applicationId }
      agents.workers.serve(identity, { socket, wire: raw.socket, signal })
      await once(socket, 'close')
      return { status: 101 }
    },
  }),
  operation({
    id: 'agents.workers',
    method: 'GET',
    path: `${agent.path}/{id}/workers`,
    summary: 'List the workers that serve an agent now',
    access: { class: 'agents', level: 'read' },
    success: { status: 200, description: 'Of all replicas', schema: Type.Array(workerSchema) },
    async handle({ scope, services }, { params: { id } }) {
      const { entity } = await getEntity({ resource: agent, services }, scope, id, ['id'])
      return { body: services.agents.workersOf(String(entity.id)) }
    },
  }),
]

function checkRoom({ workersOf, workers, limits }: Agents, agentId: string, applicationId: string): void {
  if (workersOf(agentId).length >= limits.workersPerAgent) throw full('agentWorkers', limits.workersPerAgent, 'agent')
  if (workers.countOf(applicationId) >= limits.workersPerApplication) {
    throw full('applicationWorkers', limits.workersPerApplication, 'application')
  }
}

const offersProtocol = (header: string | undefined): boolean =>
  header?.split(',').some((name) => name.trim() === subprotocol) ?? false

const notAnUpgrade = () =>
  new ApiError('upgrade_required', 'This address takes only WebSocket connections.', {
    headers: { Upgrade: 'websocket' },
  })

const full = (name: RefusingLimit, limit: number, whose: string) =>
  overLimit(name, limit, `The ${whose} already has ${limit} workers, its limit.`, { headers: { 'Retry-After': '5' } })

const tooOften = () => {
  const { value } = limits.workerConnects
  const detail = `This key connects more than ${value} workers a second. Try again in a few seconds.`
  return overLimit('workerConnects', value, detail, { headers: { 'Retry-After': '5' } })
}
