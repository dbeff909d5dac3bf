import Type from 'typebox'
import { bearerOf } from '../../api/access/acl.ts'
import { noteTarget, noteUser } from '../../api/access/audit-trail.ts'
import { type Hashing, noApplication } from '../../api/access/secrets/passwords.ts'
import type { ContextOf, Operation } from '../../api/http/operation.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Account, findAccount, findSettings, refused } from './accounts.ts'
import { countAttempt, type LoginAttempt } from './login-attempts.ts'
import { applicationIdSchema, closed, codeSchema, noStore, passwordSchema, refreshTokenSchema } from './schemas.ts'
import { demandCode } from './second-factor.ts'
import { type AuthServices, operation } from './services.ts'
import {
  beginSession,
  endSession,
  endSessionOf,
  findSession,
  listSessions,
  rotateSession,
  type SessionLimits,
} from './sessions.ts'

export const tokenPair = Type.Object({
  accessToken: Type.String({ description: 'A JWT, to be sent as Authorization: Bearer TOKEN' }),
  refreshToken: Type.String({ description: 'Opaque; gives new access tokens' }),
})

const applicationId = '00000000-0000-4000-8000-000000000000'

const login = operation({
  id: 'auth.login',
  method: 'POST',
  path: '/api/v1/auth/login',
  summary: 'Log in',
  description:
    'Whoever has as many sessions as `SESSIONS_PER_USER` allows loses the oldest. A user with a second factor sends a code of it ' +
    'as well; without one the answer is 401 `second_factor_required`.',
  access: 'public',
  body: Type.Object(
    {
      email: Type.String({ maxLength: 320 }),
      password: passwordSchema,
      applicationId: applicationIdSchema,
      code: Type.Optional(codeSchema),
    },
    { ...closed, examples: [{ email: 'ada@example.org', password: 'nine Bernoulli numbers', applicationId }] },
  ),
  success: { status: 200, description: 'An access token and a refresh token', schema: tokenPair },
  failures: [401, 429],
  async handle(context, { body: { code, ...credentials } }) {
    const { request, services, trail } = context
    const { db, tokens, bearers } = services
    const account = await checkCredentials(context, credentials, (found) => demandCode(services, found, code))
    const session = await beginSession(db, account, sessionLimits(services), request.headers['user-agent'])
    if (!session) throw refused()
    if (session.hasEndedOthers) bearers.forget({ userId: account.id })
    noteUser(trail, account.id)
    const accessToken = await tokens.sign(session.claims)
    return { headers: noStore, body: { accessToken, refreshToken: session.refreshToken } }
  },
})

export const sessionLimits = ({ lifetimes, authLimits }: AuthServices): SessionLimits => ({
  seconds: lifetimes.refreshToken,
  perUser: authLimits.sessionsPerUser,
})

/**
 * The account, if the password is right; otherwise 401 with the same message and in the same time whether the account exists
 * or not. Attempts are counted inside the semaphore, so that no more than allowed run at once. What `admit` refuses as
 * `unauthorized` counts as a failed attempt too.
 */
export async function checkPassword(
  { db, passwords, signal }: Pick<AuthServices, 'db' | 'passwords'> & { signal: AbortSignal },
  attempt: LoginAttempt,
  password: string,
  find: (database: AuthServices['db']) => Promise<Account | undefined>,
  admit: (account: Account) => Promise<void> = async () => {},
): Promise<Account> {
  const work = async ({ verify }: Hashing): Promise<Account> => {
    const undoCount = await countAttempt(db, attempt)
    const account = await find(db)
    const isRight = await verify(account?.password ?? account?.pendingPassword, password)
    if (!account?.enabled || !isRight) throw refused()
    if (account.password === null || !account.emailVerified) {
      await undoCount()
      throw new ApiError('email_not_verified', 'The e-mail address is not confirmed yet. Open the link in the mail.')
    }
    const refusal = await admit(account).catch((error: unknown) => error)
    if (!(refusal instanceof ApiError && refusal.code === 'unauthorized')) await undoCount()
    if (refusal !== undefined) throw refusal
    return account
  }
  const owner = (await findSettings(db, attempt.applicationId)) ? attempt.applicationId : noApplication
  return passwords.inTurn(owner, work, signal)
}

export type PasswordLogin = { readonly email: string; readonly password: string; readonly applicationId: string }

/** The account with this address, as `checkPassword` finds it. The audit log names it whether the password is right or not. */
export function checkCredentials(
  { request, services: { db, passwords }, signal, trail }: ContextOf<'public', AuthServices>,
  { email, password, ...body }: PasswordLogin,
  admit?: (account: Account) => Promise<void>,
): Promise<Account> {
  const attempt = { applicationId: body.applicationId.toLowerCase(), email, address: request.ip }
  const find = async (database: AuthServices['db']) => {
    const candidate = await findAccount(database, attempt.applicationId, email)
    if (candidate) noteTarget(trail, candidate.id)
    return candidate
  }
  return checkPassword({ db, passwords, signal }, attempt, password, find, admit)
}

const refresh = operation({
  id: 'auth.refresh',
  audit: { none: 'It continues a session, whose login has an entry.' },
  method: 'POST',
  path: '/api/v1/auth/refresh',
  summary: 'Get a new access token',
  description:
    'Answers a JSON string, or bare text to a client that accepts only text/plain. With `rotate=true` the refresh ' +
    'token is replaced too; using one that was replaced ends the session.',
  access: 'public',
  query: Type.Object({ rotate: Type.Optional(Type.Boolean({ description: 'Replace the refresh token too' })) }),
  body: Type.Object(
    { refreshToken: refreshTokenSchema, applicationId: applicationIdSchema },
    { ...closed, examples: [{ refreshToken: 'rt_…', applicationId }] },
  ),
  success: { status: 200, description: 'The access token', schema: Type.Union([Type.String(), tokenPair]) },
  failures: [401],
  async handle({ request, services: { db, tokens, lifetimes } }, { query, body: { refreshToken, applicationId } }) {
    const application = applicationId.toLowerCase()
    if (query.rotate) {
      const session = await rotateSession(db, refreshToken, application, lifetimes.refreshToken)
      if (!session) throw refused()
      const accessToken = await tokens.sign(session.claims)
      return { headers: noStore, body: { accessToken, refreshToken: session.refreshToken } }
    }
    const claims = await findSession(db, refreshToken, application)
    if (!claims) throw refused()
    const accessToken = await tokens.sign(claims)
    if (!wantsText(request.headers.accept)) return { headers: noStore, body: accessToken }
    return { headers: { ...noStore, 'content-type': 'text/plain; charset=utf-8' }, body: Buffer.from(accessToken) }
  },
})

const wantsText = (accept = ''): boolean => /^\s*text\/plain\s*(;[^,]*)?$/i.test(accept)

const logout = operation({
  id: 'auth.logout',
  method: 'POST',
  path: '/api/v1/auth/logout',
  summary: 'Log out',
  description: 'Ends the session of the refresh token, and with it its access tokens.',
  access: { class: 'auth', level: 'execute' },
  bearer: true,
  body: Type.Object({ refreshToken: refreshTokenSchema }, { ...closed, examples: [{ refreshToken: 'rt_…' }] }),
  success: { status: 204, description: 'The session has ended' },
  async handle({ caller, services: { db, bearers } }, { body: { refreshToken } }) {
    const { userId } = bearerOf(caller)
    if (!(await endSession(db, refreshToken, { userId, applicationId: caller.applicationId }))) throw refused()
    bearers.forget({ userId })
    return {}
  },
})

const sessionSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  startedAt: Type.String({ format: 'date-time' }),
  seenAt: Type.String({ format: 'date-time', description: 'When it last asked for an access token, to a minute' }),
  expiresAt: Type.String({ format: 'date-time' }),
  userAgent: Type.String({ description: 'What the browser or program called itself when it logged in' }),
  isCurrent: Type.Boolean({ description: 'The one that asks' }),
})

const list = operation({
  id: 'auth.sessions.list',
  method: 'GET',
  path: '/api/v1/auth/sessions',
  summary: 'List one’s own sessions',
  description: 'Those that have not ended, the youngest first.',
  access: { class: 'auth', level: 'execute' },
  bearer: true,
  success: { status: 200, description: 'The sessions', schema: Type.Array(sessionSchema, { maxItems: 1_000 }) },
  async handle({ caller, services: { db } }) {
    const { userId, sessionId } = bearerOf(caller)
    const sessions = await listSessions(db, { userId, applicationId: caller.applicationId })
    return {
      headers: noStore,
      body: sessions.map((one) => ({ ...one, isCurrent: one.id === sessionId })),
    }
  },
})

const end = operation({
  id: 'auth.sessions.end',
  method: 'DELETE',
  path: '/api/v1/auth/sessions/{id}',
  summary: 'End one of one’s own sessions',
  description: 'Its refresh token and its access tokens end with it.',
  access: { class: 'auth', level: 'execute', id: () => undefined },
  bearer: true,
  success: { status: 204, description: 'The session has ended' },
  failures: [404],
  async handle({ caller, services: { db, bearers } }, { params: { id } }) {
    const { userId } = bearerOf(caller)
    const isSession = await endSessionOf(db, id, { userId, applicationId: caller.applicationId })
    if (!isSession) throw new ApiError('not_found', 'There is no such session of this user, or it has ended.')
    bearers.forget({ userId })
    return {}
  },
})

/** The operations that log in, refresh the access token, log out, list sessions and end them. */
export const sessionOperations: readonly Operation<AuthServices>[] = [login, refresh, logout, list, end]
