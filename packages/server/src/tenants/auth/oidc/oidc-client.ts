/**
 * The relying party of OpenID Connect: discovery, authorization requests, the exchange of codes, and the keys of providers. The protocol is
 * openid-client's and jose's work; what is published is cached, and every request goes through the SSRF guard.
 */
import type { JWTPayload, JWTVerifyOptions } from 'jose'
import type { Configuration } from 'openid-client'
import type { Secrets } from '../../../api/access/secrets/secrets.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { ClaimSet } from './claim-mapping.ts'
import { isInsecure } from './issuer.ts'
import { type ProviderFetcher, providerFetch, providerTimeoutMs } from './provider-fetch.ts'
import { openClientSecret, type ProviderRecord } from './provider-records.ts'
import { createPublishedCache } from './published-cache.ts'

/** What binds the answer of a provider to the browser that was sent there. */
export type SignInChecks = { readonly state: string; readonly nonce: string; readonly verifier: string }

export type VerifiedClaims = { readonly subject: string; readonly claims: ClaimSet }

export type OidcClient = {
  /** Where the browser is sent to sign in. */
  authorizationUrl(provider: ProviderRecord, redirectUri: string, checks: SignInChecks): Promise<string>
  /** Exchanges the code in the address that the browser came back with. */
  exchange(provider: ProviderRecord, callback: URL, checks: SignInChecks): Promise<VerifiedClaims>
  /** The claims of a token that the provider signed for this audience; undefined when it did not, or it is over. */
  verify(provider: ProviderRecord, token: string, audience: string): Promise<JWTPayload | undefined>
}

type Discovery = { readonly configuration: Configuration; readonly jwksUri: URL }
type FindKey = Extract<Parameters<typeof import('jose').jwtVerify>[1], (...parameters: never[]) => unknown>

/** Signatures with private keys only: `none`, and secrets that both sides know, are no proof of who signed. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
const clockSkewSeconds = 30

const hourMs = 3_600_000
const retryMs = 10_000
/** A key that a token names and the provider did not publish is looked for so often at most. */
const keySearchMs = 30_000
const published = { ttlMs: hourMs, staleMs: 24 * hourMs, retryMs, max: 1_000 }
const keySets = { ttlMs: 600_000, staleMs: hourMs, retryMs, max: 1_000 }

export function createOidcClient(fetch: ProviderFetcher, secrets: Secrets): OidcClient {
  const customFetch = providerFetch(fetch)
  const configurations = createPublishedCache<Discovery>(published)
  const keys = createPublishedCache<FindKey>(keySets)

  const discovered = (provider: ProviderRecord): Promise<Discovery> =>
    configurations.get(`${provider.id} ${provider.revision}`, () => discover(provider, secrets, customFetch))

  async function keysOf(provider: ProviderRecord, maxAgeMs?: number): Promise<FindKey> {
    const { jwksUri } = await discovered(provider).catch(unreachable)
    return keys.get(`${provider.id} ${jwksUri.href}`, () => loadKeys(jwksUri, customFetch), maxAgeMs)
  }

  async function verify(provider: ProviderRecord, token: string, audience: string): Promise<JWTPayload | undefined> {
    const { jwtVerify } = await import('jose')
    const { issuer } = provider
    const options: JWTVerifyOptions = { algorithms, issuer, audience, requiredClaims: ['exp', 'sub'] }
    const find: FindKey = async (header, input) => {
      try {
        return await (await keysOf(provider))(header, input)
      } catch (error) {
        if (codeOf(error) !== 'ERR_JWKS_NO_MATCHING_KEY') throw error
        return (await keysOf(provider, keySearchMs))(header, input)
      }
    }
    const verified = await jwtVerify(token, find, { ...options, clockTolerance: clockSkewSeconds }).catch(ifRefused)
    return verified?.payload
  }

  return {
    verify,
    async authorizationUrl(provider, redirectUri, { state, nonce, verifier }) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
      const { configuration } = await discovered(provider)
      return buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: provider.scopes.join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).href
    },
    async exchange(provider, callback, { state, nonce, verifier }) {
      const { authorizationCodeGrant } = await import('openid-client')
      const { configuration } = await discovered(provider)
      const tokens = await authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      // The library trusts TLS for what comes from the token endpoint; the signature is checked, too.
      const claims = await verify(provider, tokens.id_token ?? '', provider.clientId)
      if (!claims?.sub || claims.nonce !== nonce) throw new Error('The ID token is not signed by a key of the provider')
      return { subject: claims.sub, claims: await withUserInfo(configuration, tokens.access_token, claims) }
    },
  }
}

/** Many providers tell the address and names only there. The ID token counts more, because it is signed. */
async function withUserInfo(configuration: Configuration, token: string, claims: JWTPayload): Promise<ClaimSet> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims
  const { fetchUserInfo } = await import('openid-client')
  return { ...(await fetchUserInfo(configuration, token, String(claims.sub))), ...claims }
}

async function discover(
  provider: ProviderRecord,
  secrets: Secrets,
  fetch: ReturnType<typeof providerFetch>,
): Promise<Discovery> {
  const client = await import('openid-client')
  const { issuer, clientId } = provider
  const execute = isInsecure(issuer) ? [client.allowInsecureRequests] : []
  const timeout = providerTimeoutMs / 1_000
  const options = { [client.customFetch]: fetch, execute, timeout }
  const metadata = (
    await client.discovery(new URL(issuer), clientId, undefined, client.None(), options)
  ).serverMetadata()
  if (metadata.issuer !== issuer) throw new Error('The provider calls itself by the name of another issuer')
  const jwksUri = safeUrl(issuer, metadata.jwks_uri)
  // The others are checked where they are used; this is the one that browsers go to.
  safeUrl(issuer, metadata.authorization_endpoint)
  const secret = openClientSecret(secrets, provider)
  const configuration = new client.Configuration(metadata, clientId, {}, authenticationOf(client, metadata, secret))
  configuration[client.customFetch] = fetch
  configuration.timeout = timeout
  for (const change of execute) change(configuration)
  return { configuration, jwksUri }
}

function safeUrl(issuer: string, text = ''): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isInsecure(issuer))) return url
  throw new Error('An address that the provider publishes is missing, or not safe')
}

type Library = typeof import('openid-client')

/** In the body where the provider takes it there: what `Basic` encodes differs between providers. */
function authenticationOf(
  { ClientSecretBasic, ClientSecretPost, None }: Library,
  {
    token_endpoint_auth_methods_supported: methods = ['client_secret_basic'],
  }: ReturnType<Configuration['serverMetadata']>,
  secret: string | undefined,
) {
  if (secret === undefined) return None()
  return methods.includes('client_secret_post') ? ClientSecretPost(secret) : ClientSecretBasic(secret)
}

async function loadKeys(address: URL, fetch: ReturnType<typeof providerFetch>): Promise<FindKey> {
  const { createLocalJWKSet } = await import('jose')
  const headers = { accept: 'application/jwk-set+json, application/json' }
  const answer = await fetch(address.href, { method: 'GET', headers, body: undefined, redirect: 'manual' }).catch(
    unreachable,
  )
  if (answer.status !== 200) throw unavailable(new Error(`The keys were answered with status ${answer.status}`))
  try {
    return createLocalJWKSet(JSON.parse(await answer.text()))
  } catch (cause) {
    throw unavailable(cause)
  }
}

const unreachable = (cause: unknown): never => {
  throw unavailable(cause)
}

const unavailable = (cause: unknown): ApiError =>
  new ApiError('unavailable', 'The keys of the token’s provider cannot be fetched. Try again shortly.', {
    cause,
    headers: { 'Retry-After': '10' },
  })

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** A provider that does not answer is not the token's fault; keys and tokens that cannot be read are no proof. */
function ifRefused(error: unknown): undefined {
  if (error instanceof ApiError) throw error
}
