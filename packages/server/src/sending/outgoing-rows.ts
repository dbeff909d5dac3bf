import { randomUUID } from 'node:crypto'
import type { Db, Queryable } from '../db/db.ts'
import { ident, json, sql } from '../db/sql.ts'
import { report } from '../events.ts'

/** What came of trying once. An error that is not final is tried again. */
export type Attempt = {
  readonly statusCode?: number
  readonly error?: string
  readonly isFinal?: boolean
  readonly retryAfterSeconds?: number
}

/** A table of `svc` whose rows are to be sent; see the migration for its columns. */
export type Outgoing = {
  readonly table: 'outbox' | 'deliveries'
  /** How long to wait after the first failure, the second, …; after the last one it is given up. */
  readonly delaysSeconds: readonly number[]
  /** How many this process sends at once. */
  readonly concurrency: number
  /** And how many of them for one application: whoever sends much waits for himself, not others for him. */
  readonly perApplication: number
  attempt(id: string, signal: AbortSignal): Promise<Attempt>
  /** Locks what `settle` changes, before the row itself: whoever deletes locks the parent first too. */
  lockParent?(tx: Queryable, id: string): Promise<void>
  /** What else changes together with the last status. */
  settle(tx: Queryable, id: string, status: 'delivered' | 'failed'): Promise<void>
}

/** A row that is ours for a while. `made` attempts were before. */
export type Claimed = {
  readonly id: string
  readonly applicationId: string
  readonly claim: string
  readonly made: number
}

const tables = ['outbox', 'deliveries'] as const
const keptDays = 30

const applicationOf = {
  outbox: sql`r.application_id`,
  deliveries: sql`(SELECT c.application_id FROM svc.contactpoints c WHERE c.id = r.contact_point_id)`,
} as const

const isFree = sql`(r.claimed_until IS NULL OR r.claimed_until < clock_timestamp())`

/** Takes the row that waits longest, of those that are not of these applications. */
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

/** Until the next row of other applications than these is due, which may be since a moment; for ever when there is none. */
export async function secondsToNext(db: Db, { table }: Outgoing, besides: readonly string[]): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(sql`
    SELECT extract(epoch FROM r.next_at - clock_timestamp())::float8 AS seconds FROM ${ident('svc', table)} r
    WHERE r.status = 'pending' AND ${isFree} AND ${applicationOf[table]} <> ALL(${besides}::uuid[])
    ORDER BY r.next_at LIMIT 1`)
  return row?.seconds ?? Number.POSITIVE_INFINITY
}

export async function renew(db: Db, { table }: Outgoing, { id, claim }: Claimed, seconds: number): Promise<void> {
  await db.query(sql`
    UPDATE ${ident('svc', table)} SET claimed_until = clock_timestamp() + make_interval(secs => ${seconds})
    WHERE id = ${id}::uuid AND claim = ${claim}::uuid`)
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

/** It may come from anywhere, and is kept as JSON. */
const cleaned = (error: string): string =>
  error
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 600)
    .toWellFormed()

/** Not tried, as far as we know: somebody else may at once. */
export async function giveBack(db: Db, { table }: Outgoing, { id, claim }: Claimed): Promise<void> {
  await db.query(sql`
    UPDATE ${ident('svc', table)} SET claim = NULL, claimed_until = NULL
    WHERE id = ${id}::uuid AND claim = ${claim}::uuid`)
}

/** What the only process there can be was doing when it ended, nobody does. */
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
