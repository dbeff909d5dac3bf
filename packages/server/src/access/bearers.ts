import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { isUuid } from './credentials.ts'
import type { Key, KeyCache } from './key-cache.ts'
import type { Tokens, VerifiedToken } from './tokens.ts'

/** Whoever an access token speaks for. */
export type Bearer = { readonly userId: number; readonly sessionId: string }

/** A bearer whose session lives, and the key that the token stands for if no other comes with it. */
export type Admitted = {
  readonly bearer: Bearer
  readonly applicationId: string
  readonly expiresAt: Date
  key(): Promise<Key | undefined>
}

export type Bearers = {
  /** Nothing when the token is not valid, or its session or user no longer is. */
  find(token: string): Promise<Admitted | undefined>
  /** Asks again about the sessions of a user or an application, at once on this replica; the others do within `trustMs`. */
  forget(whose: { readonly userId: number } | { readonly applicationId: string }): void
}

type Session = { readonly defaultKeys: readonly string[] }
type Entry = { token: VerifiedToken; session: Promise<Session | undefined>; askedAt: number }

const trustMs = 900
const capacity = 10_000

/**
 * Tokens that were verified a moment ago. A signature stays true, so it is checked once; whether the session and the
 * user live is asked as often as for keys. `onForget`: what was admitted with a forgotten token is to be checked again.
 */
export function createBearers(db: Db, tokens: Tokens, keys: KeyCache, onForget: () => void): Bearers {
  const entries = new Map<string, Entry>()

  async function entryOf(text: string): Promise<Entry | undefined> {
    const known = entries.get(text)
    if (known && performance.now() - known.askedAt < trustMs) return known
    const token = known?.token ?? (await tokens.verify(text))
    if (!token) return undefined
    const entry = { token, session: loadSession(db, token), askedAt: performance.now() }
    const drop = () => entries.get(text) === entry && entries.delete(text)
    // What lets nobody in is not kept: the key that is missing may be named in a moment.
    entry.session.then((session) => !session?.defaultKeys.length && drop(), drop)
    if (entries.size >= capacity) entries.delete(entries.keys().next().value ?? '')
    entries.delete(text)
    entries.set(text, entry)
    return entry
  }

  return {
    async find(text) {
      const entry = await entryOf(text)
      const session = await entry?.session
      if (!entry || !session || entry.token.expiresAt <= Date.now()) return undefined
      const { userId, sessionId, applicationId } = entry.token
      return {
        bearer: { userId, sessionId },
        applicationId,
        expiresAt: new Date(entry.token.expiresAt),
        key: () => firstUsable(session.defaultKeys, applicationId, keys),
      }
    },
    forget(whose) {
      const isMeant = (token: VerifiedToken) =>
        'userId' in whose ? token.userId === whose.userId : token.applicationId === whose.applicationId
      for (const [text, { token }] of entries) if (isMeant(token)) entries.delete(text)
      onForget()
    },
  }
}

/** A key that is gone, of another application, or a master key, is as good as none. */
async function firstUsable(ids: readonly string[], applicationId: string, keys: KeyCache): Promise<Key | undefined> {
  for (const id of ids) {
    const key = isUuid(id) ? await keys.find(id.toLowerCase()) : undefined
    if (key && key.applicationId === applicationId && key.type !== 'master') return key
  }
  return undefined
}

/** The user's own default key comes before the application's. */
async function loadSession(db: Db, { userId, applicationId, sessionId }: VerifiedToken): Promise<Session | undefined> {
  const [row] = await db.query<{ ofUser: string | null; ofApplication: string | null }>(sql`
    SELECT u.metadata #>> '{auth,defaultApiKey}' AS "ofUser", a.metadata #>> '{auth,defaultApiKey}' AS "ofApplication"
    FROM svc.users u JOIN svc.applications a ON a.id = u.application_id
    WHERE u.id = ${userId} AND u.application_id = ${applicationId}::uuid AND u.enabled
      AND EXISTS (SELECT FROM svc.sessions s WHERE s.family = ${sessionId}::uuid AND s.user_id = u.id
                  AND s.application_id = u.application_id AND s.expires_at > clock_timestamp())
      AND NOT EXISTS (SELECT FROM svc.sessions s WHERE s.family = ${sessionId}::uuid AND s.revoked_at IS NOT NULL)`)
  return row && { defaultKeys: [row.ofUser, row.ofApplication].filter((id) => id !== null) }
}
