/** The services of the operations on agents. */
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../access/acl.ts'
import { operationUsing } from '../http/operation.ts'
import type { RecordCache } from '../resource/record-cache.ts'
import type { BaseServices } from '../resource/resource.ts'
import type { Agent } from './agent.ts'
import type { Agents } from './agents.ts'
import type { Question } from './question.ts'

export type AgentServices = BaseServices & {
  readonly agents: Agents
  readonly knownAgents: RecordCache<Agent>
  /** The tools that an agent may use for a caller. */
  toolsFor(request: FastifyRequest, caller: Caller, agent: Agent): NonNullable<Question['tools']>
  /** Rate limit for connects, by key. */
  mayConnectWorker(keyHash: string): boolean
}

export const operation = operationUsing<AgentServices>()
