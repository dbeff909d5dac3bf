import { createLoadingCache } from '../../kernel/concurrency/loading-cache.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import type { Caller } from './acl.ts'
import { callerUserOf } from './caller-user.ts'
import { credentialHash } from './secrets/secrets.ts'

/** A valid API key, as requests need it. */
export type Key = Omit<Caller, 'everyApplication' | 'bearer' | 'keyExpiresAt'>

export type KeyCache = {
  /** The valid key with this id; synchronously when it is cached. */
  find(id: string): Key | undefined | Promise<Key | undefined>
  /** The expiry of a key that `find` has just refused; undefined when there is no such key. */
  expiryOf(id: string): Date | undefined
  /** Invalidates a key at once on this replica; the others reload it within a second. */
  forget(id: string): void
  /** The same for all keys of type `user` that this user has. */
  forgetUser(userId: number): void
  /** The same for all keys of an application. */
  forgetApplication(applicationId: string): void
  /** Write-behind of the last use of keys. Rows that are locked by a change are skipped. */
  flush(): Promise<void>
}

/**
 * For how long a key or a session is trusted. Half of the second within which a revoked one is refused everywhere, so that a
 * busy database may take the other half to answer; a look-up more in a second costs each process nothing to speak of.
 */
export const credentialTtlMs = 500

/** Cache of API keys, fresh to half a second. `onForget`: requests admitted with a forgotten key must be checked again. */
export function createKeyCache(db: Db, onForget: () => void): KeyCache {
  // Unknown keys are not cached: a key created a moment ago on another replica must work here at once.
  const keys = createLoadingCache<Key | undefined>({ ttlMs: credentialTtlMs, keeps: (key) => key !== undefined })
  /** By the keys' hashes, in milliseconds. */
  const used = new Map<string, number>()

  /** The key if it has not expired, and notes its use. */
  function use(key: Key | undefined): Key | undefined {
    const now = Date.now()
    if (!key || (key.expiresAt && key.expiresAt.getTime() <= now)) return undefined
    used.set(key.keyHash, now)
    return key
  }

  function forgetWhere(isMeant: (key: Key) => boolean): void {
    keys.forgetWhere((key) => key !== undefined && isMeant(key))
    onForget()
  }

  return {
    find(id) {
      const key = keys.fresh(id)
      return key ? use(key) : keys.get(id, () => loadKey(db, id)).then(use)
    },
    expiryOf(id) {
      const { expiresAt } = keys.last(id) ?? {}
      return expiresAt && expiresAt.getTime() <= Date.now() ? expiresAt : undefined
    },
    forget(id) {
      keys.forget(id.toLowerCase())
      onForget()
    },
    forgetUser: (userId) => forgetWhere((key) => key.userId === userId),
    forgetApplication: (applicationId) => forgetWhere((key) => key.applicationId === applicationId),
    async flush() {
      const batch = [...used]
      used.clear()
      if (batch.length === 0) return
      await db.query(sql`
        WITH free AS (
          SELECT k.hash, u.at
          FROM unnest(${batch.map(([hash]) => Buffer.from(hash, 'hex'))}::bytea[], ${batch.map(([, at]) => new Date(at))}::timestamptz[]) AS u(hash, at)
          JOIN svc.apikeys k ON k.hash = u.hash FOR NO KEY UPDATE OF k SKIP LOCKED)
        UPDATE svc.apikeys SET last_used_at = free.at FROM free WHERE apikeys.hash = free.hash`)
    },
  }
}

async function loadKey(db: Db, id: string): Promise<Key | undefined> {
  const hash = credentialHash(id)
  const [row] = await db.query<Omit<Key, 'keyHash'>>(sql`
    SELECT type, application_id AS "applicationId", permissions, user_id AS "userId",
           expires_at AS "expiresAt", allowed_origins AS "allowedOrigins", metadata AS "keyMetadata",
           (SELECT ${callerUserOf} FROM svc.users u WHERE u.id = user_id) AS "user",
           (SELECT (a.limits->>'requestsPerSecond')::float8 FROM svc.applications a WHERE a.id = application_id)
             AS "requestsPerSecond",
           (SELECT (a.limits->>'applicationConnections')::float8 FROM svc.applications a WHERE a.id = application_id)
             AS connections
    FROM svc.apikeys WHERE hash = ${hash}
      AND (user_id IS NULL OR NOT EXISTS (SELECT FROM svc.users u WHERE u.id = user_id AND NOT u.enabled))`)
  return row && { ...row, keyHash: hash.toString('hex') }
}
