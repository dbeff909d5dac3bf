import Type from 'typebox'
import { noteUser } from '../../api/access/audit-trail.ts'
import type { Operation } from '../../api/http/operation.ts'
import { touched } from '../../api/resource/store.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Account, refused } from './accounts.ts'
import { authenticatorUri, base32, newCodeSecret, newRecoveryCodes, readCode, stepOf } from './authenticator-codes.ts'
import { changeUser } from './password-operations.ts'
import { applicationIdSchema, closed, codeSchema, noStore, passwordSchema } from './schemas.ts'
import { openCodeSecret, recoveryDigest, sealCodeSecret, takeCode } from './second-factor.ts'
import { type AuthServices, operation } from './services.ts'
import { checkCredentials, type PasswordLogin } from './session-operations.ts'

const credentials = {
  email: Type.String({ maxLength: 320 }),
  password: passwordSchema,
  applicationId: applicationIdSchema,
}
const example = {
  email: 'ada@example.org',
  password: 'nine Bernoulli numbers',
  applicationId: '00000000-0000-4000-8000-000000000000',
}

type Context = Parameters<typeof start.handle>[0]

/** Who has this password. `admit` may refuse what counts as a failed attempt. */
async function accountOf(
  context: Context,
  login: PasswordLogin,
  admit?: (account: Account) => Promise<void>,
): Promise<Account> {
  const account = await checkCredentials(context, login, admit)
  noteUser(context.trail, account.id)
  return account
}

const start = operation({
  id: 'auth.secondfactor.start',
  method: 'POST',
  path: '/api/v1/auth/secondfactor',
  summary: 'Begin to set up a second factor',
  description:
    'Answers the secret for an authenticator app, as text and as the address that its QR code has. It counts once a code ' +
    'confirms it; asked again before, the secret is another.',
  access: 'public',
  body: Type.Object(credentials, { ...closed, examples: [example] }),
  success: {
    status: 200,
    description: 'The secret',
    schema: Type.Object({
      secret: Type.String({ description: 'Base32, to be typed into an authenticator app' }),
      uri: Type.String({ description: 'otpauth://…, to be shown as a QR code' }),
    }),
  },
  failures: [401, 409, 429],
  async handle(context, { body }) {
    const { db, secrets } = context.services
    const account = await accountOf(context, body)
    if (account.secondFactor) throw alreadyOn()
    const secret = newCodeSecret()
    const sealed = sealCodeSecret(secrets, account.id, secret)
    const issuer = await applicationName(db, account)
    await change(context, account, sql`code_secret = ${sealed}, code_step = 0`)
    return { headers: noStore, body: { secret: base32(secret), uri: authenticatorUri(secret, issuer, account.email) } }
  },
})

const alreadyOn = (): ApiError =>
  new ApiError(
    'conflict',
    'There is a second factor. Remove it with a code of it first, or confirm it for new recovery codes.',
  )

async function applicationName(db: AuthServices['db'], { applicationId }: Account): Promise<string> {
  const [row] = await db.query<{ name: string }>(
    sql`SELECT name FROM svc.applications WHERE id = ${applicationId}::uuid`,
  )
  return row?.name ?? ''
}

/** Only while the second factor is as it was read. */
async function change(context: Context, account: Account, columns: ReturnType<typeof sql>): Promise<void> {
  const { trail, services } = context
  const hasChanged = await changeUser(
    services.db,
    trail,
    sql`UPDATE svc.users SET ${columns}, ${touched}
        WHERE id = ${account.id} AND application_id = ${account.applicationId}::uuid
          AND second_factor = ${account.secondFactor} AND code_secret IS NOT DISTINCT FROM ${account.codeSecret}`,
    ['secondFactor'],
  )
  if (!hasChanged) throw new ApiError('conflict', 'The second factor was changed by another request. Begin again.')
}

const withCode = Type.Object(
  { ...credentials, code: codeSchema },
  { ...closed, examples: [{ ...example, code: '123456' }] },
)

const confirm = operation({
  id: 'auth.secondfactor.confirm',
  method: 'POST',
  path: '/api/v1/auth/secondfactor/confirm',
  summary: 'Switch the second factor on by a first code of it',
  description:
    'Answers ten recovery codes, each good for one login without the app. They are told only here. Where the second factor is ' +
    'on, a code replaces the recovery codes by new ones.',
  access: 'public',
  body: withCode,
  success: {
    status: 200,
    description: 'From now on a login needs a code',
    schema: Type.Object({ recoveryCodes: Type.Array(Type.String(), { maxItems: 10 }) }),
  },
  failures: [401, 409, 429],
  async handle(context, { body: { code, ...body } }) {
    const { secrets } = context.services
    const account = await accountOf(context, body, async (found) => {
      if (!isCodeOf(context, found, code)) throw refused()
    })
    const codes = newRecoveryCodes()
    const digests = codes.map((one) => recoveryDigest(secrets, account.id, one))
    await change(context, account, sql`second_factor = true, recovery_digests = ${digests}::text[]`)
    return { headers: noStore, body: { recoveryCodes: codes } }
  },
})

/** A code that is shown here may be used to log in with right afterwards. */
function isCodeOf({ services: { secrets } }: Context, { id, codeSecret }: Account, code: string): boolean {
  const digits = readCode(code)
  if (codeSecret === null || !/^\d{6}$/.test(digits)) return false
  return stepOf(openCodeSecret(secrets, id, codeSecret), digits) !== undefined
}

const remove = operation({
  id: 'auth.secondfactor.remove',
  method: 'POST',
  path: '/api/v1/auth/secondfactor/remove',
  summary: 'Remove the second factor',
  description: 'By a code of the authenticator app, or a recovery code.',
  access: 'public',
  body: withCode,
  success: { status: 204, description: 'A login needs the password alone' },
  failures: [401, 409, 429],
  async handle(context, { body: { code, ...body } }) {
    const account = await accountOf(context, body, async (found) => {
      if (!found.secondFactor || !(await takeCode(context.services, found, code))) throw refused()
    })
    await change(context, account, sql`second_factor = false`)
    return {}
  },
})

/** The operations by which users set up a second factor. They prove themselves by their password, for who must set one up has no token. */
export const secondFactorOperations: readonly Operation<AuthServices>[] = [start, confirm, remove]
