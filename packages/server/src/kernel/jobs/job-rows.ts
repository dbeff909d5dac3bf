import { randomUUID } from 'node:crypto'
import { doubling } from '../concurrency/retry.ts'
import type { Db, Queryable } from '../db/db.ts'
import { json, sql } from '../db/sql.ts'
import {
  claimRow,
  freeRow,
  holdsLease,
  isFree,
  isHeldBy,
  type Lease,
  type LeaseTable,
  leaseTable,
  rowsOf,
  secondsToDue,
} from './lease-rows.ts'

/** The queue table `svc.jobs`, for work without a row of its own. Finished jobs are deleted. */
export type JobLease = Lease & { readonly data: object; readonly attempts: number }

/** A job is given up after so many failures or crashes of the process that ran it. */
export const maxAttempts = 4
const retrySeconds = doubling(2, 60)

const allQueues = leaseTable('jobs')
export const tableOf = (queue: string): LeaseTable => leaseTable('jobs', sql`r.queue = ${queue}`)

const hasAttempts = sql`r.attempts < ${maxAttempts}`

export type NewJob = { readonly data: object; readonly key: string; readonly delaySeconds: number }

/** The id; undefined when a job with this key waits or is being worked on. */
export async function addJob(db: Db, queue: string, { data, key, delaySeconds }: NewJob): Promise<string | undefined> {
  const [row] = await db.query<{ id: string }>(sql`
    INSERT INTO svc.jobs (id, queue, key, data, next_at)
    VALUES (${randomUUID()}::uuid, ${queue}, ${key}, ${json(data)},
            clock_timestamp() + make_interval(secs => ${delaySeconds}))
    ON CONFLICT (queue, key) DO NOTHING RETURNING id`)
  return row?.id
}

/** Adds a job in the transaction that causes it. One with the same key gives way: whoever works on it loses the lease. */
export async function putJob(tx: Queryable, queue: string, { data, key }: Omit<NewJob, 'delaySeconds'>): Promise<void> {
  await tx.query(sql`
    INSERT INTO svc.jobs (id, queue, key, data, next_at)
    VALUES (${randomUUID()}::uuid, ${queue}, ${key}, ${json(data)}, clock_timestamp())
    ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, data = excluded.data, created_at = excluded.created_at,
      next_at = excluded.next_at, attempts = 0, claim = NULL, claimed_until = NULL`)
}

/**
 * Runs `work` in a transaction unless a job of this key waits or is being worked on. None can be added meanwhile: whoever adds
 * one waits for the row that is in its place here.
 */
export async function whenFree(
  db: Db,
  queue: string,
  key: string,
  work: (tx: Queryable) => Promise<void>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const [row] = await tx.query<{ id: string }>(sql`
      INSERT INTO svc.jobs (id, queue, key, data, next_at) VALUES (${randomUUID()}::uuid, ${queue}, ${key}, '{}', clock_timestamp())
      ON CONFLICT (queue, key) DO NOTHING RETURNING id`)
    if (!row) return
    await work(tx)
    await tx.query(sql`DELETE FROM svc.jobs WHERE id = ${row.id}::uuid`)
  })
}

/** Whether the lease is still held: the job was neither cancelled nor replaced nor taken by another worker. */
export const isHeld = (db: Queryable, lease: JobLease): Promise<boolean> => holdsLease(db, allQueues, lease)

/** Attempts count when they begin, so that a job that crashes its process is given up too. */
export async function claimJob(db: Db, queue: string, seconds: number): Promise<JobLease | undefined> {
  const table = tableOf(queue)
  const row = await claimRow<Pick<JobLease, 'id' | 'data' | 'attempts'>>(db, table, seconds, {
    due: sql`
      SELECT r.id FROM ${rowsOf(table)} WHERE ${table.rows} AND r.next_at <= clock_timestamp() AND ${hasAttempts} AND ${isFree}
      ORDER BY r.next_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
    also: sql`, attempts = r.attempts + 1`,
    returning: sql`r.id, r.data, r.attempts`,
  })
  return row && { ...row, applicationId: '' }
}

export const secondsToNextJob = (db: Db, queue: string): Promise<number> =>
  secondsToDue(db, tableOf(queue), hasAttempts)

/** Deletes a job that is done or given up. */
export async function endJob(db: Db, lease: JobLease): Promise<void> {
  await db.query(sql`DELETE FROM ${rowsOf(allQueues)} WHERE ${isHeldBy(allQueues, lease)}`)
}

export async function retryJob(db: Db, lease: JobLease): Promise<void> {
  const next = sql`, next_at = clock_timestamp() + make_interval(secs => ${retrySeconds(lease.attempts)})`
  await freeRow(db, allQueues, lease, next)
}

/** Releases a job that a stopping server interrupted; the attempt does not count. */
export async function giveBackJob(db: Db, lease: JobLease): Promise<void> {
  await freeRow(db, allQueues, lease, sql`, attempts = attempts - 1`)
}

export async function cancelJob(db: Db, queue: string, key: string): Promise<void> {
  await db.query(sql`DELETE FROM svc.jobs WHERE queue = ${queue} AND key = ${key}`)
}

/** Deletes jobs whose every attempt crashed its process. */
export async function removeAbandoned(db: Db): Promise<void> {
  await db.query(sql`DELETE FROM ${rowsOf(allQueues)} WHERE r.attempts >= ${maxAttempts} AND ${isFree}`)
}
