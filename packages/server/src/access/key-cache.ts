import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { Caller } from './acl.ts'
import { credentialHash } from './secrets.ts'

/** A live key as requests need it. */
export type Key = Omit<Caller, 'everyApplication'>

export type KeyCache = {
  /** The live key with this id. */
  find(id: string): Promise<Key | undefined>
  /** Forgets a key at once on this replica; the others ask again within `trustMs`. */
  forget(id: string): void
  /** Writes down when keys were last used. */
  flush(): Promise<void>
}

type Entry = { key: Promise<Key | undefined>; askedAt: number }

/** A deleted key is refused on every replica within a second, whatever happens to the links between them. */
const trustMs = 900
const capacity = 10_000

export function createKeyCache(db: Db): KeyCache {
  const entries = new Map<string, Entry>()
  const used = new Map<string, Date>()

  function ask(id: string): Promise<Key | undefined> {
    // Unknown keys are not kept: a key made a moment ago on another replica must work here at once.
    const forget = () => entries.delete(id)
    const key = loadKey(db, id)
    key.then((found) => found === undefined && forget(), forget)
    if (entries.size >= capacity) entries.delete(entries.keys().next().value ?? '')
    entries.delete(id)
    // The clock starts before the question is asked, or an answer could be trusted for longer than it is true.
    entries.set(id, { key, askedAt: performance.now() })
    return key
  }

  return {
    async find(id) {
      const entry = entries.get(id)
      const key = await (entry && performance.now() - entry.askedAt < trustMs ? entry.key : ask(id))
      if (!key || (key.expiresAt && key.expiresAt <= new Date())) return undefined
      used.set(id, new Date())
      return key
    },
    forget: (id) => void entries.delete(id),
    async flush() {
      const batch = [...used]
      used.clear()
      if (batch.length === 0) return
      await db.query(sql`
        UPDATE svc.apikeys SET last_used_at = u.at
        FROM unnest(${batch.map(([id]) => credentialHash(id))}::bytea[], ${batch.map(([, at]) => at)}::timestamptz[]) AS u(hash, at)
        WHERE apikeys.hash = u.hash`)
    },
  }
}

async function loadKey(db: Db, id: string): Promise<Key | undefined> {
  const [row] = await db.query<Omit<Key, 'keyId'>>(sql`
    SELECT type, application_id AS "applicationId", permissions, user_id AS "userId",
           expires_at AS "expiresAt", allowed_origins AS "allowedOrigins"
    FROM svc.apikeys WHERE hash = ${credentialHash(id)}`)
  return row && { ...row, keyId: id }
}
