// One-time codes: what the page that began a sign-in exchanges for tokens. They are good for a minute, once, and only with the PKCE verifier
// of that page, so that an address which somebody else reads, in a log or a history, is of no use.
import { hash, randomBytes } from 'node:crypto'
import { credentialHash } from '../../../api/access/secrets/secrets.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { json, sql } from '../../../kernel/db/sql.ts'
import type { ClaimSet } from './claim-mapping.ts'

const lifeSeconds = 60
/** For whoever must still type the code of a second factor. */
const typingSeconds = 300

type SignIn = {
  readonly providerId: string
  readonly applicationId: string
  readonly userId: number
  readonly claims: ClaimSet
}

export async function createSignInCode(db: Queryable, signIn: SignIn, challenge: string): Promise<string> {
  const code = `si_${randomBytes(32).toString('base64url')}`
  await db.query(sql`
    INSERT INTO svc.sign_in_codes (hash, provider_id, application_id, user_id, challenge, claims, expires_at)
    VALUES (${credentialHash(code)}, ${signIn.providerId}::uuid, ${signIn.applicationId}::uuid, ${signIn.userId}, ${challenge},
            ${json(signIn.claims)}, clock_timestamp() + make_interval(secs => ${lifeSeconds}))`)
  return code
}

/** The sign-in of a code that is still good. A wrong verifier ends it: somebody else has read the code. */
export async function findSignIn(db: Queryable, code: string, verifier: string): Promise<SignIn | undefined> {
  const [row] = await db.query<SignIn & { challenge: string }>(sql`
    SELECT provider_id AS "providerId", application_id AS "applicationId", user_id AS "userId", claims, challenge
    FROM svc.sign_in_codes WHERE hash = ${credentialHash(code)} AND expires_at > clock_timestamp()`)
  if (!row) return undefined
  if (hash('sha256', verifier, 'base64url') === row.challenge) return row
  await takeSignIn(db, code)
  return undefined
}

/** Uses the code; false when it was used before. */
export async function takeSignIn(db: Queryable, code: string): Promise<boolean> {
  const taken = await db.query(sql`
    DELETE FROM svc.sign_in_codes WHERE hash = ${credentialHash(code)} AND expires_at > clock_timestamp() RETURNING 1`)
  return taken.length > 0
}

/** Gives time for a second factor, once: counted from when the code was made. */
export const awaitFactor = (db: Queryable, code: string): Promise<unknown> =>
  db.query(sql`
    UPDATE svc.sign_in_codes SET expires_at = expires_at + make_interval(secs => ${typingSeconds - lifeSeconds}), awaits_factor = true
    WHERE hash = ${credentialHash(code)} AND NOT awaits_factor`)

export async function sweepSignInCodes(db: Db): Promise<void> {
  await db.query(sql`
    DELETE FROM svc.sign_in_codes WHERE hash IN (
      SELECT hash FROM svc.sign_in_codes WHERE expires_at < now() FOR UPDATE SKIP LOCKED)`)
}
