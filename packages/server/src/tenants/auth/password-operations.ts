import Type from 'typebox'
import { bearerOf } from '../../api/access/acl.ts'
import { changeWithEntry, noteTarget, noteUser, type Trail } from '../../api/access/audit-trail.ts'
import { createOneTimeToken } from '../../api/access/secrets/one-time-token.ts'
import { checkNewPassword } from '../../api/access/secrets/passwords.ts'
import { credentialHash } from '../../api/access/secrets/secrets.ts'
import type { Operation } from '../../api/http/operation.ts'
import { lockApplication } from '../../api/resource/lock-application.ts'
import { touched } from '../../api/resource/store.ts'
import type { Queryable } from '../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { type Account, accountById, findAccount, findSettings, refused } from './accounts.ts'
import { inConstantTime } from './constant-time.ts'
import { allowsMail } from './login-attempts.ts'
import { readRedirect, withParameters } from './redirects.ts'
import { applicationIdSchema, closed, passwordSchema, urlSchema } from './schemas.ts'
import { type AuthServices, operation } from './services.ts'
import { checkPassword } from './session-operations.ts'

const applicationId = '00000000-0000-4000-8000-000000000000'

const changePassword = operation({
  id: 'auth.changepassword',
  method: 'POST',
  path: '/api/v1/auth/changepassword',
  summary: 'Change one’s own password',
  description: 'Ends all sessions of the user, this one included.',
  access: { class: 'auth', level: 'execute' },
  bearer: true,
  body: Type.Object(
    { password: passwordSchema, newPassword: passwordSchema },
    { ...closed, examples: [{ password: 'nine Bernoulli numbers', newPassword: 'notes of a translator' }] },
  ),
  success: { status: 204, description: 'The password is changed' },
  failures: [429],
  async handle({ request, caller, signal, services, trail }, { body: { password, newPassword } }) {
    const { db, passwords, bearers } = services
    const { userId } = bearerOf(caller)
    const { applicationId } = caller
    checkNewPassword(newPassword, 'body/newPassword')
    const before = await accountById(db, applicationId, userId)
    const attempt = { applicationId, email: before?.email ?? '', address: request.ip }
    const account = await checkPassword({ db, passwords, signal }, attempt, password, (database) =>
      accountById(database, applicationId, userId),
    )
    const hash = await passwords.hash(applicationId, newPassword, signal)
    // Only if the password was not changed concurrently.
    const hasChanged = await changeUser(
      db,
      trail,
      sql`UPDATE svc.users SET password = ${hash}, ${touched}
          WHERE id = ${userId} AND application_id = ${applicationId}::uuid AND password = ${account.password}`,
      ['password'],
    )
    bearers.forget({ userId })
    if (!hasChanged) throw refused()
    return {}
  },
})

const requestReset = operation({
  id: 'auth.requestpasswordreset',
  method: 'POST',
  path: '/api/v1/auth/requestpasswordreset',
  summary: 'Ask for a mail with which a forgotten password can be replaced',
  description: 'The answer is the same whether there is such a user or not.',
  access: 'public',
  body: Type.Object(
    { email: Type.String({ maxLength: 320 }), applicationId: applicationIdSchema, redirectUrl: urlSchema },
    {
      ...closed,
      examples: [{ email: 'ada@example.org', applicationId, redirectUrl: 'http://localhost:3000/reset' }],
    },
  ),
  success: { status: 204, description: 'If there is such a user, a mail is on its way' },
  failures: [401],
  async handle({ request, services, trail }, { body: { email, redirectUrl, ...body } }) {
    const applicationId = body.applicationId.toLowerCase()
    const settings = await findSettings(services.db, applicationId)
    if (!settings) throw refused()
    const redirect = readRedirect(redirectUrl, 'redirectUrl', settings, services.baseUrl(request))
    await inConstantTime(() => sendResetMail(services, applicationId, email, redirect, trail))
    return {}
  },
})

async function sendResetMail(
  services: AuthServices,
  applicationId: string,
  email: string,
  redirect: URL,
  trail: Trail | undefined,
): Promise<void> {
  const { db, secrets, mailer, lifetimes } = services
  const mayMail = await allowsMail(db, { applicationId, email }, 'reset')
  const account = await findAccount(db, applicationId, email)
  if (!account?.enabled || !mayMail) return
  // Whoever left the provider may still read the mail.
  if (account.isOfProvider && account.password === null) return
  noteTarget(trail, account.id)
  const { token, hash, sealed } = createOneTimeToken(secrets, 'password_reset_token', account.id)
  await db.transaction(async (tx) => {
    await lockApplication(tx, applicationId)
    await tx.query(sql`
      UPDATE svc.users SET password_reset_token = ${sealed}, password_reset_hash = ${hash},
        password_reset_expires_at = clock_timestamp() + make_interval(secs => ${lifetimes.resetToken}), ${touched}
      WHERE id = ${account.id}`)
    const link = withParameters(redirect, { token, email: account.email })
    await mailer.send(tx, { applicationId, template: 'reset', to: account.email, values: mailValues(account, link) })
  })
}

/** The values that mail templates can use. */
export const mailValues = ({ email, firstName, lastName }: Account, link: string): Record<string, string> => ({
  link,
  email,
  firstName,
  lastName,
})

const resetPassword = operation({
  id: 'auth.resetpassword',
  method: 'POST',
  path: '/api/v1/auth/resetpassword',
  summary: 'Replace a forgotten password, with the token of the mail',
  description: 'Ends all sessions of the user. The address counts as confirmed.',
  access: 'public',
  body: Type.Object(
    {
      email: Type.String({ maxLength: 320 }),
      password: passwordSchema,
      applicationId: applicationIdSchema,
      token: Type.String({ minLength: 1, maxLength: 255 }),
    },
    {
      ...closed,
      examples: [{ email: 'ada@example.org', password: 'notes of a translator', applicationId, token: '…' }],
    },
  ),
  success: { status: 204, description: 'The new password counts' },
  failures: [401, 429],
  async handle(context, { body: { email, password, token, ...body } }) {
    const { services, trail } = context
    const { db, passwords, bearers } = services
    const applicationId = body.applicationId.toLowerCase()
    checkNewPassword(password, 'body/password')
    const isRight = sql`application_id = ${applicationId}::uuid AND email_key = lower(${email} COLLATE "C") AND enabled
        AND password_reset_hash = ${credentialHash(token)} AND password_reset_expires_at > clock_timestamp()`
    // The expensive hash is computed only for a valid token.
    const [account] = await db.query<{ id: number }>(sql`SELECT id FROM svc.users WHERE ${isRight}`)
    if (!account) throw refused()
    noteUser(trail, account.id)
    const hash = await passwords.hash(applicationId, password, context.signal)
    const hasChanged = await changeUser(
      db,
      trail,
      sql`UPDATE svc.users SET password = ${hash}, pending_password = NULL, email_verified = true,
            password_reset_token = NULL, password_reset_hash = NULL, ${touched}
          WHERE ${isRight}`,
      ['password', 'emailVerified'],
    )
    if (!hasChanged) throw refused()
    bearers.forget({ userId: account.id })
    return {}
  },
})

const userRow = { applicationId: raw('application_id'), id: raw('id::text'), name: undefined }

/** Runs an UPDATE of one user, and writes the entry of the audit log with it; false when no user fits. */
export async function changeUser(
  db: Queryable,
  trail: Trail | undefined,
  update: Sql,
  changed: readonly string[],
): Promise<boolean> {
  if (trail) trail.changed = changed
  const rows = await changeWithEntry(db, trail, update, raw('id, application_id'), userRow)
  if (trail && rows.length > 0) trail.isWritten = true
  return rows.length > 0
}

/** The operations that change a password or reset a forgotten one. */
export const passwordOperations: readonly Operation<AuthServices>[] = [changePassword, requestReset, resetPassword]
