import { hash, randomUUID } from 'node:crypto'
import type { DeclaredOperation } from '../../src/api/http/operation.ts'
import { createConsoleLink } from '../../src/boot/start/console-link.ts'
import { shownBy } from '../authenticator.ts'
import type { Tenant, TestApp, TestUser } from '../harness.ts'
import { type RogueProvider, rogueProvider } from '../peers/rogue-provider.ts'

/** What an operation needs that its example cannot say: somebody who asks, and tokens that are good. */
export type Occasion = { url?: string; body?: unknown; headers?: Record<string, string> }

type Scene = { app: TestApp; applicationId: string; user: TestUser; session: Awaited<ReturnType<TestApp['login']>> }

const redirect = 'http://localhost:3000/welcome'
const newPassword = 'quite another one'

const occasions: Readonly<Record<string, (scene: Scene) => Promise<Occasion> | Occasion>> = {
  'auth.login': ({ user: { email, password, applicationId } }) => ({ body: { email, password, applicationId } }),
  'auth.refresh': ({ applicationId, session: { refreshToken } }) => ({ body: { refreshToken, applicationId } }),
  'auth.logout': ({ session: { refreshToken } }) => ({ body: { refreshToken } }),
  'auth.changepassword': ({ user: { password } }) => ({ body: { password, newPassword } }),
  async 'auth.sessions.end'({ app, session: { headers } }) {
    const [{ id }] = (await app.call('GET', '/api/v1/auth/sessions', { headers })).body
    return { url: `/api/v1/auth/sessions/${id}` }
  },
  'auth.secondfactor.start': (scene) => ({ body: credentials(scene) }),
  'auth.secondfactor.confirm': async (scene) => ({ body: await firstCode(scene) }),
  async 'auth.secondfactor.remove'(scene) {
    const confirmed = await post(scene, 'secondfactor/confirm', await firstCode(scene))
    return { body: { ...credentials(scene), code: confirmed.body.recoveryCodes[0] } }
  },
  async 'auth.oidc.start'(scene) {
    return { url: startOf(await providerOf(scene)) }
  },
  'auth.oidc.callback': (scene) => answerOfProvider(scene),
  async 'auth.oidc.token'(scene) {
    const { url, headers } = await answerOfProvider(scene)
    const answer = await scene.app.call('GET', url, { key: null, headers })
    const code = new URL(String(answer.headers.location)).searchParams.get('sign_in_code')
    return { body: { code, verifier } }
  },
  'auth.requestpasswordreset': (scene) => ({ body: resetRequest(scene) }),
  async 'auth.resetpassword'(scene) {
    const { app, applicationId, user } = scene
    await app.call('POST', '/api/v1/auth/requestpasswordreset', { key: null, body: resetRequest(scene) })
    const { passwordResetToken: token } = (await app.call('GET', `/api/v1/auth/users/${user.id}`)).body
    return { body: { email: user.email, password: newPassword, applicationId, token } }
  },
  async 'auth.exchange'({ app, applicationId }) {
    const link = await createConsoleLink(app.db, '', { applicationId, endsAtRestart: false })
    return { body: { token: link?.split('#token=')[1] } }
  },
  'auth.signup': async (scene) => ({ body: await signup(scene) }),
  async 'auth.confirmsignup'(scene) {
    return { url: `/api/v1/auth/confirmsignup?token=${await confirmation(scene)}&redirect=${redirect}` }
  },
  async 'auth.confirmsignup.path'(scene) {
    return { url: `/api/v1/auth/confirmsignup/${await confirmation(scene)}/${encodeURIComponent(redirect)}` }
  },
}

/** Nothing for an operation whose example says it all. */
export async function occasionFor(
  app: TestApp,
  operation: DeclaredOperation,
  { id: applicationId }: Tenant,
): Promise<Occasion> {
  const occasion = occasions[operation.id]
  if (!occasion && !operation.bearer) return {}
  const user = await app.user(applicationId)
  const session = await app.login(user)
  const made = await occasion?.({ app, applicationId, user, session })
  return { ...made, ...(operation.bearer && { headers: session.headers }) }
}

const post = ({ app }: Scene, path: string, body: object) =>
  app.call('POST', `/api/v1/auth/${path}`, { key: null, body })

const credentials = ({ applicationId, user: { email, password } }: Scene) => ({ email, password, applicationId })

/** The body that confirms a second factor. */
async function firstCode(scene: Scene) {
  const { body } = await post(scene, 'secondfactor', credentials(scene))
  return { ...credentials(scene), code: shownBy(body.secret) }
}

/** One for all providers of a test. */
const rogues = new WeakMap<TestApp, Promise<RogueProvider>>()

function rogueOf(app: TestApp): Promise<RogueProvider> {
  const opened = rogues.get(app) ?? rogueProvider()
  if (!rogues.has(app)) app.closeAlso({ close: async () => (await opened).close() })
  rogues.set(app, opened)
  return opened
}

async function providerOf({ app, applicationId }: Scene): Promise<string> {
  const { issuer } = await rogueOf(app)
  const rights = { createsUsers: true, linksUsers: true }
  const body = { name: 'Office', issuer, clientId: 'maps', applicationId, ...rights }
  return (await app.call('POST', '/api/v1/auth/providers', { body })).body.id
}

const verifier = 'v'.repeat(43)
const challenge = hash('sha256', verifier, 'base64url')
const startOf = (providerId: string): string =>
  `/api/v1/auth/oidc/${providerId}/start?${new URLSearchParams({ redirect, challenge })}`

/** The address that a provider leads the browser back to, and the cookie of that browser. */
async function answerOfProvider(scene: Scene) {
  const { app } = scene
  const rogue = await rogueOf(app)
  const begun = await app.call('GET', startOf(await providerOf(scene)), { key: null })
  const { searchParams: sent } = new URL(String(begun.headers.location))
  const claims = { sub: 'somebody', email: 'somebody@example.org', email_verified: true }
  const idToken = await rogue.sign({ aud: 'maps', nonce: sent.get('nonce'), ...claims })
  rogue.answers.set('/token', { access_token: 'x', token_type: 'Bearer', id_token: idToken })
  const { pathname } = new URL(sent.get('redirect_uri') ?? '')
  const [cookie = ''] = String(begun.headers['set-cookie']).split(';')
  return { url: `${pathname}?code=x&state=${sent.get('state')}`, headers: { cookie } }
}

const resetRequest = ({ applicationId, user }: Scene) => ({ email: user.email, applicationId, redirectUrl: redirect })

/** The body of a sign-up that is approved: somebody made the user beforehand. */
async function signup({ app, applicationId }: Scene) {
  const email = `${randomUUID()}@example.org`
  await app.call('POST', '/api/v1/auth/users', { body: { email, applicationId } })
  const name = { firstName: 'Ada', lastName: 'Lovelace' }
  return { ...name, email, password: newPassword, applicationId, confirmUrl: redirect, redirectUrl: redirect }
}

async function confirmation(scene: Scene): Promise<string> {
  const body = await signup(scene)
  await scene.app.call('POST', '/api/v1/auth/signup', { key: null, body })
  const [user] = (await scene.app.call('GET', `/api/v1/auth/users?filter[email]=${body.email}`)).body
  return user.verificationToken
}
