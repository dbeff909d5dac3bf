import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { Bridges } from './bridges.ts'
import { closeCodes } from './protocol.ts'
import type { Workers } from './workers.ts'

/** Ends what serves an agent that was deleted. What runs on the strength of a credential ends with its request's signal. */
export type Watch = {
  /** Looks at once; otherwise every half second. */
  look(): Promise<void>
  close(): void
}

const everyMs = 500

type WatchOptions = { db: Db; workers: Workers; bridges: Bridges; onError(error: unknown): void }

export function createWatch({ db, workers, bridges, onError }: WatchOptions): Watch {
  let isLooking = false

  async function look(): Promise<void> {
    const connections = [...workers.connections()]
    const bridged = bridges.agentIds()
    if (connections.length + bridged.length === 0) return
    const agentIds = [...new Set([...connections.map(({ agentId }) => agentId), ...bridged])]
    const known = await db.query<{ id: string }>(sql`SELECT id FROM svc.agents WHERE id = ANY(${agentIds}::uuid[])`)
    const live = new Set(known.map(({ id }) => id))
    for (const { agentId, close } of connections) {
      if (!live.has(agentId)) close(closeCodes.agentDeleted, 'agent deleted')
    }
    for (const agentId of bridged) if (!live.has(agentId)) bridges.lose(agentId)
  }

  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    look()
      .catch(onError)
      .finally(() => {
        isLooking = false
      })
  }, everyMs).unref()
  return { look: () => look().catch(onError), close: () => clearInterval(timer) }
}
