import type { Db } from '../../kernel/db/db.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'
import type { Question } from '../invocation/question.ts'
import type { Message } from '../protocol.ts'
import type { History } from './history.ts'

const maxTurns = 20
const maxBytes = 262_144

/** Conversation memory: the last turns with this caller, for agents whose memory the platform keeps. */
export async function recallTurns(db: Db, history: History, question: Question): Promise<Message[]> {
  const { agent, call } = question
  await history.flush()
  const turns = await db.query<{ input: string; output: string }>(sql`
    SELECT input, output FROM svc.agent_invocations
    WHERE agent_id = ${agent.id}::uuid AND conversation_id = ${call.conversationId ?? null}
      AND ${isOfCaller(question)} AND status = 'succeeded' AND input IS NOT NULL AND output IS NOT NULL
    ORDER BY created_at DESC, id DESC LIMIT ${maxTurns}`)
  const messages: Message[] = []
  let bytes = 0
  for (const { input, output } of turns) {
    bytes += Buffer.byteLength(input) + Buffer.byteLength(output)
    if (bytes > maxBytes) break
    messages.unshift({ role: 'user', content: input }, { role: 'assistant', content: output })
  }
  return messages
}

/** A conversation belongs to the user who began it, whatever the key; without a user, to the key. */
const isOfCaller = ({ userId, keyHash }: Question): Sql =>
  userId === null ? sql`user_id IS NULL AND api_key_hash = decode(${keyHash}, 'hex')` : sql`user_id = ${userId}::bigint`
