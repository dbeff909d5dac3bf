import Type from 'typebox'
import { createOneTimeToken } from '../access/one-time-token.ts'
import { checkNewPassword } from '../access/passwords.ts'
import { credentialHash } from '../access/secrets.ts'
import type { Queryable } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { bearerOf, type Operation, operation } from '../http/operation.ts'
import { holdApplication } from '../resource/hold-application.ts'
import { type Account, accountById, findAccount, findSettings, refused } from './accounts.ts'
import { allowsMail } from './attempts.ts'
import type { AuthParts } from './parts.ts'
import { readRedirect, withParameters } from './redirects.ts'
import { inTheSameTime } from './same-time.ts'
import { applicationIdSchema, closed, passwordSchema, urlSchema } from './schemas.ts'
import { checkPassword } from './session-operations.ts'

/** Change a password that is known, replace one that is forgotten. */
export const passwordOperations = (parts: AuthParts): Operation[] => [
  changePassword(parts),
  requestReset(parts),
  resetPassword(parts),
]

const changePassword = (parts: AuthParts): Operation =>
  operation({
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
    async handle({ request, caller, signal }, { body: { password, newPassword } }) {
      const { db, passwords, bearers } = parts
      const { userId } = bearerOf(caller)
      const { applicationId } = caller
      checkNewPassword(newPassword, 'body/newPassword')
      const known = await accountById(db, applicationId, userId)
      const attempt = { applicationId, email: known?.email ?? '', address: request.ip }
      const account = await checkPassword({ db, passwords, signal }, attempt, password, (database) =>
        accountById(database, applicationId, userId),
      )
      const hash = await passwords.hash(newPassword, signal)
      // Not if somebody else changed it meanwhile.
      const changed = await db.query(sql`
        UPDATE svc.users SET password = ${hash}, ${touched}
        WHERE id = ${userId} AND application_id = ${applicationId}::uuid AND password = ${account.password} RETURNING 1`)
      bearers.forget({ userId })
      if (changed.length === 0) throw refused()
      return {}
    },
  })

const requestReset = (parts: AuthParts): Operation =>
  operation({
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
    async handle({ request }, { body: { email, redirectUrl, ...body } }) {
      const applicationId = body.applicationId.toLowerCase()
      const settings = await findSettings(parts.db, applicationId)
      if (!settings) throw refused()
      const redirect = readRedirect(redirectUrl, 'redirectUrl', settings, parts.baseUrl(request))
      await inTheSameTime(() => sendResetMail(parts, applicationId, email, redirect))
      return {}
    },
  })

async function sendResetMail(parts: AuthParts, applicationId: string, email: string, redirect: URL): Promise<void> {
  const { db, secrets, mailer, lifetimes } = parts
  const mayMail = await allowsMail(db, { applicationId, email })
  const account = await findAccount(db, applicationId, email)
  if (!account?.enabled || !mayMail) return
  const { token, hash, sealed } = createOneTimeToken(secrets, 'password_reset_token', account.id)
  await db.transaction(async (tx) => {
    await holdApplication(tx, applicationId)
    await tx.query(sql`
      UPDATE svc.users SET password_reset_token = ${sealed}, password_reset_hash = ${hash},
        password_reset_expires_at = clock_timestamp() + make_interval(secs => ${lifetimes.resetToken}), ${touched}
      WHERE id = ${account.id}`)
    const link = withParameters(redirect, { token, email: account.email })
    await mailer.send(tx, { applicationId, template: 'reset', to: account.email, values: mailValues(account, link) })
  })
}

/** What the texts of a mail can name. */
export const mailValues = ({ email, firstName, lastName }: Account, link: string): Record<string, string> => ({
  link,
  email,
  firstName,
  lastName,
})

const resetPassword = (parts: AuthParts): Operation =>
  operation({
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
      const { db, passwords, bearers } = parts
      const applicationId = body.applicationId.toLowerCase()
      checkNewPassword(password, 'body/password')
      const isRight = sql`application_id = ${applicationId}::uuid AND email_key = lower(${email} COLLATE "C") AND enabled
        AND password_reset_hash = ${credentialHash(token)} AND password_reset_expires_at > clock_timestamp()`
      // Nobody makes us hash without a token that is good.
      if (!(await firstId(db, sql`SELECT id FROM svc.users WHERE ${isRight}`))) throw refused()
      const hash = await passwords.hash(password, context.signal)
      const id = await firstId(
        db,
        sql`UPDATE svc.users SET password = ${hash}, pending_password = NULL, email_verified = true,
              password_reset_token = NULL, password_reset_hash = NULL, ${touched}
            WHERE ${isRight} RETURNING id`,
      )
      if (id === undefined) throw refused()
      bearers.forget({ userId: id })
      return {}
    },
  })

async function firstId(db: Queryable, query: ReturnType<typeof sql>): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(query)
  return row?.id
}

export const touched = sql`revision = revision + 1, updated_at = date_trunc('milliseconds', clock_timestamp())`

const applicationId = '00000000-0000-4000-8000-000000000000'
