import type { Answer, Operation } from '../api/http/operation.ts'
import type { Entity } from '../api/resource/resource.ts'
import { standardOperations } from '../api/resource/standard-operations.ts'
import { agent } from './agent.ts'
import type { Agents } from './agents.ts'
import type { AgentServices } from './services.ts'

/** The standard operations, with the status and load of the connections filled in. */
export const agentOperations: readonly Operation<AgentServices>[] = standardOperations<AgentServices>(agent).map(
  (operation) => ({
    ...operation,
    async handle(context, input) {
      const { agents } = context.services
      const answer = await operation.handle(context, input)
      if (operation.method === 'DELETE') await agents.recheck()
      return answer.status === 304 ? answer : await completed(answer, agents)
    },
  }),
)

async function completed(answer: Answer, agents: Agents): Promise<Answer> {
  const { json, ...rest } = answer
  const body = json === undefined ? answer.body : JSON.parse(json)
  await complete(Array.isArray(body) ? body : [body], agents)
  return { ...rest, ...(body !== undefined && { body }) }
}

/** Without an id, which `fields` may leave out, the stored values stay. */
async function complete(body: readonly unknown[], { bridges, live }: Agents): Promise<void> {
  const entities = body.filter(hasId)
  const partial = entities.filter((entity) => !('type' in entity && 'config' in entity)).map(({ id }) => id)
  const rest = await bridges.describe(partial)
  for (const entity of entities) {
    const fields = live({ ...entity, ...rest.get(entity.id) })
    for (const [name, value] of Object.entries(fields)) if (name in entity) entity[name] = value
  }
}

const hasId = (value: unknown): value is Entity & { id: string } =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
