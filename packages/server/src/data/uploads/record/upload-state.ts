// The upload queue in the database: claims, leases and outcomes.
import { changeWithEntry, systemTrail } from '../../../api/access/audit-trail.ts'
import { touched } from '../../../api/resource/store.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { json, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import {
  claimRow,
  holdsLease,
  isHeldBy,
  type Lease,
  type LeaseTable,
  renewLease,
  rowsOf,
} from '../../../kernel/jobs/lease-rows.ts'
import type { ReplacedSource } from '../load/replaced-table.ts'
import type { Warning } from '../readers/reader.ts'
import type { LayerResult, Stage, UploadFormFields } from './upload.ts'
import { type FaultDto, UploadLost } from './upload-fault.ts'

/**
 * An upload that this process works on, under a lease (kernel/jobs/lease-queue.ts). Only the holder of the lease may publish.
 */
export type ClaimedUpload = Lease & {
  readonly ownerId: number | null
  readonly fileName: string
  readonly options: UploadFormFields
  readonly replaces: ReplacedSource | null
  readonly attempt: number
  /** The trace context of the request that sent the file. */
  readonly traceparent: string | null
}

export type LayerWarning = Warning & { layer?: string }

/** What the audit log says of an upload, and the columns that tell it. */
export const uploadColumns = raw('id, application_id, file_name')
export const uploadRow = {
  applicationId: raw('application_id'),
  id: raw('id::text'),
  name: raw('file_name'),
}
/** The status in the audit log of a file that could not be loaded. */
const failed = 422

export const maxAttempts = 3
/** A lease that is not renewed for this long has expired. */
export const silenceSeconds = 15

export const now = raw("date_trunc('milliseconds', clock_timestamp())")
/** A failed upload is not due again for a while. */
const isDue = raw(
  "(status = 'pending' AND (heard_at IS NULL OR heard_at < clock_timestamp() - attempts * interval '4 seconds'))",
)
const isLeft = raw(
  `(status = 'processing' AND (heard_at IS NULL OR heard_at < clock_timestamp() - interval '${silenceSeconds} seconds'))`,
)

/**
 * The leases of uploads have columns of their own. A row says when its worker was last heard of, because the same column says of
 * an upload that waits when it last failed. Outcomes clear the token.
 */
export const uploadTable: LeaseTable = {
  name: 'uploads',
  token: raw('worker'),
  rows: raw("r.status = 'processing'"),
  lasts: () => raw('heard_at = clock_timestamp()'),
  freed: raw('heard_at = NULL'),
}

/** SQL: UPDATE of an upload whose lease is held. */
const updateHeld = (lease: Lease, assignments: Sql): Sql =>
  sql`UPDATE ${rowsOf(uploadTable)} SET ${assignments}, ${touched} WHERE ${isHeldBy(uploadTable, lease)}`

/** An advisory lock: transactions that count an application's uploads run one at a time, so that limits hold. */
export async function lockUploads(tx: Queryable, applicationId: string): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('svc.uploads ' || ${applicationId}::text, 0))`)
}

/** Limits for choosing the next upload. */
export type ClaimLimits = { readonly perApplication: number; readonly passed: readonly string[] }

/**
 * Claims the next upload fairly: from the application with the fewest running uploads, among equals the one served
 * longest ago, and its oldest upload. So no application waits behind another's queue. Workers of all replicas claim one
 * at a time, because two could count the same state.
 */
export async function claimNext(db: Db, { perApplication, passed }: ClaimLimits): Promise<ClaimedUpload | undefined> {
  return db.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended('svc.uploads claim', 0))`)
    return claimRow<Omit<ClaimedUpload, 'claim'>>(tx, uploadTable, silenceSeconds, {
      due: sql`
        SELECT next.id
        FROM (SELECT DISTINCT ON (application_id) application_id, id, created_at FROM svc.uploads
              WHERE (${isDue} OR ${isLeft}) AND attempts < ${maxAttempts} AND application_id <> ALL(${passed}::uuid[])
              ORDER BY application_id, created_at, id) AS next
        CROSS JOIN LATERAL (SELECT count(*) AS running FROM svc.uploads u
              WHERE u.application_id = next.application_id AND status = 'processing' AND NOT ${isLeft}) AS busy
        CROSS JOIN LATERAL (SELECT max(u.started_at) AS at FROM svc.uploads u
              WHERE u.application_id = next.application_id) AS turn
        WHERE busy.running < ${perApplication}
        ORDER BY busy.running, turn.at NULLS FIRST, next.created_at, next.id LIMIT 1`,
      // Its client may be cancelling it.
      isStillDue: sql`(${isDue} OR ${isLeft})`,
      also: sql`, status = 'processing', attempts = attempts + 1, started_at = coalesce(started_at, ${now}), ${touched}`,
      returning: sql`r.id, application_id AS "applicationId", owner_id AS "ownerId", file_name AS "fileName", options, replaces,
        attempts AS attempt, traceparent`,
    })
  })
}

/** Ends the uploads with too many attempts; returns them. */
export async function giveUp(db: Db): Promise<{ id: string; applicationId: string; options: UploadFormFields }[]> {
  const error = { code: 'worker_died', message: `The upload was tried ${maxAttempts} times and did not finish.` }
  const update = sql`
    UPDATE svc.uploads SET status = 'failed', error = ${json(error)}, worker = NULL, feature_count = NULL, finished_at = ${now}, ${touched}
    WHERE (status = 'pending' OR ${isLeft}) AND attempts >= ${maxAttempts}`
  const returning = sql`${uploadColumns}, application_id AS "applicationId", options`
  return changeWithEntry(db, systemTrail('uploads.fail', failed), update, returning, uploadRow)
}

/** How far an upload has come; `rows` are those loaded so far, null before there are any. */
export type Reached = { readonly stage: Stage | null; readonly progress: number; readonly rows: number | null }

/** Renews the lease, and records progress where there is any: only then has the record changed. False if the lease is lost. */
export function report(db: Db, upload: ClaimedUpload, reached: Reached | undefined): Promise<boolean> {
  if (!reached) return renewLease(db, uploadTable, upload, silenceSeconds)
  const { stage, progress, rows } = reached
  const recorded = sql`, stage = ${stage}, progress = greatest(progress, ${progress}::float8), feature_count = ${rows}::bigint, ${touched}`
  return renewLease(db, uploadTable, upload, silenceSeconds, recorded)
}

/** Returns the upload to the queue. An attempt that the server itself interrupted does not count. */
export const putBack = (db: Db, upload: ClaimedUpload, counts: boolean): Promise<void> =>
  counts ? queueAgain(db, upload, 0, raw('clock_timestamp()')) : queueAgain(db, upload, 1, raw('NULL'))

const postponedSeconds = 10

/** Returns the upload to the queue until the storage may answer again. However long that takes, it is not given up. */
export const postpone = (db: Db, upload: ClaimedUpload): Promise<void> =>
  queueAgain(db, upload, 1, sql`clock_timestamp() + ${postponedSeconds} * interval '1 second'`)

async function queueAgain(db: Db, upload: ClaimedUpload, uncounted: 0 | 1, heardAt: Sql): Promise<void> {
  const waiting = sql`status = 'pending', worker = NULL, feature_count = NULL, attempts = attempts - ${uncounted}, heard_at = ${heardAt}`
  await db.query(updateHeld(upload, waiting))
}

export async function fail(db: Db, upload: ClaimedUpload, error: FaultDto, warnings: LayerWarning[]): Promise<void> {
  const update = updateHeld(
    upload,
    sql`status = 'failed', worker = NULL, feature_count = NULL, error = ${json(error)}, warnings = ${json(warnings)}, finished_at = ${now}`,
  )
  await changeWithEntry(db, systemTrail('uploads.fail', failed), update, uploadColumns, uploadRow)
}

/** Runs in the publishing transaction: afterwards no other worker can end the upload differently. */
export async function complete(
  tx: Queryable,
  upload: ClaimedUpload,
  results: readonly LayerResult[],
  warnings: readonly LayerWarning[],
): Promise<void> {
  const [first] = results
  const counts = results.flatMap(({ featureCount }) => featureCount ?? [])
  const total = counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : null
  const update = updateHeld(
    upload,
    sql`status = 'completed', worker = NULL, stage = 'publishing', progress = 1,
      results = ${json(results)}, warnings = ${json(warnings)}, dataset_id = ${first?.datasetId ?? null}::uuid,
      tile_source_id = ${first?.tileSourceId ?? null}::uuid, feature_count = ${total}::bigint, finished_at = ${now}`,
  )
  const rows = await changeWithEntry(tx, systemTrail('uploads.complete'), update, uploadColumns, uploadRow)
  if (rows.length === 0) throw new UploadLost('Somebody else has the upload')
}

export const holdsUpload = (db: Db, upload: ClaimedUpload): Promise<boolean> => holdsLease(db, uploadTable, upload)

/** Whether the upload is still unfinished. */
export async function isWanted(db: Db, id: string): Promise<boolean> {
  const rows = await db.query(
    sql`SELECT id FROM svc.uploads WHERE id = ${id}::uuid AND status IN ('pending', 'processing')`,
  )
  return rows.length > 0
}

export async function optionsOf(db: Db, id: string): Promise<UploadFormFields> {
  const [row] = await db.query<{ options: UploadFormFields }>(
    sql`SELECT options FROM svc.uploads WHERE id = ${id}::uuid`,
  )
  return row?.options ?? {}
}
