import { createHash } from 'node:crypto'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../kernel/errors.ts'
import { liveReplicas } from '../history/history.ts'

export type IdempotentCall = {
  agentId: string
  /** In hexadecimal. */
  keyHash: string
  /** The user, if there is one: many users can share an API key. */
  userId: number | null
  /** The header Idempotency-Key. */
  key: string
  body: unknown
  replicaId: string
}

const maxKeyLength = 255

/** Idempotency keys: the first call does the work, repetitions within a day get its answer. Failures are not kept. */
export async function once(
  db: Db,
  secrets: Secrets,
  call: IdempotentCall,
  work: () => Promise<object>,
): Promise<{ answer: object; isReplay: boolean }> {
  const { agentId, key, replicaId } = call
  if (key.length === 0 || key.length > maxKeyLength)
    throw invalid('header/idempotency-key', 'must have 1 to 255 characters')
  const bodyHash = createHash('sha256').update(JSON.stringify(call.body)).digest()
  const caller = callerOf(call)
  const row = sql`agent_id = ${agentId}::uuid AND caller = ${caller} AND key = ${key}`
  const place = `agent_answers ${agentId} ${key}`
  // A call whose replica died will never be answered, so its key is free again.
  await db.query(sql`
    DELETE FROM svc.agent_answers WHERE ${row} AND (created_at < clock_timestamp() - interval '1 day'
      OR (answer IS NULL AND replica_id <> ${replicaId}::uuid AND replica_id NOT IN (${liveReplicas})))`)
  const made = await db.query(sql`
    INSERT INTO svc.agent_answers (agent_id, caller, key, body_hash, replica_id)
    VALUES (${agentId}::uuid, ${caller}, ${key}, ${bodyHash}, ${replicaId}::uuid)
    ON CONFLICT DO NOTHING RETURNING 1`)
  if (made.length === 0) {
    const [first] = await db.query<{ body_hash: Uint8Array; answer: string | null }>(
      sql`SELECT body_hash, answer FROM svc.agent_answers WHERE ${row}`,
    )
    if (first && !bodyHash.equals(first.body_hash)) {
      throw new ApiError('conflict', 'This Idempotency-Key was used for another call. Use a new one.')
    }
    if (!first?.answer)
      throw new ApiError(
        'conflict',
        'The call with this Idempotency-Key is still running. Try again when it has ended.',
      )
    return { answer: JSON.parse(secrets.open(first.answer, place)) as object, isReplay: true }
  }
  try {
    const answer = await work()
    const sealed = secrets.seal(JSON.stringify(answer), place)
    await db.query(sql`UPDATE svc.agent_answers SET answer = ${sealed} WHERE ${row}`)
    return { answer, isReplay: false }
  } catch (error) {
    await db.query(sql`DELETE FROM svc.agent_answers WHERE ${row}`)
    throw error
  }
}

const callerOf = ({ keyHash, userId }: IdempotentCall): Buffer =>
  userId === null ? Buffer.from(keyHash, 'hex') : createHash('sha256').update(`${keyHash} ${userId}`).digest()
