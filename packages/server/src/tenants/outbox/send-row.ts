import { linear, retry } from '../../kernel/concurrency/retry.ts'
import type { Db } from '../../kernel/db/db.ts'
import { freeRow } from '../../kernel/jobs/lease-rows.ts'
import { type ClaimedMessage, type DeliveryAttempt, leaseTables, type OutboxTable, record } from './outbox-rows.ts'

const maxRetryAfterSeconds = 600
/** A sent row that is not recorded would be sent again, so a database that does not answer is waited for. */
const untilRecorded = { tries: 5, pauseMs: linear(1_000), isPassing: () => true }

type OutboxContext = {
  readonly db: Db
  onError(error: unknown): void
  readonly onDelivered: ((applicationId: string, table: OutboxTable['table']) => void) | undefined
}

/** Sends a row once and records the outcome. */
export async function sendRow(
  { db, onError, onDelivered }: OutboxContext,
  outgoing: OutboxTable,
  claimed: ClaimedMessage,
  signal: AbortSignal,
): Promise<void> {
  const attempt = await outgoing.attempt(claimed.id, signal).catch((error): DeliveryAttempt => {
    if (!signal.aborted) onError(error)
    return { error: 'The message could not be sent.' }
  })
  if (signal.aborted && attempt.error !== undefined) {
    await freeRow(db, leaseTables[outgoing.table], claimed)
    return
  }
  const delay = delayOf(outgoing, claimed.made, attempt)
  await retry(() => record(db, outgoing, claimed, attempt, delay), untilRecorded)
  if (attempt.error === undefined) onDelivered?.(claimed.applicationId, outgoing.table)
}

/** The back-off; undefined when the row is not retried. */
function delayOf({ delaysSeconds }: OutboxTable, made: number, attempt: DeliveryAttempt): number | undefined {
  if (attempt.error === undefined || attempt.isFinal) return undefined
  const delay = delaysSeconds[made]
  if (delay === undefined) return undefined
  return Math.max(delay, Math.min(attempt.retryAfterSeconds ?? 0, maxRetryAfterSeconds))
}
