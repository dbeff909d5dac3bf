import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { Bridges } from './bridges.ts'
import type { Connection } from './connection.ts'
import type { Invocation } from './invocation.ts'
import { closeCodes } from './protocol.ts'
import type { Workers } from './workers.ts'

/** Ends what runs on the strength of a key or an agent that is gone. */
export type Watch = {
  /** Looks at once; otherwise every half second. */
  look(): Promise<void>
  close(): void
}

const everyMs = 500

type WatchOptions = {
  db: Db
  workers: Workers
  bridges: Bridges
  invocations(): Iterable<Invocation>
  onError(error: unknown): void
}

export function createWatch({ db, workers, bridges, invocations, onError }: WatchOptions): Watch {
  let isLooking = false

  async function look(): Promise<void> {
    const connections = [...workers.connections()]
    const running = [...invocations()]
    if (connections.length + running.length === 0) return
    const bridged = bridges.agentIds()
    const agentIds = [...new Set([...connections.map(({ agentId }) => agentId), ...bridged])]
    const hashes = new Set([
      ...connections.map(({ keyHash }) => keyHash),
      ...running.map(({ question }) => question.keyHash),
    ])
    const known = await db.query<{ name: string }>(sql`
      SELECT encode(hash, 'hex') AS name FROM svc.apikeys
      WHERE hash = ANY(${Array.from(hashes, (hash) => Buffer.from(hash, 'hex'))}::bytea[]) AND (expires_at IS NULL OR expires_at > clock_timestamp())
      UNION ALL SELECT id::text FROM svc.agents WHERE id = ANY(${agentIds}::uuid[])`)
    const live = new Set(known.map(({ name }) => name))
    for (const connection of connections) closeUnless(live, connection)
    for (const agentId of bridged) if (!live.has(agentId)) bridges.lose(agentId)
    for (const { question, end } of running) {
      if (live.has(question.keyHash)) continue
      end('key_revoked', 'The key of this call was revoked.', 'key_revoked')
    }
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

function closeUnless(live: ReadonlySet<string>, { keyHash, agentId, close }: Connection): void {
  if (!live.has(keyHash)) close(closeCodes.keyRevoked, 'key revoked')
  else if (!live.has(agentId)) close(closeCodes.agentDeleted, 'agent deleted')
}
