import { createHash, randomUUID } from 'node:crypto'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { json, sql } from '../../kernel/db/sql.ts'
import { demandRate } from '../../kernel/db/window-counters.ts'
import { ApiError } from '../../kernel/errors.ts'
import { limits, overLimit } from '../../kernel/limits/limits.ts'
import type { RenderedMessage, Settings, Verdict } from './driver.ts'
import { driverOf } from './drivers.ts'
import type { Message } from './message.ts'
import { openSettings, settingsAssociatedData } from './secret-settings.ts'
import { judgeAnswer, type ServiceAnswer, withoutSecrets } from './service-answer.ts'

/** The part of the SSRF guard that deliveries use. */
export type DeliveryFetcher = {
  fetch(
    url: string,
    request: {
      method: string
      headers: Readonly<Record<string, string>>
      body: string
      signal: AbortSignal
      timeoutMs: number
      maxBytes: number
      isCutWelcome: true
      isEncodedWelcome: true
      followsRedirects: false
    },
  ): Promise<ServiceAnswer>
}

/** The part of the mailer that deliveries use. */
type SendMail = (mail: {
  id: string
  applicationId: string
  to: readonly string[]
  subject: string
  text: string
  html: string
}) => Promise<Attempt>

type Attempt = Verdict & { readonly statusCode?: number }

/** Registers a table of outgoing rows with the sender. */
type Register = (outgoing: {
  table: 'deliveries'
  delaysSeconds: readonly number[]
  concurrency: number
  perApplication: number
  attempt(id: string, signal: AbortSignal): Promise<Attempt>
  lockParent(tx: Queryable, id: string): Promise<void>
  settle(tx: Queryable, id: string, status: 'delivered' | 'failed'): Promise<void>
}) => { announce(): void }

export type DeliveriesOptions = {
  db: Db
  secrets: Secrets
  egress: DeliveryFetcher
  sendMail: SendMail
  register: Register
  delaysSeconds?: readonly number[]
  /** Messages of an application within a minute; 0 for no limit. */
  perMinute?: number
  /** Limit of queued messages of an application. */
  maxWaiting?: number
}

type Point = { readonly id: string; readonly isEnabled: boolean }

/** The outbox of messages to contact points. */
export type Deliveries = {
  /** Queues a message durably and returns the id of the delivery. */
  accept(point: Point, message: Message, idempotencyKey: string | undefined): Promise<string>
  /** Queues a message in a transaction. To be announced after the commit. */
  put(tx: Queryable, pointId: string, message: Message): Promise<string>
  /** Saves the wait for the next poll. */
  announce(): void
}

type Job = {
  application_id: string
  type: string
  settings: Settings
  secrets: string | null
  enabled: boolean
  message: Message | null
  created_at: Date
}

const defaultDelays = [1, 5, 25, 120, 600]
const defaultMaxWaiting = limits.messagesWaiting.value
const timeoutMs = 10_000
const maxAnswerBytes = 65_536

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { db, register, delaysSeconds = defaultDelays, maxWaiting = defaultMaxWaiting, perMinute = 0 } = options
  const { announce } = register({
    table: 'deliveries',
    delaysSeconds,
    concurrency: 16,
    perApplication: 4,
    attempt: (id, signal) => attempt(options, id, signal),
    lockParent,
    settle,
  })
  return {
    async accept(point, message, idempotencyKey) {
      const id = await insert({ db, maxWaiting, perMinute }, point, message, idempotencyKey)
      announce()
      return id
    },
    async put(tx, pointId, message) {
      await refuseFlood({ db: tx, maxWaiting, perMinute }, pointId)
      return demandPoint(await insertRow(tx, pointId, { message, hash: hashOf(message) }))
    },
    announce,
  }
}

type Flow = { readonly db: Queryable; readonly maxWaiting: number; readonly perMinute: number }

async function insert(
  flow: Flow,
  { id: pointId, isEnabled }: Point,
  message: Message,
  key: string | undefined,
): Promise<string> {
  const { db } = flow
  const hash = hashOf(message)
  const same = await findSame(db, pointId, key, hash)
  if (same) return same
  if (!isEnabled) throw new ApiError('conflict', 'The contact point is disabled. Set enabled to true first.')
  await refuseFlood(flow, pointId)
  return demandPoint((await insertRow(db, pointId, { message, hash, key })) ?? (await findSame(db, pointId, key, hash)))
}

const hashOf = (message: Message): string => createHash('sha256').update(JSON.stringify(message)).digest('base64')

type NewRow = { readonly message: Message; readonly hash: string; readonly key?: string | undefined }

/** Undefined if the key is taken, or the contact point was deleted. */
async function insertRow(db: Queryable, pointId: string, { message, hash, key }: NewRow): Promise<string | undefined> {
  const [row] = await db.query<{ id: string }>(sql`
    INSERT INTO svc.deliveries (id, contact_point_id, idempotency_key, message_hash, message, status)
    SELECT ${randomUUID()}::uuid, id, ${key ?? null}, ${hash}, ${json(message)}, 'pending'
    FROM svc.contactpoints WHERE id = ${pointId}::uuid FOR KEY SHARE
    ON CONFLICT (contact_point_id, idempotency_key) DO NOTHING RETURNING id`)
  return row?.id
}

function demandPoint(deliveryId: string | undefined): string {
  if (deliveryId === undefined) throw new ApiError('not_found', 'There is no ContactPoint with this id.')
  return deliveryId
}

/** Back-pressure: refuses messages when the queue of the application is full, and more than it may send within a minute. */
async function refuseFlood({ db, maxWaiting, perMinute }: Flow, pointId: string): Promise<void> {
  const [row] = await db.query<{ id: string; own: number | null; waiting: number }>(sql`
    SELECT a.id::text, (a.limits->>'messagesPerMinute')::float8 AS own, (
      SELECT count(*) FROM (
        SELECT FROM svc.deliveries d JOIN svc.contactpoints o ON o.id = d.contact_point_id
        WHERE d.status = 'pending' AND o.application_id = c.application_id LIMIT ${maxWaiting}) AS found)::int4 AS waiting
    FROM svc.contactpoints c JOIN svc.applications a ON a.id = c.application_id WHERE c.id = ${pointId}::uuid`)
  if (!row) return
  if (row.waiting >= maxWaiting) {
    const detail = `${maxWaiting} messages of this application wait to be sent, its limit. Try again later.`
    throw overLimit('messagesWaiting', maxWaiting, detail, { headers: { 'Retry-After': '30' } })
  }
  const most = row.own ?? perMinute
  await demandRate(db, {
    limit: 'messagesPerMinute',
    counters: [[`messages ${row.id}`, most]],
    seconds: 60,
    detail: `The application has sent ${most} messages within a minute, its limit.`,
  })
}

/** The delivery that an equal request made before. */
async function findSame(
  db: Queryable,
  pointId: string,
  key: string | undefined,
  hash: string,
): Promise<string | undefined> {
  if (key === undefined) return undefined
  const [row] = await db.query<{ id: string; message_hash: string }>(sql`
    SELECT id, message_hash FROM svc.deliveries
    WHERE contact_point_id = ${pointId}::uuid AND idempotency_key = ${key}`)
  if (row && row.message_hash !== hash) {
    throw new ApiError('conflict', 'The Idempotency-Key was used for another message. Use a new one.')
  }
  return row?.id
}

async function attempt(options: DeliveriesOptions, id: string, signal: AbortSignal): Promise<Attempt> {
  const { db, secrets } = options
  const [job] = await db.query<Job>(sql`
    SELECT c.application_id, c.type, c.settings, c.secrets, c.enabled, d.message, d.created_at
    FROM svc.deliveries d JOIN svc.contactpoints c ON c.id = d.contact_point_id WHERE d.id = ${id}::uuid`)
  if (!job?.message) return { error: 'The delivery has no message to send.', isFinal: true }
  if (!job.enabled) return { error: 'The contact point is disabled. Set enabled to true first.', isFinal: true }
  const secret = openSettings(secrets, job.secrets, settingsAssociatedData(job.application_id, job.type))
  const driver = driverOf(job.type)
  const delivery = { id, acceptedAt: job.created_at, now: new Date() }
  const rendered = driver.render(job.message, { ...job.settings, ...secret }, delivery)
  const outcome =
    rendered.kind === 'mail'
      ? await options.sendMail({ id, applicationId: job.application_id, ...rendered })
      : await call(options.egress, rendered, signal, (answer) => judgeAnswer(answer, secret, driver.judge))
  return outcome.error === undefined ? outcome : { ...outcome, error: withoutSecrets(outcome.error, secret) }
}

async function call(
  egress: DeliveryFetcher,
  { url, method, headers, body }: Extract<RenderedMessage, { kind: 'http' }>,
  signal: AbortSignal,
  judge: (answer: ServiceAnswer) => Attempt,
): Promise<Attempt> {
  const limits = { timeoutMs, maxBytes: maxAnswerBytes, isCutWelcome: true, isEncodedWelcome: true } as const
  try {
    return judge(await egress.fetch(url, { method, headers, body, signal, ...limits, followsRedirects: false }))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { error: error.message, isFinal: error.status < 500 }
  }
}

async function lockParent(tx: Queryable, id: string): Promise<void> {
  await tx.query(sql`
    SELECT FROM svc.contactpoints WHERE id = (SELECT contact_point_id FROM svc.deliveries WHERE id = ${id}::uuid)
    FOR NO KEY UPDATE`)
}

async function settle(tx: Queryable, id: string, status: 'delivered' | 'failed'): Promise<void> {
  const [row] = await tx.query<{ contact_point_id: string }>(
    sql`UPDATE svc.deliveries SET message = NULL WHERE id = ${id}::uuid RETURNING contact_point_id`,
  )
  // Also raises the revision, so that the ETag of the record changes.
  await tx.query(sql`
    UPDATE svc.contactpoints SET last_status = ${status}, revision = revision + 1,
      last_delivery_at = date_trunc('milliseconds', clock_timestamp())
    WHERE id = ${row?.contact_point_id ?? null}::uuid`)
}
