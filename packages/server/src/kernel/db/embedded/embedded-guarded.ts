import { untilAborted } from '../cursor.ts'
import type { Db } from '../db.ts'
import { type GuardedOptions, type GuardedRows, graceMs, guardedBatchSize, whenAborted } from '../guarded.ts'
import type { SessionQueue } from '../session-queue.ts'
import type { Sql } from '../sql.ts'
import { databaseError, encodeStatement, type ResultCell } from '../values.ts'
import { type EmbeddedLimits, hasShorterTimeout, limitError, type StopReason } from './embedded-limits.ts'
import type { GuardedOutcome, GuardedQuery } from './embedded-protocol.ts'
import { watchQuery } from './embedded-query-watch.ts'
import type { Sessions } from './embedded-sessions.ts'
import { readSpool, type Spool, type Spools } from './embedded-spool.ts'

type Services = { sessions: Sessions; queue: SessionQueue; spools: Spools; limits: EmbeddedLimits }

type StartedQuery = { outcome: GuardedOutcome; spool: Spool; release(): Promise<void> }

/**
 * Guarded queries on the embedded database. All share one session, so a query has it exclusively, runs to its end as the
 * role and spools its rows; they are read while the session already serves others. A query that takes too long is
 * cancelled; one that cannot be ends with the session, which is restarted: nobody else is using it then.
 */
export function createGuarded({ sessions, queue, spools, limits }: Services): Db['guarded'] {
  /** Bytes on disk of the answers that each tenant is reading. */
  const held = new Map<string, number>()
  let isRenewalDue = false

  async function run(tenant: string, statement: Sql, options: GuardedOptions): Promise<StartedQuery> {
    const spool = await spools.take()
    const heldBytes = held.get(tenant) ?? 0
    const fail = (stopped: StopReason, cause?: unknown) =>
      limitError(stopped, limits, { timeoutMs: options.timeoutMs, heldBytes, cause })
    try {
      const query = commandOf(statement, options, limits, { spool: spool.file.fd, heldBytes })
      const outcome = await inTime(sessions, query, options.signal, fail)
      if (outcome.isInflated) renewWhenIdle()
      if (outcome.stopped) throw fail(outcome.stopped)
      if (outcome.fault) throw databaseError(outcome.fault)
      return { outcome, spool, release: hold(tenant, spool, outcome.bytes) }
    } catch (error) {
      await spool.file.close()
      throw error
    }
  }

  function hold(tenant: string, spool: Spool, bytes: number): () => Promise<void> {
    held.set(tenant, (held.get(tenant) ?? 0) + bytes)
    let released: Promise<void> | undefined
    const release = (): Promise<void> => {
      const left = (held.get(tenant) ?? 0) - bytes
      if (left > 0) held.set(tenant, left)
      else held.delete(tenant)
      return bytes === 0 ? spools.giveBack(spool) : spool.file.close()
    }
    return () => {
      released ??= release()
      return released
    }
  }

  /** WebAssembly memory is freed only with the thread. */
  function renewWhenIdle(): void {
    if (isRenewalDue) return
    isRenewalDue = true
    queue.whenIdle(async () => {
      isRenewalDue = false
      await sessions.renew()
    })
  }

  return async (statement, options) => {
    const tenant = options.role ?? options.schema
    const isShort = options.reads !== undefined
    const begun = queue.tenant(tenant, () => run(tenant, statement, options), { signal: options.signal, isShort })
    const { outcome, spool, release } = await untilAborted(begun, options.signal).catch((error) => {
      void begun.then(({ release }) => release()).catch(() => undefined)
      throw error
    })
    const { columns, rows, lengths } = outcome
    if (lengths.length === 0) {
      await release()
      return { columns, batches: [rows] } satisfies GuardedRows
    }
    // Also for the reader who leaves before asking for the first batch: a generator not begun cleans nothing up.
    whenAborted(options.signal, () => void release().catch(() => undefined))
    return { columns, batches: batchesOf(outcome, spool, release) } satisfies GuardedRows
  }
}

function commandOf(
  statement: Sql,
  { role, schema, timeoutMs, batchSize = guardedBatchSize }: GuardedOptions,
  limits: EmbeddedLimits,
  { spool, heldBytes }: { spool: number; heldBytes: number },
): GuardedQuery {
  return {
    kind: 'guarded',
    ...encodeStatement(statement),
    role,
    schema,
    cpuMs: limits.cpuMs,
    // With the same grace as on PostgreSQL: the first use of PostGIS in a session alone takes 200 ms.
    elapsedMs: hasShorterTimeout(timeoutMs, limits) ? timeoutMs + graceMs : limits.elapsedMs,
    memoryBytes: limits.memoryBytes,
    temporaryBytes: limits.temporaryBytes,
    answerBytes: Math.max(0, limits.answerBytes - heldBytes),
    batchSize,
    spool,
    left: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  }
}

/** Ends the session when the query does not end in time. */
async function inTime(
  sessions: Sessions,
  query: GuardedQuery,
  signal: AbortSignal | undefined,
  fail: (stopped: StopReason, cause?: unknown) => Error,
): Promise<GuardedOutcome> {
  const session = await sessions.current()
  let stopping: Error | undefined
  const watch = watchQuery(session, query, (stopped) => {
    stopping = fail(stopped)
    void session.terminate(new Error('A query was stopped, and the embedded database restarted', { cause: stopping }))
  })
  const stopListening = whenAborted(signal, watch.leave)
  try {
    return await session.guarded(query, watch.begin)
  } catch (error) {
    // The one whose query ended the session waits for the next to start, so that nobody else has to wait for the start.
    await session.ended
    await sessions.current().catch(() => undefined)
    throw stopping ?? (session.stopped ? fail(session.stopped, error) : error)
  } finally {
    watch.end()
    stopListening()
  }
}

async function* batchesOf(
  { rows, lengths }: GuardedOutcome,
  spool: Spool,
  release: () => Promise<void>,
): AsyncGenerator<ResultCell[][], void, undefined> {
  try {
    yield* readSpool(rows, lengths, spool)
  } finally {
    await release()
  }
}
