import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { Caller } from './acl.ts'
import { credentialHash } from './secrets.ts'

/** A live key as requests need it. */
export type Key = Omit<Caller, 'everyApplication' | 'bearer' | 'keyExpiresAt'>

export type KeyCache = {
  /** The live key with this id; at once when it was asked for a moment ago. */
  find(id: string): Key | undefined | Promise<Key | undefined>
  /** When the key ended that `find` has just not given: undefined when there is no such key. */
  expiryOf(id: string): Date | undefined
  /** Forgets a key at once on this replica; the others ask again within `trustMs`. */
  forget(id: string): void
  /** The same for all keys of type `user` that this user has. */
  forgetUser(userId: number): void
  /** The same for all keys of an application. */
  forgetApplication(applicationId: string): void
  /** Writes down when keys were last used; keys that are just being changed or deleted are passed over. */
  flush(): Promise<void>
}

type Entry = { asked: Promise<Key | undefined>; askedAt: number; key?: Key }

/** A deleted key is refused on every replica within a second, whatever happens to the links between them. */
const trustMs = 900
const capacity = 10_000

/** `onForget`: what was admitted with a key that is forgotten is to be checked again. */
export function createKeyCache(db: Db, onForget: () => void): KeyCache {
  const entries = new Map<string, Entry>()
  /** By the keys' hashes, in milliseconds. */
  const used = new Map<string, number>()

  function ask(id: string): Promise<Key | undefined> {
    // Unknown keys are not kept: a key made a moment ago on another replica must work here at once.
    const forget = () => entries.delete(id)
    // The clock starts before the question is asked, or an answer could be trusted for longer than it is true.
    const askedAt = performance.now()
    const asked = loadKey(db, id)
    const entry: Entry = { asked, askedAt }
    asked.then((found) => {
      if (found) entry.key = found
      else forget()
    }, forget)
    if (entries.size >= capacity) entries.delete(entries.keys().next().value ?? '')
    entries.delete(id)
    entries.set(id, entry)
    return asked
  }

  /** The key, if it has not expired; and that it was used. */
  function use(key: Key | undefined): Key | undefined {
    const now = Date.now()
    if (!key || (key.expiresAt && key.expiresAt.getTime() <= now)) return undefined
    used.set(key.keyHash, now)
    return key
  }

  /** Also those that are still being asked for: the answer may be older than the change. */
  function forgetWhere(isMeant: (key: Key) => boolean): void {
    for (const [id, { key }] of entries) if (!key || isMeant(key)) entries.delete(id)
    onForget()
  }

  return {
    find(id) {
      const entry = entries.get(id)
      const isFresh = entry && performance.now() - entry.askedAt < trustMs
      if (isFresh && entry.key) return use(entry.key)
      return (isFresh ? entry.asked : ask(id)).then(use)
    },
    expiryOf(id) {
      const { expiresAt } = entries.get(id)?.key ?? {}
      return expiresAt && expiresAt.getTime() <= Date.now() ? expiresAt : undefined
    },
    forget(id) {
      entries.delete(id.toLowerCase())
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
           expires_at AS "expiresAt", allowed_origins AS "allowedOrigins"
    FROM svc.apikeys WHERE hash = ${hash}
      AND (user_id IS NULL OR NOT EXISTS (SELECT FROM svc.users u WHERE u.id = user_id AND NOT u.enabled))`)
  return row && { ...row, keyHash: hash.toString('hex') }
}
