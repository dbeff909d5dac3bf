import type { Db, Queryable } from '../../kernel/db/db.ts'
import { ident, json, raw, sql } from '../../kernel/db/sql.ts'
import { report } from '../../kernel/events.ts'
import {
  claimRow,
  freeRow,
  isFree,
  type Lease,
  type LeaseTable,
  leaseTable,
  rowsOf,
  secondsToDue,
} from '../../kernel/jobs/lease-rows.ts'

/** The outcome of one attempt. An error that is not final is retried. */
export type DeliveryAttempt = {
  readonly statusCode?: number
  readonly error?: string
  readonly isFinal?: boolean
  readonly retryAfterSeconds?: number
}

/** A transactional outbox: a table of `svc` whose rows are to be sent; see the migration for its columns. */
export type OutboxTable = {
  readonly table: 'outbox' | 'deliveries'
  /** Back-off after the first failure, the second, …; after the last one the row is given up. */
  readonly delaysSeconds: readonly number[]
  /** Concurrency of this process. */
  readonly concurrency: number
  /** Concurrency for one application, so that one that sends much does not delay the others. */
  readonly perApplication: number
  attempt(id: string, signal: AbortSignal): Promise<DeliveryAttempt>
  /** Locks what `settle` changes before the row itself, in the same order as a deletion, against deadlocks. */
  lockParent?(tx: Queryable, id: string): Promise<void>
  /** What else changes in the transaction of the final status. */
  settle(tx: Queryable, id: string, status: 'delivered' | 'failed'): Promise<void>
}

/** A leased row; `made` is the number of earlier attempts. */
export type ClaimedMessage = Lease & { readonly made: number }

const isPending = raw("r.status = 'pending'")
export const leaseTables: Readonly<Record<OutboxTable['table'], LeaseTable>> = {
  outbox: leaseTable('outbox', isPending),
  deliveries: leaseTable('deliveries', isPending),
}
const keptDays = 30

const applicationOf = {
  outbox: sql`r.application_id`,
  deliveries: sql`(SELECT c.application_id FROM svc.contactpoints c WHERE c.id = r.contact_point_id)`,
} as const

/** Claims the row that waits longest, except those of these applications. */
export function claimNext(
  db: Db,
  { table }: OutboxTable,
  besides: readonly string[],
  seconds: number,
): Promise<ClaimedMessage | undefined> {
  return claimRow<Omit<ClaimedMessage, 'claim'>>(db, leaseTables[table], seconds, {
    due: sql`
      SELECT r.id FROM ${rowsOf(leaseTables[table])}
      WHERE ${isPending} AND r.next_at <= clock_timestamp() AND ${isFree} AND ${isOfOthers(table, besides)}
      ORDER BY r.next_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED`,
    returning: sql`r.id, ${applicationOf[table]} AS "applicationId", jsonb_array_length(r.attempts) AS made`,
  })
}

export const secondsToNext = (db: Db, { table }: OutboxTable, besides: readonly string[]): Promise<number> =>
  secondsToDue(db, leaseTables[table], isOfOthers(table, besides))

const isOfOthers = (table: OutboxTable['table'], besides: readonly string[]) =>
  sql`${applicationOf[table]} <> ALL(${besides}::uuid[])`

export async function record(
  db: Db,
  { table, settle, lockParent }: OutboxTable,
  claimed: ClaimedMessage,
  { error, statusCode }: DeliveryAttempt,
  delay: number | undefined,
): Promise<void> {
  const { id } = claimed
  const ended = error === undefined ? 'delivered' : 'failed'
  const status = delay === undefined ? ended : 'pending'
  const entry = {
    at: new Date().toISOString(),
    statusCode,
    ...(error !== undefined && { error: cleaned(error) }),
  }
  await db.transaction(async (tx) => {
    if (status !== 'pending') await lockParent?.(tx, id)
    const isTrusted = await freeRow(
      tx,
      leaseTables[table],
      claimed,
      sql`, status = ${status}, attempts = attempts || ${json([entry])},
        next_at = clock_timestamp() + make_interval(secs => ${delay ?? 0})`,
    )
    if (isTrusted && status !== 'pending') await settle(tx, id, status)
  })
  if (status !== 'pending') report('sent', { kind: table === 'outbox' ? 'mail' : 'contactpoint', status })
}

/** Errors come from external servers: removes what JSON in PostgreSQL cannot hold. */
const cleaned = (error: string): string =>
  error
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 600)
    .toWellFormed()

export async function clean(db: Db): Promise<void> {
  for (const table of Object.keys(leaseTables)) {
    await db.query(sql`
      DELETE FROM ${ident('svc', table)} WHERE id IN (
        SELECT id FROM ${ident('svc', table)}
        WHERE status <> 'pending' AND created_at < now() - make_interval(days => ${keptDays})
        FOR UPDATE SKIP LOCKED)`)
  }
}
