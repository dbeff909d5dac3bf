import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JWTPayload, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'

/** Who signs in at the provider, without being asked for a password. */
export type OidcAccount = { readonly sub: string } & Readonly<Record<string, unknown>>

export type OidcPeer = {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The paths that it was asked for. */
  readonly requests: string[]
  account: OidcAccount
  /** What it does instead of answering; undefined: it answers. */
  instead: RequestListener | undefined
  /** From now on it signs with another key, and publishes that one only. */
  rotateKeys(): void
  /** A token signed by its key, with these claims; `header` says otherwise than it does. */
  sign(claims: JWTPayload, header?: { alg?: string; kid?: string; typ?: string }): Promise<string>
  close(): Promise<void>
}

const clientId = 'maps'
const clientSecret = 'a secret that the provider knows'

/** A provider of OpenID Connect by others (the package oidc-provider) on this machine. */
export async function oidcProvider(): Promise<OidcPeer> {
  const server = createServer((request, response) => {
    peer.requests.push(request.url ?? '')
    const answer = peer.instead ?? handle
    void answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let key = newKey()
  const open = () => openProvider(issuer, key, () => peer.account)
  const peer: OidcPeer = {
    issuer,
    clientId,
    clientSecret,
    requests: [],
    account: { sub: 'nobody' },
    instead: undefined,
    rotateKeys() {
      key = newKey()
      handle = open()
    },
    sign(claims, header) {
      const protectedHeader = { alg: 'RS256', kid: key.kid, typ: 'at+jwt', ...header }
      const now = Math.floor(Date.now() / 1_000)
      const payload = { iss: issuer, iat: now, exp: now + 300, ...claims }
      return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(key.private)
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  let handle = open()
  return peer
}

type SigningKey = { readonly kid: string; readonly private: KeyObject }
let keys = 0

function newKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  return { kid: `key-${keys++}`, private: privateKey }
}

const profile = ['given_name', 'family_name']

function openProvider(issuer: string, { kid, private: key }: SigningKey, account: () => OidcAccount): RequestListener {
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: ['http://graticule.test/'] }],
    jwks: { keys: [{ ...key.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['a key for cookies'] },
    claims: { openid: ['sub', 'department', 'realm_access'], email: ['email', 'email_verified'], profile },
    ttl: { Interaction: 60, Grant: 60, Session: 60, AccessToken: 60, IdToken: 60 },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: async () => ({ ...account(), sub: accountId }) }),
    async loadExistingGrant({ oidc: { client, session } }) {
      const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
    renderError(context, error) {
      context.type = 'json'
      context.body = error
    },
  })
  // The addresses of this server's callbacks have ids that are made later.
  Object.assign(provider.Client.prototype, { redirectUriAllowed: () => true })
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) return next()
    context.respond = false
    const { sub } = account()
    const result = sub === 'nobody' ? { error: 'access_denied' } : { login: { accountId: sub } }
    await provider.interactionFinished(context.req, context.res, result, { mergeWithLastSubmission: false })
  })
  return provider.callback()
}
