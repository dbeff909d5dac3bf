import type { Db, Queryable } from '../../kernel/db/db.ts'
import { type Sql, sql } from '../../kernel/db/sql.ts'

/** A row of the invocation history. Content is set only where the agent stores it. */
export type InvocationRecord = {
  id: string
  agentId: string
  applicationId: string
  createdAt: string
  conversationId: string | null
  apiKeyHash: string
  userId: number | null
  workerId: string | null
  mode: 'invoke' | 'stream'
  status: 'running' | 'succeeded' | 'failed' | 'cancelled'
  statusCode: number | null
  errorCode: string | null
  ttfbMs: number | null
  durationMs: number | null
  inputBytes: number
  outputBytes: number | null
  usage: object | null
  model: string | null
  finishReason: string | null
  traceId: string
  metadata: object | null
  input: string | null
  output: string | null
}

export type History = {
  /** Write-behind: queues the entry for the next batch. */
  note(entry: InvocationRecord): void
  /** Writes the entry now. */
  write(entry: InvocationRecord): Promise<void>
  /** Writes the entry unless `most` invocations of the agent are running on all replicas together; then false. */
  reserve(entry: InvocationRecord, most: number): Promise<boolean>
  /** Writes all queued entries. */
  flush(): Promise<void>
}

const flushMs = 50
const capacity = 20_000
/** A replica whose last heartbeat is older than this is dead. */
const replicaDeadMs = 15_000

export function createHistory(db: Db, replicaId: string, onError: (error: unknown) => void): History {
  let waiting = new Map<string, InvocationRecord>()
  /** Running invocations wait for one batch more: most have ended by then, and are written once instead of twice. */
  let begun: InvocationRecord[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  /** Batches are written one after the other, so that the queue, which is bounded, absorbs a slow database. */
  async function writeDue(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const batch = [...waiting.values()]
    waiting = new Map()
    takeBegun()
    if (waiting.size > 0) wake()
    if (batch.length > 0) await insert(db, replicaId, batch).catch((error) => keep(batch, error))
  }

  function writeNext(): Promise<void> {
    writing = writing.then(writeDue)
    return writing
  }

  function flush(): Promise<void> {
    takeBegun()
    return writeNext()
  }

  function takeBegun(): void {
    for (const entry of begun) if (entry.status === 'running') waiting.set(entry.id, entry)
    begun = []
  }

  const wake = () => {
    timer ??= setTimeout(writeNext, flushMs).unref()
  }

  /** Queues a failed batch again. */
  function keep(batch: readonly InvocationRecord[], error: unknown): void {
    onError(error)
    for (const entry of batch) note(entry)
  }

  function note(entry: InvocationRecord): void {
    const isRunning = entry.status === 'running'
    if (waiting.size + (isRunning ? begun.length : 0) >= capacity) return
    if (isRunning) begun.push(entry)
    else waiting.set(entry.id, entry)
    wake()
  }

  return {
    note,
    write: (entry) => insert(db, replicaId, [entry]).catch(onError),
    reserve: (entry, most) =>
      db.transaction(async (tx) => {
        await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('svc.agents ' || ${entry.agentId}::text, 0))`)
        const [row] = await tx.query<{ running: number }>(sql`
          SELECT count(*)::int AS running FROM svc.agent_invocations
          WHERE agent_id = ${entry.agentId}::uuid AND status = 'running'
            AND (replica_id = ${replicaId}::uuid OR replica_id IN (${liveReplicas}))`)
        if (Number(row?.running) >= most) return false
        await insert(tx, replicaId, [entry])
        return true
      }),
    flush,
  }
}

export const liveReplicas: Sql = sql`
  SELECT id FROM svc.replicas WHERE seen_at > clock_timestamp() - ${replicaDeadMs} * interval '1 millisecond'`

/** Skips agents that are deleted, or locked by a deletion: a batch must not wait for that. */
async function insert(db: Queryable, replicaId: string, entries: readonly InvocationRecord[]): Promise<void> {
  await db.query(sql`
    INSERT INTO svc.agent_invocations (
      id, agent_id, application_id, created_at, conversation_id, api_key_hash, user_id, worker_id, replica_id, mode,
      status, status_code, error_code, ttfb_ms, duration_ms, input_bytes, output_bytes, usage, model, finish_reason,
      trace_id, metadata, input, output)
    SELECT e.id, "agentId", e."applicationId", "createdAt", "conversationId", decode("apiKeyHash", 'hex'), "userId",
      "workerId", ${replicaId}::uuid, mode, e.status, "statusCode", "errorCode", "ttfbMs", "durationMs", "inputBytes",
      "outputBytes", usage, e.model, "finishReason", "traceId", e.metadata, input, output
    FROM json_to_recordset(${JSON.stringify(entries)}::json) AS e(
      id uuid, "agentId" uuid, "applicationId" uuid, "createdAt" timestamptz, "conversationId" text, "apiKeyHash" text,
      "userId" bigint, "workerId" text, mode text, status text, "statusCode" int, "errorCode" text, "ttfbMs" int,
      "durationMs" int, "inputBytes" int, "outputBytes" int, usage jsonb, model text, "finishReason" text,
      "traceId" text, metadata jsonb, input text, output text)
    JOIN svc.agents a ON a.id = "agentId"
    ORDER BY e.id FOR KEY SHARE OF a SKIP LOCKED
    ON CONFLICT (id) DO UPDATE SET
      worker_id = excluded.worker_id, status = excluded.status, status_code = excluded.status_code,
      error_code = excluded.error_code, ttfb_ms = excluded.ttfb_ms, duration_ms = excluded.duration_ms,
      output_bytes = excluded.output_bytes, usage = excluded.usage, model = excluded.model,
      finish_reason = excluded.finish_reason, output = excluded.output`)
}
