import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { createLoadingCache } from '../../kernel/concurrency/loading-cache.ts'
import { whenReady } from '../../kernel/concurrency/when-ready.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import type { Bearer } from './acl.ts'
import { type CallerUser, callerUserOf, type RoleGrants, roleGrantsOf } from './caller-user.ts'
import { isUuid } from './credentials.ts'
import { unionOfGrants } from './grants.ts'
import { credentialTtlMs, type Key, type KeyCache } from './key-cache.ts'
import type { Tokens, VerifiedToken } from './secrets/access-tokens.ts'

/** A bearer with a live session, and the key that the token stands for if the request has none, with what the user's roles grant. */
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
  /** The same of a token that a provider signed, for a user of this application; without one, of the default application. */
  findOfProvider(
    token: string,
    applicationId: string | undefined,
  ): AdmittedBearer | undefined | Promise<AdmittedBearer | undefined>
  /** Invalidates the sessions of a user, an application or everybody: at once on this replica, within a second on the others. */
  forget(whose: { readonly userId: number } | { readonly applicationId: string } | 'everybody'): void
}

/** Checks a token of a provider, and finds or makes its user and session. */
export type VerifyProviderToken = (
  token: string,
  applicationId: string | undefined,
) => Promise<VerifiedToken | undefined>

type Session = {
  readonly user: CallerUser
  readonly defaultKeys: readonly string[]
  readonly claims: Bearer['claims'] | null
  readonly roleGrants: RoleGrants | null
}
type Entry = { readonly token: VerifiedToken; readonly session: Session }

const maxTokens = 10_000

/**
 * Cache of verified access tokens. A signature stays valid, so it is verified once; session and user are checked as often
 * as keys are. `onForget`: requests that were admitted with a forgotten token must be checked again.
 */
export function createBearerCache(
  db: Db,
  tokens: Tokens,
  keys: KeyCache,
  onForget: () => void,
  verifyProviderToken: VerifyProviderToken,
): BearerCache {
  const verified = new LRUCache<string, VerifiedToken>({ max: maxTokens })
  // Failures are not cached: the missing default key may be set in a moment.
  const sessions = createLoadingCache<Entry | undefined>({
    ttlMs: credentialTtlMs,
    max: maxTokens,
    keeps: (entry) => entry !== undefined && entry.session.defaultKeys.length > 0,
  })

  async function load(name: string, verify: () => Promise<VerifiedToken | undefined>): Promise<Entry | undefined> {
    const token = verified.get(name) ?? (await verify())
    if (!token) return undefined
    verified.set(name, token)
    const session = await loadSession(db, token)
    // The session of a provider's tokens ends when the provider's record changes: they are verified anew.
    if (!session) verified.delete(name)
    return session && { token, session }
  }

  function admit(entry: Entry | undefined): AdmittedBearer | undefined {
    if (!entry || entry.token.expiresAt <= Date.now()) return undefined
    const { userId, sessionId, applicationId } = entry.token
    const { claims } = entry.session
    return {
      bearer: { userId, sessionId, ...(claims && { claims }) },
      user: entry.session.user,
      applicationId,
      expiresAt: new Date(entry.token.expiresAt),
      key: () =>
        whenReady(
          firstUsable(entry.session.defaultKeys, applicationId, keys),
          (key) => key && withRoles(key, entry.session),
        ),
    }
  }

  return {
    find: (text) =>
      whenReady(sessions.fresh(text) ?? sessions.get(text, () => load(text, () => tokens.verify(text))), admit),
    findOfProvider(text, applicationId) {
      // These tokens are as long as their provider likes.
      const name = `${applicationId ?? ''} ${hash('sha256', text, 'base64url')}`
      const verify = () => verifyProviderToken(text, applicationId)
      const search = async (): Promise<Entry | undefined> => {
        const wasVerified = verified.has(name)
        return (await load(name, verify)) ?? (wasVerified ? load(name, verify) : undefined)
      }
      return whenReady(sessions.fresh(name) ?? sessions.get(name, search), admit)
    },
    forget(whose) {
      const isMeant = (token: VerifiedToken) =>
        whose === 'everybody' ||
        ('userId' in whose ? token.userId === whose.userId : token.applicationId === whose.applicationId)
      sessions.forgetWhere((entry) => entry !== undefined && isMeant(entry.token))
      onForget()
    },
  }
}

/** Both are kept as long as nothing changes, so this is done once. */
const withRolesOf = new WeakMap<Session, WeakMap<Key, Key>>()

/** The key behind a token, with what the roles of its user grant besides. */
function withRoles(key: Key, session: Session): Key {
  const { roleGrants } = session
  if (!roleGrants) return key
  const known = withRolesOf.get(session) ?? new WeakMap<Key, Key>()
  withRolesOf.set(session, known)
  const made = known.get(key)
  if (made) return made
  const permissions = unionOfGrants([key.permissions, ...roleGrants.permissions])
  const more = { ...key, permissions, roleGrants: roleGrants.digest }
  known.set(key, more)
  return more
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
  const [row] = await db.query<SessionRow>(sql`
    SELECT ${callerUserOf} AS "user", ${roleGrantsOf} AS "roleGrants", u.metadata #>> '{auth,defaultApiKey}' AS "ofUser", a.metadata #>> '{auth,defaultApiKey}' AS "ofApplication",
           (SELECT s.claims FROM svc.sessions s WHERE s.family = ${sessionId}::uuid LIMIT 1) AS claims
    FROM svc.users u JOIN svc.applications a ON a.id = u.application_id
    WHERE u.id = ${userId} AND u.application_id = ${applicationId}::uuid AND u.enabled
      AND EXISTS (SELECT FROM svc.sessions s WHERE s.family = ${sessionId}::uuid AND s.user_id = u.id
                  AND s.application_id = u.application_id AND s.expires_at > clock_timestamp())
      AND NOT EXISTS (SELECT FROM svc.sessions s WHERE s.family = ${sessionId}::uuid AND s.revoked_at IS NOT NULL)`)
  if (!row) return undefined
  const { ofUser, ofApplication, ...session } = row
  return { ...session, defaultKeys: [ofUser, ofApplication].filter((id) => id !== null) }
}

type SessionRow = Omit<Session, 'defaultKeys'> & {
  readonly ofUser: string | null
  readonly ofApplication: string | null
}
