// Admission control for uploads that are still being received.

import { lockApplication } from '../../../api/resource/lock-application.ts'
import { createAdmission } from '../../../kernel/concurrency/admission.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { demandRate, hourSeconds } from '../../../kernel/db/window-counters.ts'
import type { ApiError } from '../../../kernel/errors.ts'
import { type ApplicationLimits, overLimit } from '../../../kernel/limits/limits.ts'
import { lockUploads } from '../record/upload-state.ts'
import { arrivalSeconds, type MeasuredQuota, type StorageQuota } from './storage-quota.ts'

export type ArrivalLimits = {
  /** The most unfinished uploads of an application, including those still arriving. */
  readonly maxWaiting: number
  /** The most uploads of an application within an hour; 0 for no limit. */
  readonly perHour: number
  /** The most files that this process receives at once, over all applications. */
  readonly maxArriving: number
  readonly storage: StorageQuota
}

/** A file being received. */
export type Arrival = {
  /** The largest size that is still allowed. */
  readonly room: number
  /** Reports the bytes received so far. */
  note(bytes: number): void
  /** Measures what the application has stored; what it gives runs in the transaction that records the upload. */
  prepareToSettle(): Promise<(tx: Queryable, size: number) => Promise<void>>
  /** Runs `work` when no other transaction counts the application's uploads here. */
  inTurn<T>(work: () => Promise<T>): Promise<T>
  /** Ends the reception, successful or not. */
  end(): Promise<void>
}

const renewMs = (arrivalSeconds * 1000) / 4

/** Counts files from their first byte, on every replica; otherwise any number could arrive at once. */
export function createArrivals(db: Db, { maxWaiting, perHour, maxArriving, storage }: ArrivalLimits) {
  const arriving = createAdmission({ total: maxArriving })
  const inTurn = createArrivalQueue()

  async function admit(
    tx: Queryable,
    applicationId: string,
    id: string,
    declared: number,
    quota: MeasuredQuota,
  ): Promise<number> {
    await lockApplication(tx, applicationId)
    await lockUploads(tx, applicationId)
    await tx.query(sql`
      DELETE FROM svc.arriving_uploads WHERE id IN (
        SELECT id FROM svc.arriving_uploads
        WHERE heard_at < clock_timestamp() - ${arrivalSeconds} * interval '1 second' FOR UPDATE SKIP LOCKED)`)
    await demandRoom(tx, applicationId, { maxWaiting, perHour })
    const room = await quota.left(tx, id)
    if (declared > room || room <= 0) throw quotaExceeded(quota.bytes)
    await tx.query(sql`
      INSERT INTO svc.arriving_uploads (id, application_id, bytes) VALUES (${id}::uuid, ${applicationId}::uuid, ${declared})`)
    return room
  }

  return async function arrive(applicationId: string, id: string, declared: number): Promise<Arrival> {
    const leave = arriving.tryAdmit(applicationId)
    if (!leave) {
      const detail = `${maxArriving} files are arriving at this server, its limit. Try again later.`
      throw overLimit('uploadsArriving', maxArriving, detail, { headers: later })
    }
    let bytes = 0
    let isSettled = false
    // A short loss of the database is ignored here; the upload itself will notice.
    const timer = setInterval(() => {
      db.query(sql`
        UPDATE svc.arriving_uploads SET heard_at = clock_timestamp(), bytes = greatest(bytes, ${bytes}) WHERE id = ${id}::uuid`).catch(
        () => undefined,
      )
    }, renewMs)
    const end = async (): Promise<void> => {
      leave()
      clearInterval(timer)
      // If this fails, or the upload is not recorded, the row is no longer renewed and expires.
      if (!isSettled)
        await db.query(sql`DELETE FROM svc.arriving_uploads WHERE id = ${id}::uuid`).catch(() => undefined)
    }
    const room = await storage
      .measure(db, applicationId)
      .then((quota) =>
        inTurn(applicationId, () => db.transaction((tx) => admit(tx, applicationId, id, declared, quota))),
      )
      .catch(async (error) => {
        leave()
        clearInterval(timer)
        throw error
      })
    return {
      room,
      note: (more) => {
        bytes += more
      },
      async prepareToSettle() {
        const quota = await storage.measure(db, applicationId)
        return async (tx, size) => {
          await lockApplication(tx, applicationId)
          await lockUploads(tx, applicationId)
          if (size > (await quota.left(tx, id))) throw quotaExceeded(quota.bytes)
          await tx.query(sql`DELETE FROM svc.arriving_uploads WHERE id = ${id}::uuid`)
          isSettled = true
        }
      },
      inTurn: (work) => inTurn(applicationId, work),
      end,
    }
  }
}

/** One by one for each application: those who wait for its lock in the database would each hold a connection. */
function createArrivalQueue() {
  const queue = createAdmission({ perOwner: 1 })
  return async <T>(applicationId: string, work: () => Promise<T>): Promise<T> => {
    const release = await queue.admit(applicationId)
    return work().finally(release)
  }
}

export type Arrive = ReturnType<typeof createArrivals>

/** Refuses one more than the unfinished uploads that the application may have, and than it may send within an hour. */
async function demandRoom(
  tx: Queryable,
  applicationId: string,
  usual: Pick<ArrivalLimits, 'maxWaiting' | 'perHour'>,
): Promise<void> {
  const [row] = await tx.query<{ count: number; limits: ApplicationLimits | null }>(sql`
    SELECT (SELECT limits FROM svc.applications WHERE id = ${applicationId}::uuid) AS limits,
      ((SELECT count(*) FROM svc.uploads WHERE application_id = ${applicationId}::uuid AND status IN ('pending', 'processing'))
       + (SELECT count(*) FROM svc.arriving_uploads WHERE application_id = ${applicationId}::uuid))::int4 AS count`)
  const most = row?.limits?.unfinishedUploads ?? usual.maxWaiting
  if ((row?.count ?? 0) >= most) {
    const detail = `The application has ${most} unfinished uploads, its limit. Send this one when some have ended.`
    throw overLimit('unfinishedUploads', most, detail, { headers: later })
  }
  const perHour = row?.limits?.uploadsPerHour ?? usual.perHour
  await demandRate(tx, {
    limit: 'uploadsPerHour',
    counters: [[`uploads ${applicationId}`, perHour]],
    seconds: hourSeconds,
    detail: `The application has sent ${perHour} uploads within an hour, its limit.`,
  })
}

const later = { 'Retry-After': '10' }

export const quotaExceeded = (bytes: number): ApiError =>
  overLimit(
    'storageBytes',
    bytes,
    `The application may store ${bytes} bytes, and this file is larger than what is left. Delete datasets or uploads, or ask the operator for more.`,
  )
