import type { Db } from '../kernel/db/db.ts'
import { sql } from '../kernel/db/sql.ts'
import type { Bridges } from './bridges/bridges.ts'
import { closeCodes } from './protocol.ts'
import type { Workers } from './workers/workers.ts'

/**
 * Periodic check that closes the connections of deleted agents, whichever replica deleted them. A connection whose key was
 * revoked is closed otherwise, by the signal of its request.
 */
export type DeletedAgents = {
  /** Checks now; otherwise every half second. */
  check(): Promise<void>
  close(): void
}

const everyMs = 500

type DeletedAgentsOptions = { db: Db; workers: Workers; bridges: Bridges; onError(error: unknown): void }

export function watchDeletedAgents({ db, workers, bridges, onError }: DeletedAgentsOptions): DeletedAgents {
  let isChecking = false

  async function check(): Promise<void> {
    const connections = [...workers.connections()]
    const bridged = bridges.agentIds()
    if (connections.length + bridged.length === 0) return
    const agentIds = [...new Set([...connections.map(({ agentId }) => agentId), ...bridged])]
    const rows = await db.query<{ id: string }>(sql`SELECT id FROM svc.agents WHERE id = ANY(${agentIds}::uuid[])`)
    const live = new Set(rows.map(({ id }) => id))
    for (const { agentId, close } of connections) {
      if (!live.has(agentId)) close(closeCodes.agentDeleted, 'agent deleted')
    }
    for (const agentId of bridged) if (!live.has(agentId)) bridges.lose(agentId)
  }

  const timer = setInterval(() => {
    if (isChecking) return
    isChecking = true
    check()
      .catch(onError)
      .finally(() => {
        isChecking = false
      })
  }, everyMs).unref()
  return { check: () => check().catch(onError), close: () => clearInterval(timer) }
}
