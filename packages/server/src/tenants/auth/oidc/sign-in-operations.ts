import Type from 'typebox'
import { noteUser, type Trail } from '../../../api/access/audit-trail.ts'
import { maxAddressText } from '../../../api/http/input/bounded-schemas.ts'
import type { Answer, ContextOf, Operation } from '../../../api/http/operation.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { type Account, accountById, findSettings, refused } from '../accounts.ts'
import { countAddress, countAttempt } from '../login-attempts.ts'
import { isAllowedRedirect, withParameters } from '../redirects.ts'
import { closed, codeSchema, noStore } from '../schemas.ts'
import { demandCode } from '../second-factor.ts'
import { type AuthServices, operation } from '../services.ts'
import { sessionLimits, tokenPair } from '../session-operations.ts'
import { beginSession } from '../sessions.ts'
import { isSubject, readProfile } from './claim-mapping.ts'
import { oidcPath } from './paths.ts'
import { findProvider, type ProviderRecord } from './provider-records.ts'
import { admitProfile } from './provider-users.ts'
import { awaitFactor, createSignInCode, findSignIn, takeSignIn } from './sign-in-codes.ts'
import { beginFlow, endedFlowCookie, flowCookie, readFlow, type SignInFlow } from './sign-in-flow.ts'
import { refusalReasons, SignInRefusal } from './sign-in-refusal.ts'

type Context = ContextOf<'public', AuthServices>

/** Shorter than other addresses, because cookies have a bound. */
const maxRedirect = 1_024

const start = operation({
  id: 'auth.oidc.start',
  method: 'GET',
  path: `${oidcPath}/{id}/start`,
  summary: 'Begin to sign in by a provider',
  description:
    'For the address bar of a browser: leads to the provider (Authorization Code with PKCE), which leads back to `callback`, and that to ' +
    `\`redirect\` with \`sign_in_code\`, or with \`sign_in_error\`: ${refusalReasons.join(', ')}.`,
  access: 'public',
  query: Type.Object({
    redirect: Type.String({
      minLength: 1,
      maxLength: maxRedirect,
      description: 'The page to return to, which metadata.auth.redirectUrls of the application must allow',
    }),
    challenge: Type.String({
      pattern: '^[A-Za-z0-9_-]{43}$',
      maxLength: 43,
      description: 'A PKCE challenge (S256) of that page: BASE64URL(SHA256(verifier))',
    }),
  }),
  success: { status: 302, description: 'On to the provider', headers: ['Location', 'Set-Cookie'] },
  failures: [404],
  async handle(context, { params: { id }, query: { redirect, challenge } }) {
    const { db, secrets, oidc, baseUrl } = context.services
    const provider = await findProvider(db, id)
    if (!provider) throw noProvider()
    if (!(await isAllowed(context, provider, redirect))) {
      throw invalid('query/redirect', 'must be an address that metadata.auth.redirectUrls of the application allows')
    }
    const redirectUri = new URL(`${baseUrl(context.request)}${oidcPath}/${provider.id}/callback`).href
    const flow = beginFlow({ redirectUri, redirect, challenge })
    try {
      const location = await oidc.authorizationUrl(provider, redirectUri, flow)
      return { headers: { ...noStore, location, 'set-cookie': flowCookie(secrets, provider.id, flow) } }
    } catch (error) {
      return backTo(redirect, { sign_in_error: reasonOf(context, provider, error) })
    }
  },
})

const noProvider = (): ApiError =>
  new ApiError('not_found', 'There is no provider with this id, or it is switched off.')

async function isAllowed({ request, services }: Context, provider: ProviderRecord, redirect: string): Promise<boolean> {
  const settings = await findSettings(services.db, provider.applicationId)
  return settings !== undefined && isAllowedRedirect(redirect, settings, services.baseUrl(request))
}

const backTo = (redirect: string, parameters: Record<string, string>, cookie?: string): Answer => ({
  headers: {
    ...noStore,
    location: withParameters(new URL(redirect), parameters),
    ...(cookie !== undefined && { 'set-cookie': cookie }),
  },
})

/** What the page is told; the cause is for the log of the server. */
function reasonOf({ request }: Context, { id }: ProviderRecord, error: unknown): string {
  if (error instanceof SignInRefusal) return error.reason
  const cause = error instanceof Error ? (error.cause ?? error) : error
  request.log.warn(
    { requestId: request.id, providerId: id, cause: String(cause), reason: String(error) },
    'sign-in by a provider failed',
  )
  return 'provider_failed'
}

/** What a provider adds to its answer, and nobody asks for. */
const parameter = (description: string) => Type.Optional(Type.String({ maxLength: maxAddressText, description }))

const callback = operation({
  id: 'auth.oidc.callback',
  method: 'GET',
  path: `${oidcPath}/{id}/callback`,
  summary: 'Where a provider leads back to',
  description:
    'The redirect address that the provider must know. It takes the answer of the browser that began the sign-in, once. Parameters that it ' +
    'does not know are ignored, because providers add some.',
  access: 'public',
  audit: true,
  query: Type.Object({
    state: Type.String({ minLength: 1, maxLength: 100, description: 'As it was sent to the provider' }),
    code: parameter('The authorization code'),
    iss: parameter('The issuer that answers (RFC 9207)'),
    error: parameter('Why there is no code'),
    error_description: parameter('The same, for people'),
  }),
  ownParameters: true,
  success: { status: 302, description: 'On to the page that began the sign-in', headers: ['Location', 'Set-Cookie'] },
  failures: [401, 404, 429],
  async handle(context, { params: { id }, query }) {
    const { services, request, trail } = context
    const provider = await findProvider(services.db, id)
    if (!provider) throw noProvider()
    if (trail) trail.applicationId = provider.applicationId
    const flow = readFlow(services.secrets, request.headers, provider.id, query.state)
    if (!flow || !(await isAllowed(context, provider, flow.redirect))) {
      throw new ApiError('unauthorized', 'This sign-in was not begun in this browser, or is over. Begin again.')
    }
    const cookie = endedFlowCookie(provider.id, flow)
    // Each answer costs the provider a request, whoever makes it up.
    const undoCount = await countAddress(services.db, request.ip)
    try {
      if (query.error !== undefined) throw new SignInRefusal('access_denied')
      const code = await finish(context, provider, flow, query)
      await undoCount()
      return backTo(flow.redirect, { sign_in_code: code }, cookie)
    } catch (error) {
      if (trail) trail.status = 401
      return backTo(flow.redirect, { sign_in_error: reasonOf(context, provider, error) }, cookie)
    }
  },
})

type CallbackQuery = { readonly state: string; readonly code?: string; readonly iss?: string }

/** The one-time code for the page. */
async function finish(
  { services: { db, oidc }, trail }: Context,
  provider: ProviderRecord,
  flow: SignInFlow,
  { state, code = '', iss }: CallbackQuery,
): Promise<string> {
  const answer = new URL(flow.redirectUri)
  for (const [name, value] of Object.entries({ state, code, ...(iss !== undefined && { iss }) }))
    answer.searchParams.set(name, value)
  const { subject, claims } = await oidc.exchange(provider, answer, flow)
  if (!isSubject(subject)) throw new Error('The subject of the ID token is too long, or no text')
  const profile = readProfile(provider.mapping, subject, claims)
  const account = await admitProfile(db, provider, profile)
  noteUser(trail, account.id)
  const { id: providerId, applicationId } = provider
  return createSignInCode(db, { providerId, applicationId, userId: account.id, claims: profile.claims }, flow.challenge)
}

const token = operation({
  id: 'auth.oidc.token',
  method: 'POST',
  path: `${oidcPath}/token`,
  summary: 'Exchange the one-time code of a sign-in for tokens',
  description:
    'The page that began the sign-in sends the code that it was returned to with, and the verifier of its challenge: within a minute, once. ' +
    'Where a second factor is needed the answer is 401 `second_factor_required`; the same code with one of the factor is good for five minutes.',
  access: 'public',
  body: Type.Object(
    {
      code: Type.String({ minLength: 1, maxLength: 255 }),
      verifier: Type.String({ minLength: 1, maxLength: 128 }),
      secondFactor: Type.Optional(codeSchema),
    },
    { ...closed, examples: [{ code: 'si_…', verifier: '…' }] },
  ),
  success: { status: 200, description: 'An access token and a refresh token', schema: tokenPair },
  failures: [401, 429],
  async handle(context, { body: { code, verifier, secondFactor } }) {
    const { request, services, trail } = context
    const { db, tokens, bearers } = services
    const undoCount = await countAddress(db, request.ip)
    const signIn = await findSignIn(db, code, verifier)
    const provider = signIn && (await findProvider(db, signIn.providerId))
    const account = signIn && (await accountById(db, signIn.applicationId, signIn.userId))
    if (!provider || !account?.enabled) throw refused()
    await undoCount()
    noteSignIn(trail, account)
    if (provider.secondFactor === 'demanded') await demandFactor(context, account, code, secondFactor)
    if (!(await takeSignIn(db, code))) throw refused()
    const source = { providerId: provider.id, claims: signIn.claims }
    const session = await beginSession(db, account, sessionLimits(services), request.headers['user-agent'], source)
    if (!session) throw refused()
    if (session.hasEndedOthers) bearers.forget({ userId: account.id })
    const accessToken = await tokens.sign(session.claims)
    return { headers: noStore, body: { accessToken, refreshToken: session.refreshToken } }
  },
})

function noteSignIn(trail: Trail | undefined, { id, applicationId }: Account): void {
  if (trail) trail.applicationId = applicationId
  noteUser(trail, id)
}

/** Wrong codes are counted as those of a login are. */
async function demandFactor(
  { request, services }: Context,
  account: Account,
  code: string,
  factor: string | undefined,
): Promise<void> {
  const { db } = services
  const { applicationId, email } = account
  const undoCount = await countAttempt(db, { applicationId, email, address: request.ip })
  try {
    await demandCode(services, account, factor)
    await undoCount()
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'unauthorized')) await undoCount()
    if (account.secondFactor) await awaitFactor(db, code)
    throw error
  }
}

/** The operations by which users of a provider sign in. */
export const oidcOperations: readonly Operation<AuthServices>[] = [start, callback, token]
