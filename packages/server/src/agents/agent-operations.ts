import type { Answer, Operation } from '../http/operation.ts'
import type { Entity } from '../resource/resource.ts'
import type { Agents } from './agents.ts'

/** The standard operations, with what only the connections tell in their answers. */
export function withLiveFields(operations: readonly Operation[], agents: Agents): Operation[] {
  return operations.map((operation) => ({
    ...operation,
    async handle(context, input) {
      const answer = await operation.handle(context, input)
      if (operation.method === 'DELETE') await agents.recheck()
      return answer.status === 304 ? answer : completed(answer, agents)
    },
  }))
}

function completed(answer: Answer, agents: Agents): Answer {
  const { json, ...rest } = answer
  const body = json === undefined ? answer.body : JSON.parse(json)
  if (Array.isArray(body)) for (const entity of body) complete(entity, agents)
  else if (typeof body === 'object' && body !== null) complete(body as Entity, agents)
  return { ...rest, ...(body !== undefined && { body }) }
}

/** `fields` may have left the id out; then the record's own word stands. */
function complete(entity: Entity, agents: Agents): void {
  if (typeof entity.id !== 'string') return
  for (const [name, value] of Object.entries(agents.live(entity.id))) if (name in entity) entity[name] = value
}
