import Type from 'typebox'
import { noteUser } from '../../api/access/audit-trail.ts'
import { checkNewPassword } from '../../api/access/secrets/passwords.ts'
import { emailSchema } from '../../api/http/email-address.ts'
import { maxAddressText } from '../../api/http/input/bounded-schemas.ts'
import type { Answer, ContextOf, Operation } from '../../api/http/operation.ts'
import { findSettings, refused } from './accounts.ts'
import { inConstantTime } from './constant-time.ts'
import { countSignup } from './login-attempts.ts'
import { confirmPath, isAllowedRedirect, readConfirmUrl, readRedirect } from './redirects.ts'
import { applicationIdSchema, closed, passwordSchema, urlSchema } from './schemas.ts'
import { type AuthServices, operation } from './services.ts'
import { confirm, findConfirmation, type SignUpResult, type Signup, signUp } from './signup.ts'

const nameSchema = Type.String({ maxLength: 255 })
/** Whatever an address can hold: what is no token is 401. */
const addressText = Type.String({ maxLength: maxAddressText })
const signupSchema = Type.Object(
  {
    firstName: nameSchema,
    lastName: nameSchema,
    email: emailSchema,
    password: passwordSchema,
    applicationId: applicationIdSchema,
    confirmUrl: urlSchema,
    redirectUrl: urlSchema,
  },
  {
    ...closed,
    examples: [
      {
        firstName: 'Ada',
        lastName: 'Lovelace',
        email: 'ada@example.org',
        password: 'nine Bernoulli numbers',
        applicationId: '00000000-0000-4000-8000-000000000000',
        confirmUrl: 'http://localhost:3000/confirm',
        redirectUrl: 'http://localhost:3000/welcome',
      },
    ],
  },
)

/** A user as `GET /api/v1/auth/users/{id}` answers it. */
const userSchema = Type.Unsafe<unknown>({ $ref: '#/components/schemas/User' })

const signup = operation({
  id: 'auth.signup',
  method: 'POST',
  path: '/api/v1/auth/signup',
  summary: 'Sign up',
  description:
    'For addresses that `metadata.auth.signup` of the application approves, and for users that were made without a ' +
    'password. A mail asks to confirm the address. The answer is the same for an address that has an account.',
  access: 'public',
  body: signupSchema,
  success: { status: 200, description: 'The user, not confirmed yet', schema: userSchema },
  failures: [401, 429],
  async handle({ request, signal, services, trail }, { body }) {
    const { db } = services
    checkNewPassword(body.password, 'body/password')
    const applicationId = body.applicationId.toLowerCase()
    const settings = await findSettings(db, applicationId)
    if (!settings) throw refused()
    await countSignup(db, { applicationId, address: request.ip }, services.authLimits.signupsPerHour)
    const baseUrl = services.baseUrl(request)
    const confirmUrl = readConfirmUrl(body.confirmUrl, settings, baseUrl)
    readRedirect(body.redirectUrl, 'redirectUrl', settings, baseUrl)
    const wanted = { ...body, applicationId, confirmUrl }
    return { body: shown(wanted, await inConstantTime(() => signUp(services, wanted, settings, signal, trail))) }
  },
})

/** The user from the request alone: other fields of an existing account are not revealed. */
function shown({ applicationId, email, firstName, lastName }: Signup, { id, at }: SignUpResult): object {
  return {
    id: String(id),
    applicationId,
    createdAt: at.toISOString(),
    updatedAt: at.toISOString(),
    metadata: {},
    email,
    firstName,
    lastName,
    roles: [],
    emailVerified: false,
    enabled: true,
    secondFactor: false,
    verificationToken: '',
    passwordResetToken: '',
  }
}

const confirmation = {
  method: 'GET',
  summary: 'Confirm the address of a sign-up',
  description: 'The link of the mail leads here, by way of the application’s page or directly. It works once.',
  access: 'public',
  audit: true,
  success: { status: 302, description: 'Confirmed; on to the redirect address', headers: ['Location'] },
  failures: [401],
} as const
const emailParameter = Type.Optional(Type.String({ maxLength: 320, description: 'If given, it must match' }))

const confirmByQuery = operation({
  ...confirmation,
  id: 'auth.confirmsignup',
  path: confirmPath,
  query: Type.Object({ token: addressText, redirect: addressText, email: emailParameter }),
  handle: (context, { query: { token, redirect, email } }) => confirmed(context, token, redirect, email),
})

const confirmByPath = operation({
  ...confirmation,
  id: 'auth.confirmsignup.path',
  path: `${confirmPath}/{token}/{redirect}`,
  secretPath: true,
  query: Type.Object({ email: emailParameter }),
  handle: (context, { params: { token, redirect }, query: { email } }) => confirmed(context, token, redirect, email),
})

async function confirmed(
  { request, services: { db, baseUrl, bearers }, trail }: ContextOf<'public', AuthServices>,
  token: string,
  redirect: string,
  email: string | undefined,
): Promise<Answer> {
  const confirmation = await findConfirmation(db, token, email)
  if (!confirmation || !isAllowedRedirect(redirect, confirmation.settings, baseUrl(request))) throw refused()
  noteUser(trail, confirmation.id)
  if (!(await confirm(db, confirmation.id, token, trail))) throw refused()
  bearers.forget({ userId: confirmation.id })
  return { headers: { location: new URL(redirect).href, 'cache-control': 'no-store' } }
}

/** The operations that sign up, and confirm the address by the link in the mail, in both forms. */
export const signupOperations: readonly Operation<AuthServices>[] = [signup, confirmByQuery, confirmByPath]
