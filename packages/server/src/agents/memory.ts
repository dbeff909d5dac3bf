import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { History } from './history.ts'
import type { Message } from './protocol.ts'
import type { Question } from './question.ts'

const maxTurns = 20
const maxBytes = 262_144

/** The last turns of a conversation, for agents whose memory the platform keeps. */
export async function recallTurns(db: Db, history: History, { agent, call }: Question): Promise<Message[]> {
  await history.flush()
  const turns = await db.query<{ input: string; output: string }>(sql`
    SELECT input, output FROM svc.agent_invocations
    WHERE agent_id = ${agent.id}::uuid AND conversation_id = ${call.conversationId ?? null}
      AND status = 'succeeded' AND input IS NOT NULL AND output IS NOT NULL
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
