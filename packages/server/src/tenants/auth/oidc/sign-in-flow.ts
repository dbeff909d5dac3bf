/**
 * A sign-in that is under way at a provider. It is kept in a sealed cookie of the browser that began it: an answer that comes back in another
 * browser, or to another provider, belongs to no sign-in, and sign-ins that nobody ends cost the platform nothing.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Secrets } from '../../../api/access/secrets/secrets.ts'
import type { SignInChecks } from './oidc-client.ts'
import { oidcPath } from './paths.ts'

export type SignInFlow = SignInChecks & {
  /** The callback of this server, as the provider got it. */
  readonly redirectUri: string
  /** The page that the browser returns to. */
  readonly redirect: string
  /** The PKCE challenge (S256) of that page, whose verifier the one-time code asks for. */
  readonly challenge: string
  readonly expiresAt: number
}

const lifeSeconds = 600

const random = (): string => randomBytes(32).toString('base64url')

export const beginFlow = (about: Pick<SignInFlow, 'redirectUri' | 'redirect' | 'challenge'>): SignInFlow => ({
  ...about,
  state: random(),
  nonce: random(),
  verifier: random(),
  expiresAt: Date.now() + lifeSeconds * 1_000,
})

const associatedData = (providerId: string): string => `oidc.flow.${providerId}`

/** Sign-ins in several tabs have cookies of their own. */
const cookieName = (state: string): string => `graticule_sign_in_${state.slice(0, 12)}`

/** SameSite=Lax: the provider sends the browser back by a link, and no other site can use the cookie in anything but such. */
const attributesOf = (providerId: string, { redirectUri }: Pick<SignInFlow, 'redirectUri'>): string =>
  `Path=${oidcPath}/${providerId}/callback; HttpOnly; SameSite=Lax${redirectUri.startsWith('https:') ? '; Secure' : ''}`

export function flowCookie(secrets: Secrets, providerId: string, flow: SignInFlow): string {
  const sealed = secrets.seal(JSON.stringify(flow), associatedData(providerId))
  return `${cookieName(flow.state)}=${sealed}; Max-Age=${lifeSeconds}; ${attributesOf(providerId, flow)}`
}

/** Takes the cookie away: an answer is taken once. */
export const endedFlowCookie = (providerId: string, flow: SignInFlow): string =>
  `${cookieName(flow.state)}=; Max-Age=0; ${attributesOf(providerId, flow)}`

/** The sign-in that an answer with this state belongs to, if this browser began one at this provider. */
export function readFlow(
  secrets: Secrets,
  { cookie = '' }: IncomingHttpHeaders,
  providerId: string,
  state: string,
): SignInFlow | undefined {
  const name = `${cookieName(state)}=`
  const sealed = cookie
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(name))
    ?.slice(name.length)
  const flow = sealed === undefined ? undefined : openFlow(secrets, providerId, sealed)
  return flow && flow.state === state && flow.expiresAt > Date.now() ? flow : undefined
}

/** Cookies are whatever a client sends. */
function openFlow(secrets: Secrets, providerId: string, sealed: string): SignInFlow | undefined {
  try {
    return JSON.parse(secrets.open(sealed, associatedData(providerId)))
  } catch {
    return undefined
  }
}
