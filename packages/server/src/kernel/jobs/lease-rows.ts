/**
 * The SQL of leases, for every table of rows under leases (lease-queue.ts): how a row is claimed, and how its lease is renewed, checked
 * and ended. A lease has a fencing token, so a worker whose lease has expired changes nothing that the next one has begun.
 */
import { randomUUID } from 'node:crypto'
import type { Queryable, Row } from '../db/db.ts'
import { ident, raw, type Sql, sql } from '../db/sql.ts'

/** A lease on a row; `claim` is its fencing token. */
export type Lease = { readonly id: string; readonly applicationId: string; readonly claim: string }

/** A table of the schema `svc`, and the columns that hold its leases. In statements it is called `r`. */
export type LeaseTable = {
  readonly name: string
  /** The column of the fencing token. */
  readonly token: Sql
  /** A condition: which rows can be under a lease. */
  readonly rows: Sql
  /** Assignments: the lease lasts so many seconds from now. */
  lasts(seconds: number): Sql
  /** Assignments: everybody may claim the row. */
  readonly freed: Sql
}

const everyRow = raw('true')
const nothingElse = raw('')

/** A table with the columns `claim` and `claimed_until`. */
export const leaseTable = (name: string, rows: Sql = everyRow): LeaseTable => ({
  name,
  rows,
  token: raw('claim'),
  lasts: (seconds) => sql`claimed_until = clock_timestamp() + make_interval(secs => ${seconds})`,
  freed: raw('claim = NULL, claimed_until = NULL'),
})

/** A condition on such a table: nobody has a lease of the row. */
export const isFree = raw('(r.claimed_until IS NULL OR r.claimed_until < clock_timestamp())')

/** A condition: the lease is still held. */
export const isHeldBy = ({ token, rows }: LeaseTable, { id, claim }: Pick<Lease, 'id' | 'claim'>): Sql =>
  sql`r.id = ${id}::uuid AND r.${token} = ${claim}::uuid AND ${rows}`

export const rowsOf = ({ name }: LeaseTable): Sql => sql`${ident('svc', name)} AS r`

type Claiming = {
  /** Selects the `id` of the row to claim, FOR UPDATE SKIP LOCKED. */
  readonly due: Sql
  /** A condition that must still hold, where `due` cannot lock the row. */
  readonly isStillDue?: Sql
  readonly returning: Sql
  /** Further assignments, each behind a comma. */
  readonly also?: Sql
}

/**
 * Claims a row. `due` is materialised: the planner may otherwise evaluate it again for each row of the table, and each time it
 * would pass over the row that it has just claimed, and claim the next.
 */
export async function claimRow<R extends Row>(
  db: Queryable,
  table: LeaseTable,
  seconds: number,
  { due, isStillDue = everyRow, returning, also = nothingElse }: Claiming,
): Promise<(R & { readonly claim: string }) | undefined> {
  const claim = randomUUID()
  const [row] = await db.query<R>(sql`
    WITH due AS MATERIALIZED (${due})
    UPDATE ${rowsOf(table)} SET ${table.token} = ${claim}::uuid, ${table.lasts(seconds)}${also}
    FROM due WHERE r.id = due.id AND ${isStillDue} RETURNING ${returning}`)
  return row && { ...row, claim }
}

/** Seconds until the next free row is due, at most 0 if one is due now; Infinity when there is none. */
export async function secondsToDue(db: Queryable, table: LeaseTable, condition: Sql): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(sql`
    SELECT extract(epoch FROM r.next_at - clock_timestamp())::float8 AS seconds FROM ${rowsOf(table)}
    WHERE ${table.rows} AND ${isFree} AND ${condition} ORDER BY r.next_at LIMIT 1`)
  return row?.seconds ?? Number.POSITIVE_INFINITY
}

/** Renews the lease; false when it is lost. */
export async function renewLease(
  db: Queryable,
  table: LeaseTable,
  lease: Lease,
  seconds: number,
  also: Sql = nothingElse,
): Promise<boolean> {
  const rows = await db.query(sql`
    UPDATE ${rowsOf(table)} SET ${table.lasts(seconds)}${also} WHERE ${isHeldBy(table, lease)} RETURNING r.id`)
  return rows.length > 0
}

export async function holdsLease(db: Queryable, table: LeaseTable, lease: Lease): Promise<boolean> {
  return (await db.query(sql`SELECT FROM ${rowsOf(table)} WHERE ${isHeldBy(table, lease)}`)).length > 0
}

/** Ends the lease, for others to claim the row; false when it is lost. */
export async function freeRow(
  db: Queryable,
  table: LeaseTable,
  lease: Lease,
  also: Sql = nothingElse,
): Promise<boolean> {
  const rows = await db.query(sql`
    UPDATE ${rowsOf(table)} SET ${table.freed}${also} WHERE ${isHeldBy(table, lease)} RETURNING r.id`)
  return rows.length > 0
}

/** Ends all leases, where nobody can hold one. */
export async function freeAll(db: Queryable, table: LeaseTable): Promise<void> {
  await db.query(sql`UPDATE ${rowsOf(table)} SET ${table.freed} WHERE r.${table.token} IS NOT NULL AND ${table.rows}`)
}
