import { LRUCache } from 'lru-cache'
import { createLoadingCache } from '../../kernel/concurrency/loading-cache.ts'
import { whenReady } from '../../kernel/concurrency/when-ready.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import type { Bearer } from './acl.ts'
import { type CallerUser, callerUserOf } from './caller-user.ts'
import { isUuid } from './credentials.ts'
import { credentialTtlMs, type Key, type KeyCache } from './key-cache.ts'
import type { Tokens, VerifiedToken } from './secrets/access-tokens.ts'

/** A bearer with a live session, and the default key that is used if the request has none. */
export type AdmittedBearer = {
  readonly bearer: Bearer
  readonly user: CallerUser
  readonly applicationId: string
  readonly expiresAt: Date
  key(): Key | undefined | Promise<Key | undefined>
}

export type BearerCache = {
  /** Undefined when the token is not valid, or its session or user has ended; at once when that is cached. */
  find(token: string): AdmittedBearer | undefined | Promise<AdmittedBearer | undefined>
  /** Invalidates the sessions of a user or an application: at once on this replica, within a second on the others. */
  forget(whose: { readonly userId: number } | { readonly applicationId: string }): void
}

type Session = { readonly user: CallerUser; readonly defaultKeys: readonly string[] }
type Entry = { readonly token: VerifiedToken; readonly session: Session }

const maxTokens = 10_000

/**
 * Cache of verified access tokens. A signature stays valid, so it is verified once; session and user are checked as often
 * as keys are. `onForget`: requests that were admitted with a forgotten token must be checked again.
 */
export function createBearerCache(db: Db, tokens: Tokens, keys: KeyCache, onForget: () => void): BearerCache {
  const verified = new LRUCache<string, VerifiedToken>({ max: maxTokens })
  // Failures are not cached: the missing default key may be set in a moment.
  const sessions = createLoadingCache<Entry | undefined>({
    ttlMs: credentialTtlMs,
    max: maxTokens,
    keeps: (entry) => entry !== undefined && entry.session.defaultKeys.length > 0,
  })

  async function load(text: string): Promise<Entry | undefined> {
    const token = verified.get(text) ?? (await tokens.verify(text))
    if (!token) return undefined
    verified.set(text, token)
    const session = await loadSession(db, token)
    return session && { token, session }
  }

  function admit(entry: Entry | undefined): AdmittedBearer | undefined {
    if (!entry || entry.token.expiresAt <= Date.now()) return undefined
    const { userId, sessionId, applicationId } = entry.token
    return {
      bearer: { userId, sessionId },
      user: entry.session.user,
      applicationId,
      expiresAt: new Date(entry.token.expiresAt),
      key: () => firstUsable(entry.session.defaultKeys, applicationId, keys),
    }
  }

  return {
    find: (text) => whenReady(sessions.fresh(text) ?? sessions.get(text, () => load(text)), admit),
    forget(whose) {
      const isMeant = (token: VerifiedToken) =>
        'userId' in whose ? token.userId === whose.userId : token.applicationId === whose.applicationId
      sessions.forgetWhere((entry) => entry !== undefined && isMeant(entry.token))
      onForget()
    },
  }
}

/** Skips keys that are gone, of another application, or master keys. */
function firstUsable(
  [id, ...others]: readonly string[],
  applicationId: string,
  keys: KeyCache,
): Key | undefined | Promise<Key | undefined> {
  if (id === undefined) return undefined
  return whenReady(isUuid(id) ? keys.find(id.toLowerCase()) : undefined, (key) => {
    const isUsable = key && key.applicationId === applicationId && key.type !== 'master'
    return isUsable ? key : firstUsable(others, applicationId, keys)
  })
}

/** The user's own default key comes before the application's. */
async function loadSession(db: Db, { userId, applicationId, sessionId }: VerifiedToken): Promise<Session | undefined> {
  const [row] = await db.query<{ user: CallerUser; ofUser: string | null; ofApplication: string | null }>(sql`
    SELECT ${callerUserOf} AS "user", u.metadata #>> '{auth,defaultApiKey}' AS "ofUser", a.metadata #>> '{auth,defaultApiKey}' AS "ofApplication"
    FROM svc.users u JOIN svc.applications a ON a.id = u.application_id
    WHERE u.id = ${userId} AND u.application_id = ${applicationId}::uuid AND u.enabled
      AND EXISTS (SELECT FROM svc.sessions s WHERE s.family = ${sessionId}::uuid AND s.user_id = u.id
                  AND s.application_id = u.application_id AND s.expires_at > clock_timestamp())
      AND NOT EXISTS (SELECT FROM svc.sessions s WHERE s.family = ${sessionId}::uuid AND s.revoked_at IS NOT NULL)`)
  return row && { user: row.user, defaultKeys: [row.ofUser, row.ofApplication].filter((id) => id !== null) }
}
