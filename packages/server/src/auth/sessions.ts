import { randomBytes, randomUUID } from 'node:crypto'
import type { Claims } from '../access/access-tokens.ts'
import { credentialHash } from '../access/secrets.ts'
import type { Db, Queryable } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { Account } from './accounts.ts'

/** Refresh tokens are opaque: 256 random bits, stored as a hash. */
const newRefreshToken = (): string => `rt_${randomBytes(32).toString('base64url')}`

export type Session = { readonly refreshToken: string; readonly claims: Claims }

/** Creates a session, unless the password was changed or the user disabled since `account` was read. */
export async function beginSession(db: Db, account: Account, seconds: number): Promise<Session | undefined> {
  const refreshToken = newRefreshToken()
  const family = randomUUID()
  const { id: userId, applicationId } = account
  const rows = await db.query(sql`
    WITH holder AS (
      SELECT id, application_id FROM svc.users
      WHERE id = ${userId} AND application_id = ${applicationId}::uuid AND enabled AND password = ${account.password}
      FOR SHARE)
    INSERT INTO svc.sessions (hash, family, user_id, application_id, expires_at)
    SELECT ${credentialHash(refreshToken)}::bytea, ${family}::uuid, id, application_id,
           clock_timestamp() + make_interval(secs => ${seconds}) FROM holder
    RETURNING 1`)
  return rows.length === 0 ? undefined : { refreshToken, claims: { userId, applicationId, sessionId: family } }
}

type Held = { family: string; userId: number; isRotated: boolean }

/** The session of a refresh token. Reuse of a rotated token ends its whole family, because it was copied. */
export async function findSession(db: Db, refreshToken: string, applicationId: string): Promise<Claims | undefined> {
  const held = await hold(db, refreshToken, applicationId)
  if (held?.isRotated) await endFamily(db, held.family)
  return held && !held.isRotated ? { userId: held.userId, applicationId, sessionId: held.family } : undefined
}

/** Refresh token rotation: the same session with a new token. */
export async function rotateSession(
  db: Db,
  refreshToken: string,
  applicationId: string,
  seconds: number,
): Promise<Session | undefined> {
  const claims = await findSession(db, refreshToken, applicationId)
  if (!claims) return undefined
  const next = newRefreshToken()
  const isDone = await db.transaction(async (tx) => {
    // The user is locked first, as in every change of a user, against deadlocks.
    await tx.query(sql`SELECT FROM svc.users WHERE id = ${claims.userId} FOR KEY SHARE`)
    const taken = await tx.query(sql`
      UPDATE svc.sessions SET rotated_at = clock_timestamp()
      WHERE hash = ${credentialHash(refreshToken)} AND rotated_at IS NULL AND revoked_at IS NULL RETURNING 1`)
    if (taken.length === 0) return false
    await tx.query(sql`
      INSERT INTO svc.sessions (hash, family, user_id, application_id, expires_at)
      VALUES (${credentialHash(next)}, ${claims.sessionId}::uuid, ${claims.userId}, ${applicationId}::uuid,
              clock_timestamp() + make_interval(secs => ${seconds}))`)
    return true
  })
  if (isDone) return { refreshToken: next, claims }
  // Another request rotated the same token first.
  await endFamily(db, claims.sessionId)
  return undefined
}

async function hold(db: Queryable, refreshToken: string, applicationId: string): Promise<Held | undefined> {
  const [held] = await db.query<Held>(sql`
    SELECT s.family, s.user_id AS "userId", s.rotated_at IS NOT NULL AS "isRotated"
    FROM svc.sessions s JOIN svc.users u ON u.id = s.user_id AND u.application_id = s.application_id
    WHERE s.hash = ${credentialHash(refreshToken)} AND s.application_id = ${applicationId}::uuid
      AND s.expires_at > clock_timestamp() AND u.enabled
      AND NOT EXISTS (SELECT FROM svc.sessions o WHERE o.family = s.family AND o.revoked_at IS NOT NULL)`)
  return held
}

/** One revoked row ends the family. Locking several rows could deadlock. */
const endFamily = (db: Queryable, family: string) =>
  db.query(sql`
    UPDATE svc.sessions SET revoked_at = clock_timestamp() WHERE revoked_at IS NULL
      AND hash = (SELECT hash FROM svc.sessions WHERE family = ${family}::uuid ORDER BY created_at, hash LIMIT 1)`)

/** Ends the session of a refresh token, if it is this user's. */
export async function endSession(db: Db, refreshToken: string, { userId, applicationId }: Omit<Claims, 'sessionId'>) {
  const [held] = await db.query<{ family: string }>(sql`
    SELECT family FROM svc.sessions WHERE hash = ${credentialHash(refreshToken)}
      AND user_id = ${userId} AND application_id = ${applicationId}::uuid`)
  if (held) await endFamily(db, held.family)
  return held !== undefined
}

/**
 * Deletes sessions whose whole family has expired, and login failures that no longer count. Locked rows are skipped until
 * the next time.
 */
export async function sweepSessions(db: Db, windowSeconds: number): Promise<void> {
  await db.query(sql`
    DELETE FROM svc.sessions WHERE hash IN (
      SELECT hash FROM svc.sessions s WHERE expires_at < now()
        AND NOT EXISTS (SELECT FROM svc.sessions o WHERE o.family = s.family AND o.expires_at >= now())
      FOR UPDATE SKIP LOCKED)`)
  await db.query(sql`
    DELETE FROM svc.login_failures WHERE bucket IN (
      SELECT bucket FROM svc.login_failures WHERE started_at < now() - make_interval(secs => ${windowSeconds})
      FOR UPDATE SKIP LOCKED)`)
}
