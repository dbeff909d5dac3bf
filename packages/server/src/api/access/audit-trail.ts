/**
 * The audit entry of one request, while the request is under way. What a store changes is written together with the entry, in
 * one statement: an acknowledged change always has its entry, and one that was rolled back never has.
 */
import type { Db, Queryable, Row, Transaction } from '../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { credentialHash } from './secrets/secrets.ts'
import { uuidV7 } from './secrets/uuid-v7.ts'

/** Who did it. The id of a key is a credential, so its fingerprint stands for it. */
export type Actor = {
  readonly type: 'key' | 'user' | 'master' | 'anonymous' | 'command' | 'system'
  readonly id: string | null
  readonly userId: number | null
}

/** Where it came from. */
export type RequestOrigin = {
  readonly requestId: string | null
  readonly address: string | null
  readonly userAgent: string | null
}

/** What it was about. `changed` are names of top-level fields, never values. */
type About = {
  actor: Actor
  applicationId: string | null
  target: { readonly type: string; readonly id: string | null; readonly name?: string | undefined }
  changed: readonly string[]
}

export type Trail = About &
  RequestOrigin & {
    /** `styles.replace`: the id of the operation. */
    readonly action: string
    /** The status of the answer: that of success until something fails. */
    status: number
    /** The entry is in the log. */
    isWritten: boolean
    /** Nothing happened, so far, that the log is about. */
    isMoot: boolean
  }

const noOrigin: RequestOrigin = { requestId: null, address: null, userAgent: null }
const nobody: Actor = { type: 'anonymous', id: null, userId: null }

export const openTrail = (
  action: string,
  { origin = noOrigin, ...about }: Partial<About> & { origin?: RequestOrigin; status?: number } = {},
): Trail => ({
  action,
  ...origin,
  actor: nobody,
  applicationId: null,
  target: { type: action.split('.', 1)[0] ?? action, id: null },
  changed: [],
  status: 200,
  isWritten: false,
  isMoot: false,
  ...about,
})

const fingerprintDigits = 16

/** What the log and the lists of keys show of a key: the beginning of its SHA-256. */
export const fingerprintOf = (hash: string | Uint8Array): string =>
  (typeof hash === 'string' ? hash : Buffer.from(hash).toString('hex')).slice(0, fingerprintDigits)

export const keyFingerprint = (id: string): string => fingerprintOf(credentialHash(id.toLowerCase()))

/** The same in SQL, of a column with the hash. */
export const fingerprintSql = (hash: Sql): Sql => sql`left(encode(${hash}, 'hex'), ${raw(String(fingerprintDigits))})`

/** What the service does by itself, such as loading a file. */
export const systemTrail = (action: string, status = 200): Trail =>
  openTrail(action, { actor: { type: 'system', id: null, userId: null }, status })

/** What somebody did who has the command line of the server. */
export const commandTrail = (action: string, about: Partial<About> = {}): Trail =>
  openTrail(action, { ...about, actor: { type: 'command', id: null, userId: null } })

/** The user proved to be who did it, by a password or by the token of a mail. */
export function noteUser(trail: Trail | undefined, userId: number): void {
  if (!trail) return
  trail.actor = { type: 'user', id: null, userId }
  noteTarget(trail, userId)
}

/** It was about this user, whoever asked. */
export function noteTarget(trail: Trail | undefined, userId: number): void {
  if (trail) trail.target = { type: 'users', id: String(userId) }
}

const columns = raw(
  'id, action, actor_type, actor_id, user_id, status, request_id, address, user_agent, changed, ' +
    'target_type, application_id, target_id, target_name',
)

const entryValues = ({ action, actor, status, requestId, address, userAgent, changed, target }: Trail): Sql =>
  sql`${uuidV7()}::uuid, ${action}, ${actor.type}, ${actor.id}, ${actor.userId}::bigint, ${status}::smallint, ${requestId}, ${address},
    ${userAgent}, ${changed}::text[], ${target.type}`

const noName = raw('NULL::text')

/** SQL for what the entry is about, of the columns that the change returns. */
export type AboutRow = { readonly applicationId: Sql; readonly id: Sql; readonly name: Sql | undefined }

/**
 * Runs a statement that changes one row, and writes the entry with it. `change` ends before its RETURNING. The trail is
 * written only when that is committed: inside a transaction the caller marks it. (The entry adds 0.1 ms to the statement, 0.15
 * on the embedded database; an id or a time that SQL computes would double that.)
 */
export async function changeWithEntry<R extends Row>(
  db: Queryable,
  trail: Trail | undefined,
  change: Sql,
  returning: Sql,
  about: AboutRow,
): Promise<R[]> {
  if (!trail || trail.isWritten) return db.query<R>(sql`${change} RETURNING ${returning}`)
  return db.query<R>(sql`
    WITH change AS (${change} RETURNING ${returning}),
    entry AS (INSERT INTO svc.audit (${columns})
      SELECT ${entryValues(trail)}, ${about.applicationId}, ${about.id}, left(${about.name ?? noName}, 255) FROM change)
    SELECT * FROM change`)
}

/** Runs a transaction that writes the entry too. */
export async function transactWithEntry<T>(
  db: Db,
  trail: Trail | undefined,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const result = await db.transaction(async (tx) => {
    const made = await work(tx)
    if (trail && !trail.isWritten) await writeEntry(tx, trail)
    return made
  })
  if (trail) trail.isWritten = true
  return result
}

/** Writes the entry, for a change that has no row of a resource. */
export async function writeEntry(db: Queryable, trail: Trail): Promise<void> {
  const { applicationId, target } = trail
  await db.query(sql`
    INSERT INTO svc.audit (${columns})
    VALUES (${entryValues(trail)}, ${applicationId}::uuid, ${target.id}, left(${target.name ?? null}::text, 255))`)
}
