/**
 * Writes the audit log for requests. Successes are written before the answer is sent, unless their change has written them.
 * Refusals, and what people do who have not said who they are, are written behind, in batches, and bounded for each
 * credential and application: nobody can fill the table with them, a stranger who names no application leaves no entry at
 * all, and the time of an answer does not tell whether an account exists.
 */
import type { FastifyRequest } from 'fastify'
import { unwatched, type Watch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { json, raw, sql } from '../../kernel/db/sql.ts'
import type { Caller } from '../access/acl.ts'
import {
  type Actor,
  fingerprintOf,
  keyFingerprint,
  noteTarget,
  openTrail,
  type Trail,
  writeEntry,
} from '../access/audit-trail.ts'
import { isUuid } from '../access/credentials.ts'
import type { DeclaredOperation } from './operation.ts'

export type AuditLog = {
  /** Writes the entry of a successful request, unless it is written. */
  finish(trail: Trail): Promise<void>
  /** Notes an entry that is written later, such as that of a request that was refused. */
  note(trail: Trail, status: number): void
  /** Writes what was noted. */
  flush(): Promise<void>
}

type Noted = { readonly trail: Trail; readonly status: number; readonly since: number }

const flushMs = 1_000
/** Of one key, or of all strangers to one application, in a minute; further ones are counted in the log of the server. */
const maxPerMinute = 60
const maxWaiting = 1_000
const maxUserAgent = 255

/** Whether the log has an entry for it. */
export const isAudited = ({ method, audit }: Pick<DeclaredOperation, 'method' | 'audit'>): boolean =>
  audit === undefined ? method !== 'GET' : typeof audit !== 'object'

export function createAuditLog(db: Db, onError: (error: unknown) => void, watch: Watch = unwatched): AuditLog {
  const bounds = createBounds(maxPerMinute)
  let waiting: Noted[] = []
  let dropped = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  async function writeWaiting(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting
    waiting = []
    if (dropped > 0) onError(new Error(`${dropped} requests were not written to the audit log: there were too many`))
    dropped = 0
    if (batch.length > 0) await writeNoted(db, batch)
  }

  function flush(): Promise<void> {
    writing = writing.then(() => watch(writeWaiting)).catch(onError)
    return writing
  }

  function note(trail: Trail, status: number): void {
    const { actor, applicationId } = trail
    if (trail.isMoot) return
    if (actor.type === 'anonymous' && applicationId === null) return
    if (waiting.length >= maxWaiting || !bounds.take(actor.id ?? `application ${applicationId}`)) {
      dropped++
      return
    }
    waiting.push({ trail, status, since: performance.now() })
    timer ??= setTimeout(flush, flushMs).unref()
  }

  return {
    async finish(trail) {
      if (trail.isWritten || trail.isMoot) return
      if (trail.actor.type === 'anonymous') note(trail, trail.status)
      else await writeEntry(db, trail)
      trail.isWritten = true
    },
    note,
    flush,
  }
}

/** At most `most` of each name in a minute. */
function createBounds(most: number): { take(name: string): boolean } {
  let counts = new Map<string, number>()
  let minute = 0
  return {
    take(name) {
      const now = Math.floor(performance.now() / 60_000)
      if (now !== minute) counts = new Map()
      minute = now
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return count <= most
    },
  }
}

/**
 * What a refused request names is anything: it may be an application that does not exist, which leaves no entry, or a key
 * in the place of another id, which is left out.
 */
async function writeNoted(db: Db, batch: readonly Noted[]): Promise<void> {
  const rows = batch.map(({ trail, status, since }) => ({
    age: Math.round(performance.now() - since),
    action: trail.action,
    actor_type: trail.actor.type,
    actor_id: trail.actor.id,
    user_id: trail.actor.userId,
    status,
    request_id: trail.requestId,
    address: trail.address,
    user_agent: trail.userAgent,
    target_type: trail.target.type,
    target_id: trail.target.id,
    application_id: trail.applicationId,
  }))
  await db.query(sql`
    INSERT INTO svc.audit (at, action, actor_type, actor_id, user_id, status, request_id, address, user_agent, changed,
      target_type, target_id, application_id)
    SELECT clock_timestamp() - make_interval(secs => age / 1000.0), action, actor_type, actor_id,
      user_id, status, request_id, address, user_agent, '{}', target_type, ${knownTarget}, application_id
    FROM jsonb_to_recordset(${json(rows)}) AS e(age integer, action text, actor_type text, actor_id text, user_id bigint,
      status smallint, request_id text, address text, user_agent text, target_type text, target_id text,
      application_id uuid)
    WHERE application_id IS NULL OR EXISTS (SELECT FROM svc.applications a WHERE a.id = e.application_id)`)
}

const knownTarget = raw(`CASE WHEN NOT EXISTS (
  SELECT FROM svc.apikeys k WHERE k.hash = sha256(convert_to(lower(e.target_id), 'UTF8'))) THEN e.target_id END`)

/** The trail of a request, before anybody knows who asks. */
export function trailOf(operation: DeclaredOperation, request: FastifyRequest): Trail {
  const { id: requestId, ip: address, headers } = request
  const userAgent = headers['user-agent']?.slice(0, maxUserAgent).toWellFormed().replaceAll('\0', '') ?? null
  const { id } = request.params as { id?: string }
  const trail = openTrail(operation.id, { origin: { requestId, address, userAgent }, status: operation.success.status })
  trail.isMoot = operation.audit === 'ifSecret'
  if (id !== undefined) trail.target = { ...trail.target, id: targetId(trail.target.type, id) }
  return trail
}

/** Only what has the form of an id: clients send anything in its place. */
function targetId(type: string, id: string): string | null {
  if (!isUuid(id)) return /^\d{1,16}$/.test(id) ? id : null
  return type === 'apikeys' ? keyFingerprint(id) : id.toLowerCase()
}

/** The caller is known. */
export function identify(trail: Trail, caller: Caller): void {
  trail.actor = actorOf(caller)
  if (caller.bearer && trail.target.type === 'auth') noteTarget(trail, caller.bearer.userId)
  if (!caller.everyApplication) trail.applicationId = caller.applicationId
}

function actorOf({ type, keyHash, userId, bearer }: Caller): Actor {
  const id = fingerprintOf(keyHash)
  if (bearer) return { type: 'user', id, userId: bearer.userId }
  return { type: type === 'master' ? 'master' : 'key', id, userId }
}
