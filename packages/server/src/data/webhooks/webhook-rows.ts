// The table `svc.change_bindings`: which webhook is due, its lease, and how far it was told.
import { randomUUID } from 'node:crypto'
import type { Db, Queryable, Row } from '../../kernel/db/db.ts'
import { json, sql } from '../../kernel/db/sql.ts'
import { claimRow, freeRow, isFree, type Lease, leaseTable } from '../../kernel/jobs/lease-rows.ts'
import type { LogPosition } from '../changes/position.ts'
import type { FollowedState } from '../changes/topic.ts'
import type { Webhook } from './webhook.ts'

/** A webhook under a lease. */
export type ClaimedWebhook = Lease &
  Webhook & {
    readonly contactPointId: string
    readonly era: string
    readonly position: LogPosition
    /** It was noted lately that the table is followed. */
    readonly isFollowed: boolean
    /** There are changes, and the first is old enough. */
    readonly isDue: boolean
    /** The last delivery was given up, so its changes were not told. */
    readonly hasFailed: boolean
  }

/** How often a table is looked at though nothing was written: it may have been replaced. */
const checkSeconds = 30
/** A table is let go of when nobody has followed it for the retention of the log, an hour at least. */
const renewSeconds = 600
/** The pause after a delivery that was given up, so that a receiver that refuses everything costs little. */
const failureSeconds = 600

export const webhookTable = leaseTable('change_bindings')

/** A row with its place in the log as the database has it. */
type WithLogPosition<T> = Omit<T, 'position'> & { xid: string; seq: string }

const definition = sql`r.dataset_id AS "datasetId", r.operations, r.filter, r.bbox, r.debounce_seconds AS "debounceSeconds"`
const position = sql`r.era, r.xid::text, r.seq::text`

/**
 * Claims the webhook that waits longest, except those of these applications. What wrote last is found by one look into the index for each
 * table, so webhooks without news cost next to nothing and write nothing.
 */
export async function claimWebhook(
  db: Db,
  besides: readonly string[],
  seconds: number,
): Promise<ClaimedWebhook | undefined> {
  const row = await claimRow<Row & WithLogPosition<Omit<ClaimedWebhook, 'claim'>>>(db, webhookTable, seconds, {
    due: sql`
      SELECT r.id, c.application_id, news.at AS news_at, d.status IS NOT DISTINCT FROM 'failed' AS has_failed
      FROM svc.change_bindings r
      JOIN svc.contactpoints c ON c.id = r.contact_point_id AND c.enabled AND c.type = 'webhook'
      JOIN svc.datasets s ON s.id = r.dataset_id AND s.application_id = c.application_id
      LEFT JOIN svc.deliveries d ON d.id = r.delivery_id
      CROSS JOIN LATERAL (
        SELECT min(first.at) AS at FROM unnest(r.relations) AS part CROSS JOIN LATERAL (
          SELECT l.at FROM svc.change_log l
          WHERE l.relation = part AND (l.xid, l.seq) > (r.xid, r.seq) AND l.xid < (SELECT pg_snapshot_xmin(pg_current_snapshot()))
          ORDER BY l.xid, l.seq LIMIT 1) AS first) AS news
      WHERE d.status IS DISTINCT FROM 'pending' AND r.next_at <= clock_timestamp()
        AND (d.status IS DISTINCT FROM 'failed' OR d.next_at < clock_timestamp() - make_interval(secs => ${failureSeconds}))
        AND ${isFree}
        AND c.application_id <> ALL(${besides}::uuid[])
        AND (r.check_at <= clock_timestamp() OR d.status = 'failed' OR news.at <= clock_timestamp() - make_interval(secs => r.debounce_seconds))
      ORDER BY coalesce(news.at, r.check_at) LIMIT 1 FOR UPDATE OF r SKIP LOCKED`,
    returning: sql`r.id, due.application_id AS "applicationId", r.contact_point_id AS "contactPointId", ${definition}, ${position},
      r.followed_at > clock_timestamp() - make_interval(secs => ${renewSeconds}) AS "isFollowed",
      due.has_failed AS "hasFailed",
      coalesce(due.news_at <= clock_timestamp() - make_interval(secs => r.debounce_seconds), false) AS "isDue"`,
  })
  return row && { ...row, position: positionOf(row) }
}

const positionOf = ({ xid, seq }: { xid: string; seq: string }): LogPosition => ({ xid: BigInt(xid), seq: BigInt(seq) })

/** Where a webhook stands after its changes were read. */
export type WebhookProgress = {
  readonly state: FollowedState
  readonly position: LogPosition
  readonly isRenewed: boolean
  readonly problem: string | null
  /** The next delivery comes after so many seconds at the earliest. */
  readonly pauseSeconds: number
}

/** Moves a webhook on and ends its lease; false if the lease is lost. */
export function moveWebhook(tx: Queryable, lease: Lease, progress: WebhookProgress): Promise<boolean> {
  const { state, position: at, isRenewed, problem, pauseSeconds } = progress
  return freeRow(
    tx,
    webhookTable,
    lease,
    sql`, era = ${state.era}, xid = ${at.xid.toString()}::xid8, seq = ${at.seq.toString()}::int8,
      relations = ${state.relations}::oid[], problem = left(${problem}, 1000),
      followed_at = CASE WHEN ${isRenewed} THEN clock_timestamp() ELSE followed_at END,
      next_at = clock_timestamp() + make_interval(secs => ${pauseSeconds}),
      check_at = clock_timestamp() + make_interval(secs => ${checkSeconds})`,
  )
}

/** Locks the contact point before the webhook, in the same order as a deletion, against deadlocks. */
export async function lockPoint(tx: Queryable, { contactPointId }: ClaimedWebhook): Promise<void> {
  await tx.query(sql`SELECT FROM svc.contactpoints WHERE id = ${contactPointId}::uuid FOR KEY SHARE`)
}

export async function noteDelivery(tx: Queryable, { id }: Lease, deliveryId: string): Promise<void> {
  await tx.query(sql`UPDATE svc.change_bindings SET delivery_id = ${deliveryId}::uuid WHERE id = ${id}::uuid`)
}

/** Ends a lease without having moved on. */
export async function postponeWebhook(db: Db, lease: Lease, seconds: number, problem?: string): Promise<void> {
  await freeRow(
    db,
    webhookTable,
    lease,
    sql`, problem = coalesce(left(${problem ?? null}, 1000), problem), next_at = clock_timestamp() + make_interval(secs => ${seconds})`,
  )
}

export type StoredWebhook = Webhook & {
  readonly id: string
  readonly era: string
  readonly position: LogPosition
  readonly problem: string | null
}

export async function readWebhooks(db: Queryable, contactPointId: string): Promise<StoredWebhook[]> {
  const rows = await db.query<Row & WithLogPosition<StoredWebhook>>(sql`
    SELECT r.id, ${definition}, ${position}, r.problem FROM svc.change_bindings r
    WHERE r.contact_point_id = ${contactPointId}::uuid ORDER BY r.created_at, r.id`)
  return rows.map((row) => ({ ...row, position: positionOf(row) }))
}

/** Where a new webhook begins. */
export type WebhookStart = { readonly state: FollowedState; readonly position: LogPosition }

/** Whoever is telling changes by the old definition loses the lease; the place in the log stays. */
export async function changeWebhook(tx: Queryable, id: string, webhook: Webhook): Promise<void> {
  const { operations, filter, bbox, debounceSeconds } = webhook
  await tx.query(sql`
    UPDATE svc.change_bindings SET operations = ${operations}::text[], filter = ${filter && json(filter)}, bbox = ${bbox}::float8[],
      debounce_seconds = ${debounceSeconds}, problem = NULL, ${webhookTable.freed}, next_at = clock_timestamp()
    WHERE id = ${id}::uuid`)
}

export async function addWebhook(
  tx: Queryable,
  contactPointId: string,
  { datasetId, operations, filter, bbox, debounceSeconds }: Webhook,
  { state, position: at }: WebhookStart,
): Promise<void> {
  await tx.query(sql`
    INSERT INTO svc.change_bindings (id, contact_point_id, dataset_id, operations, filter, bbox, debounce_seconds, era, xid, seq, relations)
    VALUES (${randomUUID()}::uuid, ${contactPointId}::uuid, ${datasetId}::uuid, ${operations}::text[], ${filter && json(filter)},
      ${bbox}::float8[], ${debounceSeconds}, ${state.era}, ${at.xid.toString()}::xid8, ${at.seq.toString()}::int8, ${state.relations}::oid[])`)
}

export async function removeWebhooks(tx: Queryable, ids: readonly string[]): Promise<void> {
  await tx.query(sql`DELETE FROM svc.change_bindings WHERE id = ANY (${ids}::uuid[])`)
}

/** Of the datasets those that exist; they cannot be deleted before the transaction ends. */
export async function lockDatasets(tx: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ id: string }>(
    sql`SELECT id FROM svc.datasets WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR KEY SHARE`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Two requests change the webhooks of a contact point one after the other. False if it was deleted. */
export async function lockWebhooks(tx: Queryable, contactPointId: string): Promise<boolean> {
  const rows = await tx.query(sql`SELECT FROM svc.contactpoints WHERE id = ${contactPointId}::uuid FOR NO KEY UPDATE`)
  return rows.length > 0
}

/** Two requests of an application add webhooks one after the other. To be called first: deletions lock in this order. */
export async function lockCount(tx: Queryable, applicationId: string): Promise<void> {
  await tx.query(sql`SELECT FROM svc.applications WHERE id = ${applicationId}::uuid FOR NO KEY UPDATE`)
}

export async function countWebhooks(tx: Queryable, applicationId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(sql`
    SELECT count(*)::int4 AS count FROM svc.change_bindings b JOIN svc.contactpoints c ON c.id = b.contact_point_id
    WHERE c.application_id = ${applicationId}::uuid`)
  return row?.count ?? 0
}
