import { unwatched, type Watch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { liveReplicas } from '../history/history.ts'

/** Heartbeat of this replica in `svc.replicas`, and the clean-up after replicas that no longer have one. */
export type ReplicaHeartbeat = { close(): Promise<void> }

const heartbeatMs = 5_000
const cleanUpMs = 3_600_000

type ReplicaHeartbeatOptions = { db: Db; id: string; historyDays: number; onError(error: unknown): void; watch?: Watch }

export function startReplicaHeartbeat({
  db,
  id,
  historyDays,
  onError,
  watch = unwatched,
}: ReplicaHeartbeatOptions): ReplicaHeartbeat {
  let tidiedAt = Number.NEGATIVE_INFINITY
  async function beat(): Promise<void> {
    await db.query(sql`
      INSERT INTO svc.replicas (id, seen_at) VALUES (${id}::uuid, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`)
    await db.query(sql`
      UPDATE svc.agent_invocations SET status = 'failed', status_code = 502, error_code = 'agent_disconnected'
      WHERE status = 'running' AND replica_id <> ${id}::uuid AND replica_id NOT IN (${liveReplicas})`)
    if (performance.now() - tidiedAt < cleanUpMs) return
    tidiedAt = performance.now()
    await db.query(sql`DELETE FROM svc.replicas WHERE seen_at < clock_timestamp() - interval '1 day'`)
    await db.query(sql`
      DELETE FROM svc.agent_invocations WHERE id IN (
        SELECT id FROM svc.agent_invocations
        WHERE created_at < clock_timestamp() - ${historyDays} * interval '1 day' FOR UPDATE SKIP LOCKED)`)
    await db.query(sql`
      DELETE FROM svc.agent_answers WHERE (agent_id, caller, key) IN (
        SELECT agent_id, caller, key FROM svc.agent_answers
        WHERE created_at < clock_timestamp() - interval '1 day' FOR UPDATE SKIP LOCKED)`)
  }
  let beating = watch(beat).catch(onError)
  const timer = setInterval(() => {
    beating = beating.then(() => watch(beat)).catch(onError)
  }, heartbeatMs).unref()
  return {
    async close() {
      clearInterval(timer)
      await beating
      await db.query(sql`DELETE FROM svc.replicas WHERE id = ${id}::uuid`).catch(onError)
    },
  }
}
