import { randomUUID } from 'node:crypto'
import type { Db, Queryable } from '../db/db.ts'
import { json, sql } from '../db/sql.ts'
import type { Lease } from './lease-workers.ts'

/** The queue table `svc.jobs`, for work without a row of its own. Finished jobs are deleted. */
export type JobLease = Lease & { readonly data: object; readonly attempts: number }

/** A job is given up after so many failures or crashes of the process that ran it. */
export const maxAttempts = 4
const retryDelay = { firstSeconds: 2, mostSeconds: 60 }

const isFree = sql`(claimed_until IS NULL OR claimed_until < clock_timestamp())`
const isOpen = sql`attempts < ${maxAttempts} AND ${isFree}`

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
export async function isHeld(db: Queryable, { id, claim }: JobLease): Promise<boolean> {
  return (await db.query(sql`SELECT FROM svc.jobs WHERE id = ${id}::uuid AND claim = ${claim}::uuid`)).length > 0
}

/** Attempts count when they begin, so that a job that crashes its process is given up too. */
export async function claimJob(db: Db, queue: string, seconds: number): Promise<JobLease | undefined> {
  const claim = randomUUID()
  const [row] = await db.query<Pick<JobLease, 'id' | 'data' | 'attempts'>>(sql`
    UPDATE svc.jobs SET claim = ${claim}::uuid, attempts = attempts + 1,
      claimed_until = clock_timestamp() + make_interval(secs => ${seconds})
    WHERE id = (SELECT id FROM svc.jobs WHERE queue = ${queue} AND next_at <= clock_timestamp() AND ${isOpen}
                ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id, data, attempts`)
  return row && { ...row, claim, applicationId: '' }
}

export async function secondsToNextJob(db: Db, queue: string): Promise<number> {
  const [row] = await db.query<{ seconds: number }>(sql`
    SELECT extract(epoch FROM next_at - clock_timestamp())::float8 AS seconds FROM svc.jobs
    WHERE queue = ${queue} AND ${isOpen} ORDER BY next_at LIMIT 1`)
  return row?.seconds ?? Number.POSITIVE_INFINITY
}

export async function renewJob(db: Db, { id, claim }: JobLease, seconds: number): Promise<boolean> {
  const rows = await db.query(sql`
    UPDATE svc.jobs SET claimed_until = clock_timestamp() + make_interval(secs => ${seconds})
    WHERE id = ${id}::uuid AND claim = ${claim}::uuid RETURNING id`)
  return rows.length > 0
}

/** Deletes a job that is done or given up. */
export async function endJob(db: Db, { id, claim }: JobLease): Promise<void> {
  await db.query(sql`DELETE FROM svc.jobs WHERE id = ${id}::uuid AND claim = ${claim}::uuid`)
}

export async function retryJob(db: Db, { id, claim, attempts }: JobLease): Promise<void> {
  const seconds = Math.min(retryDelay.mostSeconds, retryDelay.firstSeconds * 2 ** (attempts - 1))
  await db.query(sql`
    UPDATE svc.jobs SET claim = NULL, claimed_until = NULL, next_at = clock_timestamp() + make_interval(secs => ${seconds})
    WHERE id = ${id}::uuid AND claim = ${claim}::uuid`)
}

/** Releases a job that a stopping server interrupted; the attempt does not count. */
export async function giveBackJob(db: Db, { id, claim }: JobLease): Promise<void> {
  await db.query(sql`
    UPDATE svc.jobs SET claim = NULL, claimed_until = NULL, attempts = attempts - 1
    WHERE id = ${id}::uuid AND claim = ${claim}::uuid`)
}

export async function cancelJob(db: Db, queue: string, key: string): Promise<void> {
  await db.query(sql`DELETE FROM svc.jobs WHERE queue = ${queue} AND key = ${key}`)
}

/** Deletes jobs whose every attempt crashed its process. */
export async function removeGivenUp(db: Db): Promise<void> {
  await db.query(sql`DELETE FROM svc.jobs WHERE attempts >= ${maxAttempts} AND ${isFree}`)
}

/** The embedded database belongs to one process, so at start no lease is held by anybody. */
export async function releaseJobs(db: Db): Promise<void> {
  await db.query(sql`UPDATE svc.jobs SET claim = NULL, claimed_until = NULL WHERE claim IS NOT NULL`)
}
