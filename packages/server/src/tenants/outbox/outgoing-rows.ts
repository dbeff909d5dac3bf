import { randomUUID } from 'node:crypto'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { ident, json, sql } from '../../kernel/db/sql.ts'
import { report } from '../../kernel/events.ts'
import type { Lease } from '../../kernel/jobs/lease-workers.ts'

/** The outcome of one attempt. An error that is not final is retried. */
export type Attempt = {
  readonly statusCode?: number
  readonly error?: string
  readonly isFinal?: boolean
  readonly retryAfterSeconds?: number
}

/** A transactional outbox: a table of `svc` whose rows are to be sent; see the migration for its columns. */
export type Outgoing = {
  readonly table: 'outbox' | 'deliveries'
  /** Back-off after the first failure, the second, …; after the last one the row is given up. */
  readonly delaysSeconds: readonly number[]
  /** Concurrency of this process. */
  readonly concurrency: number
  /** Concurrency for one application, so that one that sends much does not delay the others. */
  readonly perApplication: number
  attempt(id: string, signal: AbortSignal): Promise<Attempt>
  /** Locks what `settle` changes before the row itself, in the same order as a deletion, against deadlocks. */
  lockParent?(tx: Queryable, id: string): Promise<void>
  /** What else changes in the transaction of the final status. */
  settle(tx: Queryable, id: string, status: 'delivered' | 'failed'): Promise<void>
}

/** A leased row; `made` is the number of earlier attempts. */
export type Claimed = Lease & { readonly made: number }

const tables = ['outbox', 'deliveries'] as const
const keptDays = 30

const applicationOf = {
  outbox: sql`r.application_id`,
  deliveries: sql`(SELECT c.application_id FROM svc.contactpoints c WHERE c.id = r.contact_point_id)`,
} as const

const isFree = sql`(r.claimed_until IS NULL OR r.claimed_until < clock_timestamp())`

/** Claims the row that waits longest, except those of these applications. */
export async function claimNext(
  db: Db,
  { table }: Outgoing,
  besides: readonly string[],
  seconds: number,
): Promise<Claimed | undefined> {
  const token = randomUUID()
  const [row] = await db.query<Omit<Claimed, 'claim'>>(sql`
    UPDATE ${ident('svc', table)} r
    SET claim = ${token}::uuid, claimed_until = clock_timestamp() + make_interval(secs => ${seconds})
    WHERE r.id = (
      SELECT r.id FROM ${ident('svc', table)} r
      WHERE r.status = 'pending' AND r.next_at <= clock_timestamp()
        AND ${isFree} AND ${applicationOf[table]} <> ALL(${besides}::uuid[])
      ORDER BY r.next_at LIMIT 1 FOR UPDATE OF r SKIP LOCKED)
    RETURNING r.id, ${applicationOf[table]} AS "applicationId", jsonb_array_length(r.attempts) AS made`)
  return row && { ...row, claim: token }
}

/** Seconds until the next row of other applications is due, at most 0 if one is due now; Infinity when there is none. */
export async function secondsToNext(db: Db, { table }: Outgoing, besides: readonly string[]): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(sql`
    SELECT extract(epoch FROM r.next_at - clock_timestamp())::float8 AS seconds FROM ${ident('svc', table)} r
    WHERE r.status = 'pending' AND ${isFree} AND ${applicationOf[table]} <> ALL(${besides}::uuid[])
    ORDER BY r.next_at LIMIT 1`)
  return row?.seconds ?? Number.POSITIVE_INFINITY
}

/** Renews the lease; false when it is lost. */
export async function renew(db: Db, { table }: Outgoing, { id, claim }: Claimed, seconds: number): Promise<boolean> {
  const rows = await db.query(sql`
    UPDATE ${ident('svc', table)} SET claimed_until = clock_timestamp() + make_interval(secs => ${seconds})
    WHERE id = ${id}::uuid AND claim = ${claim}::uuid RETURNING id`)
  return rows.length > 0
}

export async function record(
  db: Db,
  { table, settle, lockParent }: Outgoing,
  { id, claim }: Claimed,
  { error, statusCode }: Attempt,
  delay: number | undefined,
): Promise<void> {
  const ended = error === undefined ? 'delivered' : 'failed'
  const status = delay === undefined ? ended : 'pending'
  const entry = {
    at: new Date().toISOString(),
    ...(statusCode !== undefined && { statusCode }),
    ...(error !== undefined && { error: cleaned(error) }),
  }
  await db.transaction(async (tx) => {
    if (status !== 'pending') await lockParent?.(tx, id)
    const [row] = await tx.query(sql`
      UPDATE ${ident('svc', table)} SET status = ${status}, attempts = attempts || ${json([entry])}, claim = NULL,
        claimed_until = NULL, next_at = clock_timestamp() + make_interval(secs => ${delay ?? 0})
      WHERE id = ${id}::uuid AND claim = ${claim}::uuid AND status = 'pending' RETURNING 1`)
    if (row && status !== 'pending') await settle(tx, id, status)
  })
  if (status !== 'pending') report('sent', { kind: table === 'outbox' ? 'mail' : 'contactpoint', status })
}

/** Errors come from foreign servers: removes what JSON in PostgreSQL cannot hold. */
const cleaned = (error: string): string =>
  error
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 600)
    .toWellFormed()

/** Releases a row that was not tried, for others to claim at once. */
export async function giveBack(db: Db, { table }: Outgoing, { id, claim }: Claimed): Promise<void> {
  await db.query(sql`
    UPDATE ${ident('svc', table)} SET claim = NULL, claimed_until = NULL
    WHERE id = ${id}::uuid AND claim = ${claim}::uuid`)
}

/** At start of the embedded database, which belongs to one process, no lease is held by anybody. */
export async function releaseAll(db: Db): Promise<void> {
  for (const table of tables) {
    await db.query(sql`
      UPDATE ${ident('svc', table)} SET claim = NULL, claimed_until = NULL WHERE status = 'pending' AND claim IS NOT NULL`)
  }
}

export async function clean(db: Db): Promise<void> {
  for (const table of tables) {
    await db.query(sql`
      DELETE FROM ${ident('svc', table)} WHERE id IN (
        SELECT id FROM ${ident('svc', table)}
        WHERE status <> 'pending' AND created_at < now() - make_interval(days => ${keptDays})
        FOR UPDATE SKIP LOCKED)`)
  }
}
