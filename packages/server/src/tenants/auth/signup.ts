import { noteTarget, type Trail } from '../../api/access/audit-trail.ts'
import { createOneTimeToken, type OneTimeToken } from '../../api/access/secrets/one-time-token.ts'
import { credentialHash } from '../../api/access/secrets/secrets.ts'
import { lockApplication } from '../../api/resource/lock-application.ts'
import { touched } from '../../api/resource/store.ts'
import { newUserId } from '../../api/resource/user-id.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Account, type AuthSettings, findAccount } from './accounts.ts'
import { allowsMail } from './login-attempts.ts'
import { changeUser, mailValues } from './password-operations.ts'
import { withParameters } from './redirects.ts'
import type { AuthServices } from './services.ts'

export type Signup = {
  readonly applicationId: string
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly password: string
  readonly confirmUrl: URL
  readonly redirectUrl: string
}

/** The id and creation date of the user. */
export type SignUpResult = { readonly id: number; readonly at: Date }

/**
 * Creates or prepares the account; its password counts once the link in the mail was opened. For a complete account nothing
 * happens and the answer is made up, so that sign-up does not reveal which addresses have accounts.
 */
export async function signUp(
  parts: AuthServices,
  signup: Signup,
  settings: AuthSettings,
  signal: AbortSignal,
  trail: Trail | undefined,
): Promise<SignUpResult> {
  const { db, secrets, passwords, mailer, lifetimes } = parts
  const { applicationId, email } = signup
  const existing = await findAccount(db, applicationId, email)
  const isExpected = existing?.enabled && existing.password === null && !existing.isOfProvider
  if (!isExpected && !isApproved(email, settings)) {
    throw new ApiError(
      'unauthorized',
      'This e-mail address is not approved for sign-up. metadata.auth.signup of the application says which are.',
    )
  }
  const hash = await passwords.hash(applicationId, signup.password, signal)
  const mayMail = await allowsMail(db, { applicationId, email }, 'confirm')
  const decoy = { id: newUserId(), at: new Date() }
  if (!mayMail) return decoy
  return db.transaction(async (tx) => {
    await lockApplication(tx, applicationId)
    const account = await openAccount(tx, signup)
    if (!account) return decoy
    noteTarget(trail, account.id)
    const token = createOneTimeToken(secrets, 'verification_token', account.id)
    await keepPending(tx, account, hash, token, lifetimes.verifyToken)
    const link = withParameters(signup.confirmUrl, {
      token: token.token,
      email: account.email,
      redirect: signup.redirectUrl,
    })
    await mailer.send(tx, { applicationId, template: 'confirm', to: account.email, values: mailValues(account, link) })
    // The id of an existing account is not revealed.
    return existing ? decoy : { id: account.id, at: decoy.at }
  })
}

/** `@x.org` means all addresses of a domain, `*` all addresses. */
function isApproved(email: string, { signup }: AuthSettings): boolean {
  if (signup?.enabled !== true || !Array.isArray(signup.allow)) return false
  const address = email.toLowerCase()
  return signup.allow.some((entry) => {
    if (typeof entry !== 'string') return false
    const allowed = entry.toLowerCase()
    if (allowed === '*') return true
    return allowed.startsWith('@') ? address.slice(address.lastIndexOf('@')) === allowed : address === allowed
  })
}

/** The account of this address, created if needed; undefined when it is complete or disabled. */
async function openAccount(tx: Queryable, { applicationId, email, firstName, lastName }: Signup) {
  await tx.query(sql`
    INSERT INTO svc.users (id, application_id, email, first_name, last_name)
    VALUES (${newUserId()}, ${applicationId}::uuid, ${email}, ${firstName}, ${lastName})
    ON CONFLICT (application_id, email_key) DO NOTHING`)
  const account = await findAccount(tx, applicationId, email)
  const isOpen = account && !account.isOfProvider && (!account.emailVerified || account.password === null)
  return isOpen && account.enabled ? account : undefined
}

async function keepPending(tx: Queryable, { id }: Account, password: string, token: OneTimeToken, seconds: number) {
  await tx.query(sql`
    UPDATE svc.users SET pending_password = ${password}, verification_token = ${token.sealed},
      verification_hash = ${token.hash},
      verification_expires_at = clock_timestamp() + make_interval(secs => ${seconds}), ${touched}
    WHERE id = ${id} AND (NOT email_verified OR password IS NULL)`)
}

/** The user and application settings of an unused confirmation token. */
export async function findConfirmation(db: Db, token: string, email: string | undefined) {
  const [row] = await db.query<{ id: number; auth: AuthSettings | null }>(sql`
    SELECT u.id, a.metadata -> 'auth' AS auth FROM svc.users u JOIN svc.applications a ON a.id = u.application_id
    WHERE ${isConfirmedBy(token)} AND (${email ?? null}::text IS NULL OR email_key = lower(${email ?? null} COLLATE "C"))`)
  return row && { id: row.id, settings: row.auth ?? {} }
}

/** Uses the token; false when it was used before. */
export const confirm = (db: Db, id: number, token: string, trail: Trail | undefined): Promise<boolean> =>
  changeUser(
    db,
    trail,
    sql`UPDATE svc.users u SET email_verified = true, password = COALESCE(pending_password, password),
          pending_password = NULL, verification_token = NULL, verification_hash = NULL, ${touched}
        WHERE id = ${id} AND ${isConfirmedBy(token)}`,
    ['emailVerified', 'password'],
  )

const isConfirmedBy = (token: string) =>
  sql`u.verification_hash = ${credentialHash(token)} AND u.verification_expires_at > clock_timestamp() AND u.enabled`
