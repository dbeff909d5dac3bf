import { randomBytes } from 'node:crypto'
import { denied } from '../../api/access/acl.ts'
import { credentialHash, type Secrets } from '../../api/access/secrets/secrets.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { raw, sql } from '../../kernel/db/sql.ts'
import { openKey } from './sealed-key.ts'

/*
 * One-time tokens that are exchanged for an API key. They are in the database, because whoever makes one by a command
 * and the replica that is given it are different processes. Only their hash is.
 */

const lifetime = raw("interval '1 hour'")

/** A one-time token for the key with this hash, valid for an hour. */
export async function createSignInToken(
  db: Queryable,
  keyHash: Uint8Array,
  { endsAtRestart }: { endsAtRestart: boolean },
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await db.query(sql`DELETE FROM svc.sign_in_links WHERE expires_at < clock_timestamp()`)
  await db.query(sql`
    INSERT INTO svc.sign_in_links (hash, key_hash, expires_at, ends_at_restart)
    VALUES (${credentialHash(token)}, ${keyHash}, clock_timestamp() + ${lifetime}, ${endsAtRestart})`)
  return token
}

/** Revokes the links that an earlier start printed. */
export async function endLinksOfEarlierStart(db: Queryable): Promise<void> {
  await db.query(sql`DELETE FROM svc.sign_in_links WHERE ends_at_restart`)
}

export type SignInResult = { readonly apiKey: string; readonly applicationId: string }

/** The key that a token stands for, or 401. Deleting the row is the use: of many at once, one deletes it. */
export async function redeemSignInToken(db: Db, secrets: Secrets, token: string): Promise<SignInResult> {
  const [link] = await db.query<{ keyHash: Uint8Array }>(sql`
    DELETE FROM svc.sign_in_links WHERE hash = ${credentialHash(token)} AND expires_at > clock_timestamp()
    RETURNING key_hash AS "keyHash"`)
  if (!link) {
    throw denied('This sign-in link was already used or has expired. Run `npm start -- console` for a new one.')
  }
  const [key] = await db.query(sql`
    SELECT hash, secret, application_id AS "applicationId" FROM svc.apikeys WHERE hash = ${link.keyHash}`)
  if (!key) {
    throw denied('The API key of this sign-in link was deleted. Run `npm start -- console` for a new link.')
  }
  return { apiKey: openKey(secrets, key), applicationId: String(key.applicationId) }
}
