import { randomBytes, randomUUID } from 'node:crypto'
import type { Claims, SignedClaims } from '../../api/access/secrets/access-tokens.ts'
import { credentialHash, type Secrets } from '../../api/access/secrets/secrets.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { json, raw, sql } from '../../kernel/db/sql.ts'
import type { Account } from './accounts.ts'

/** Refresh tokens are opaque: 256 random bits, stored as a hash. */
const newRefreshToken = (): string => `rt_${randomBytes(32).toString('base64url')}`

export type UserSession = { readonly refreshToken: string; readonly claims: SignedClaims }

export type SessionLimits = {
  readonly seconds: number
  /** How many a user may have, unless its application says otherwise. */
  readonly perUser: number
}

/** The provider that a user has signed in by, and what it says of them that rules may ask for. */
export type SessionSource = { readonly providerId: string; readonly claims: Readonly<Record<string, unknown>> }

/** A new session, and whether an older one had to end for it. */
export type StartedSession = UserSession & { readonly hasEndedOthers: boolean }

/**
 * Creates a session, unless the password was changed or the user disabled since `account` was read. The oldest sessions of
 * a user who has too many end. The lock of the user makes logins wait for each other, so that they count each other too.
 */
export function beginSession(
  db: Db,
  account: Account,
  { seconds, perUser }: SessionLimits,
  userAgent = '',
  source?: SessionSource,
): Promise<StartedSession | undefined> {
  const refreshToken = newRefreshToken()
  const family = randomUUID()
  const { id: userId, applicationId, roles } = account
  return db.transaction(async (tx) => {
    const [holder] = await tx.query<{ most: number | null }>(sql`
      SELECT (SELECT (limits->>'sessionsPerUser')::float8 FROM svc.applications WHERE id = u.application_id) AS most
      FROM svc.users u
      WHERE id = ${userId} AND application_id = ${applicationId}::uuid AND enabled AND password IS NOT DISTINCT FROM ${account.password}
      FOR NO KEY UPDATE`)
    if (!holder || (source && !(await holdProvider(tx, source)))) return undefined
    const ended = await endOldest(tx, account, (holder.most ?? perUser) - 1)
    await tx.query(sql`
      INSERT INTO svc.sessions (hash, family, user_id, application_id, user_agent, provider_id, claims, expires_at)
      VALUES (${credentialHash(refreshToken)}, ${family}::uuid, ${userId}, ${applicationId}::uuid,
              ${userAgent.replaceAll('\0', '').slice(0, 300)}, ${source?.providerId ?? null}::uuid,
              ${source ? json(source.claims) : raw('NULL')}, clock_timestamp() + make_interval(secs => ${seconds}))`)
    return {
      refreshToken,
      claims: { userId, applicationId, sessionId: family, roles },
      hasEndedOthers: ended.length > 0,
    }
  })
}

/** Locks a provider that is switched on until the end of the transaction: what switches it off ends the session, too. */
const holdProvider = async (tx: Queryable, { providerId }: Pick<SessionSource, 'providerId'>): Promise<boolean> =>
  (await tx.query(sql`SELECT 1 FROM svc.oidcproviders WHERE id = ${providerId}::uuid AND enabled FOR SHARE`)).length > 0

/** A session that the access tokens of a provider stand for. */
export type TokenSession = SessionSource & {
  readonly account: Pick<Account, 'id' | 'applicationId'>
  readonly subject: string
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/**
 * The one session of all tokens that a provider signs for a subject, so that revocation, lists of sessions and their end are the same for
 * them. Once it was ended, it begins anew with a token that was signed later; undefined for one that was signed before.
 */
export function holdTokenSession(db: Db, secrets: Secrets, session: TokenSession): Promise<string | undefined> {
  const { account, providerId, subject, claims, issuedAt, expiresAt } = session
  // By the server's secret: no refresh token has this hash.
  const hash = Buffer.from(secrets.authenticate('token session', `${providerId} ${subject}`), 'hex')
  return db.transaction(async (tx) => {
    if (!(await holdProvider(tx, session))) return undefined
    const [held] = await tx.query<{ family: string }>(sql`
      INSERT INTO svc.sessions AS s (hash, family, user_id, application_id, provider_id, claims, of_token, expires_at)
      VALUES (${hash}, ${randomUUID()}::uuid, ${account.id}, ${account.applicationId}::uuid, ${providerId}::uuid, ${json(claims)}, true,
              ${expiresAt}::timestamptz)
      ON CONFLICT (hash) DO UPDATE SET
        family = CASE WHEN s.revoked_at IS NULL THEN s.family ELSE EXCLUDED.family END,
        created_at = CASE WHEN s.revoked_at IS NULL THEN s.created_at ELSE EXCLUDED.created_at END,
        user_id = EXCLUDED.user_id, claims = EXCLUDED.claims, seen_at = clock_timestamp(),
        expires_at = greatest(s.expires_at, EXCLUDED.expires_at), revoked_at = NULL
        WHERE s.revoked_at IS NULL OR s.revoked_at < ${issuedAt}::timestamptz
      RETURNING family`)
    return held?.family
  })
}

/** Ends all sessions of a user but the youngest. One revoked row ends a family. Those of providers' tokens are not counted. */
const endOldest = (tx: Queryable, { id, applicationId }: Account, kept: number): Promise<unknown[]> =>
  tx.query(sql`
    UPDATE svc.sessions SET revoked_at = clock_timestamp() WHERE hash IN (
      SELECT (array_agg(hash ORDER BY created_at, hash))[1] FROM svc.sessions
      WHERE application_id = ${applicationId}::uuid AND user_id = ${id} AND NOT of_token GROUP BY family
      HAVING bool_and(revoked_at IS NULL) AND bool_or(expires_at > clock_timestamp())
      ORDER BY min(created_at) DESC, family OFFSET ${Math.min(kept, mostKept)}::int4)
    RETURNING 1`)

const mostKept = 1_000_000

type SessionRow = { family: string; userId: number; roles: readonly string[]; isRotated: boolean }

/** The session of a refresh token. Reuse of a rotated token ends its whole family, because it was copied. */
export async function findSession(
  db: Db,
  refreshToken: string,
  applicationId: string,
): Promise<SignedClaims | undefined> {
  const held = await hold(db, refreshToken, applicationId)
  if (held?.isRotated) await endFamily(db, held.family)
  else if (held) await noteSeen(db, refreshToken)
  if (!held || held.isRotated) return undefined
  return { userId: held.userId, applicationId, sessionId: held.family, roles: held.roles }
}

/** To a minute: a session that asks often is not written each time. */
const noteSeen = (db: Queryable, refreshToken: string) =>
  db.query(sql`
    UPDATE svc.sessions SET seen_at = clock_timestamp() WHERE hash = ${credentialHash(refreshToken)}
      AND greatest(created_at, seen_at) < clock_timestamp() - interval '1 minute'`)

/** Refresh token rotation: the same session with a new token. */
export async function rotateSession(
  db: Db,
  refreshToken: string,
  applicationId: string,
  seconds: number,
): Promise<UserSession | undefined> {
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
      INSERT INTO svc.sessions (hash, family, user_id, application_id, user_agent, provider_id, claims, expires_at)
      SELECT ${credentialHash(next)}, family, user_id, application_id, user_agent, provider_id, claims,
             clock_timestamp() + make_interval(secs => ${seconds})
      FROM svc.sessions WHERE hash = ${credentialHash(refreshToken)}`)
    return true
  })
  if (isDone) return { refreshToken: next, claims }
  // Another request rotated the same token first.
  await endFamily(db, claims.sessionId)
  return undefined
}

async function hold(db: Queryable, refreshToken: string, applicationId: string): Promise<SessionRow | undefined> {
  const [held] = await db.query<SessionRow>(sql`
    SELECT s.family, s.user_id AS "userId", u.roles, s.rotated_at IS NOT NULL AS "isRotated"
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

export type SessionFact = {
  readonly id: string
  readonly startedAt: Date
  readonly seenAt: Date
  readonly expiresAt: Date
  readonly userAgent: string
}

type Holder = Omit<Claims, 'sessionId'>

/** The sessions of a user that have not ended. */
export const listSessions = (db: Queryable, { userId, applicationId }: Holder): Promise<SessionFact[]> =>
  db.query<SessionFact>(sql`
    SELECT family AS id, min(created_at) AS "startedAt", max(greatest(created_at, seen_at)) AS "seenAt",
           max(expires_at) AS "expiresAt", max(user_agent) AS "userAgent"
    FROM svc.sessions WHERE application_id = ${applicationId}::uuid AND user_id = ${userId} GROUP BY family
    HAVING bool_and(revoked_at IS NULL) AND bool_or(rotated_at IS NULL AND expires_at > clock_timestamp())
    ORDER BY min(created_at) DESC, family LIMIT 1000`)

/** Ends a session of this user by its id; false if there is none. */
export async function endSessionOf(db: Db, id: string, holder: Holder): Promise<boolean> {
  const session = (await listSessions(db, holder)).find((one) => one.id === id.toLowerCase())
  if (session) await endFamily(db, session.id)
  return session !== undefined
}

/** Deletes sessions whose whole family has expired. Locked rows are skipped until the next time. */
export async function sweepSessions(db: Db): Promise<void> {
  await db.query(sql`
    DELETE FROM svc.sessions WHERE hash IN (
      SELECT hash FROM svc.sessions s WHERE expires_at < now()
        AND NOT EXISTS (SELECT FROM svc.sessions o WHERE o.family = s.family AND o.expires_at >= now())
      FOR UPDATE SKIP LOCKED)`)
}
