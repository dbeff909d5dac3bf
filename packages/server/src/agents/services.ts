/** The services of the operations on agents. */
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../api/access/acl.ts'
import { operationUsing } from '../api/http/operation.ts'
import type { RecordCache } from '../api/resource/record-cache.ts'
import type { BaseServices } from '../api/resource/resource.ts'
import type { Agent } from './agent.ts'
import type { Agents } from './agents.ts'
import type { Question } from './invocation/question.ts'

export type AgentServices = BaseServices & {
  readonly agents: Agents
  readonly agentCache: RecordCache<Agent>
  /** The tools that an agent may use for a caller. */
  toolsFor(request: FastifyRequest, caller: Caller, agent: Agent): NonNullable<Question['tools']>
  /** Rate limit for connects, by key. */
  mayConnectWorker(keyHash: string): boolean
}

export const operation = operationUsing<AgentServices>()
