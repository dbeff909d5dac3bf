import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import type { JWTPayload } from 'jose'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { httpSink } from '../../../../testing/peers/http-sink.ts'
import { type RogueProvider, rogueProvider } from '../../../../testing/peers/rogue-provider.ts'
import { later } from '../../../../testing/processes/clock.ts'
import { page, serverUrl, signInBrowser } from '../../../../testing/sign-in-browser.ts'

// One database is enough: this is about what a provider can do, and the database has no part in it.

const clientSecret = 'a secret of at least thirty-two bytes, for HMAC'
const discoveryPath = '/.well-known/openid-configuration'

let app: TestApp
let tenant: Tenant
let rogue: RogueProvider
let provider: string
before(async () => {
  app = await testApp({ BASE_URL: serverUrl })
  tenant = await app.tenant('hostile')
  const auth = { defaultApiKey: tenant.public, redirectUrls: ['https://maps.example.org/*'] }
  await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, { body: auth })
})
after(() => app.close())
beforeEach(async (context) => {
  rogue = await rogueProvider()
  if ('after' in context) context.after(() => rogue.close())
  const body = {
    name: 'Rogue',
    issuer: rogue.issuer,
    clientId: 'maps',
    clientSecret,
    createsUsers: true,
    linksUsers: true,
  }
  provider = (await app.call('POST', '/api/v1/auth/providers', { key: tenant.developer, body })).body.id
})

const person = { sub: 'somebody', email: 'somebody@example.org', email_verified: true }

/** The error that the page gets when the provider answers with this ID token. */
async function signInWith(idToken: (nonce: string) => Promise<string>): Promise<string> {
  const browser = signInBrowser(app)
  const { location } = await browser.open(browser.startOf(provider))
  const sent = new URL(location).searchParams
  const [nonce = '', state = '', callback = ''] = ['nonce', 'state', 'redirect_uri'].map((name) => sent.get(name) ?? '')
  rogue.answers.set('/token', { access_token: 'x', token_type: 'Bearer', id_token: await idToken(nonce) })
  const answer = await browser.open(`${callback}?code=anything&state=${state}`)
  return new URL(answer.location).searchParams.get('sign_in_error') ?? ''
}

const signed = (claims: JWTPayload, header?: Readonly<Record<string, unknown>>) => (nonce: string) =>
  rogue.sign({ aud: 'maps', nonce, ...person, ...claims }, header)

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('an ID token is taken only with the nonce, for this client, of this issuer, in time, and signed', async () => {
  assert.equal(await signInWith(signed({})), '', 'an honest one')
  const now = Math.floor(Date.now() / 1_000)
  const cases: Record<string, (nonce: string) => Promise<string>> = {
    'another nonce': signed({ nonce: 'of another sign-in' }),
    'no nonce': signed({ nonce: undefined }),
    'another client': signed({ aud: 'another' }),
    'several clients, and meant for another': signed({ aud: ['maps', 'another'], azp: 'another' }),
    'another issuer': signed({ iss: 'https://accounts.example' }),
    over: signed({ exp: now - 120 }),
    'no subject': signed({ sub: undefined as never }),
    'an endless subject': signed({ sub: 'x'.repeat(300) }),
    'an unknown key': signed({}, { kid: 'unknown' }),
    'no signature': async (nonce) =>
      `${encoded({ alg: 'none' })}.${encoded({ iss: rogue.issuer, aud: 'maps', iat: now, exp: now + 60, nonce, ...person })}.`,
    'the secret of the client as key': async (nonce) => {
      const claims = { iss: rogue.issuer, aud: 'maps', iat: now, exp: now + 60, nonce, ...person }
      const input = `${encoded({ alg: 'HS256' })}.${encoded(claims)}`
      return `${input}.${createHmac('sha256', clientSecret).update(input).digest('base64url')}`
    },
    'the signature of another': async (nonce) => {
      const [header, payload] = (await signed({})(nonce)).split('.')
      const [, , signature] = (await rogue.sign({})).split('.')
      return `${header}.${payload}.${signature}`
    },
    'no token at all': async () => 'x',
  }
  for (const [name, idToken] of Object.entries(cases)) assert.equal(await signInWith(idToken), 'provider_failed', name)
})

/** The error that the page gets when a sign-in cannot even begin. */
async function begin(): Promise<string> {
  const browser = signInBrowser(app)
  const answer = await browser.open(browser.startOf(provider))
  assert.equal(answer.status, 302)
  assert.ok(answer.location.startsWith(page), answer.location)
  assert.equal(answer.headers['set-cookie'], undefined)
  return new URL(answer.location).searchParams.get('sign_in_error') ?? ''
}

const answering =
  (status: number, headers: Record<string, string>, body = '') =>
  (response: ServerResponse) =>
    response.writeHead(status, headers).end(body)

test('a provider that does not answer as it should leads back to the page', async () => {
  const honest = rogue.answers.get(discoveryPath) as Readonly<Record<string, unknown>>
  const cases = {
    'the name of another issuer': { ...honest, issuer: 'https://accounts.example' },
    'no keys': { ...honest, jwks_uri: undefined },
    'keys in a file': { ...honest, jwks_uri: 'file:///etc/passwd' },
    'no authorization endpoint': { ...honest, authorization_endpoint: undefined },
    'a script for a browser': { ...honest, authorization_endpoint: 'javascript:alert(1)' },
    'an error': answering(500, {}),
    'no JSON': answering(200, { 'content-type': 'application/json' }, '{'),
    'a page': answering(200, { 'content-type': 'text/html' }, '<html>'),
    'a redirect': answering(302, { location: 'http://169.254.169.254/latest/meta-data' }),
    'an end without an answer': (response: ServerResponse) => response.destroy(),
  }
  for (const [name, answer] of Object.entries(cases)) {
    rogue.answers.set(discoveryPath, answer)
    assert.equal(await begin(), 'provider_failed', name)
    later(11_000)
  }
  rogue.answers.set(discoveryPath, honest)
  assert.equal(await signInWith(signed({})), '', 'and once it answers rightly, it is used')
})

test('an answer without end is given up, and holds no memory', async () => {
  let sent = 0
  rogue.answers.set(discoveryPath, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = () => {
      while (!response.destroyed && sent < 100_000_000) {
        sent += 65_536
        if (!response.write('x'.repeat(65_536))) return void response.once('drain', more)
      }
    }
    more()
  })
  assert.equal(await begin(), 'provider_failed')
  assert.ok(sent < 10_000_000, `${sent} bytes`)
})

test('a provider that never answers is given up after five seconds, and asked once by many who wait', async () => {
  rogue.answers.set(discoveryPath, () => {})
  const since = performance.now()
  assert.deepEqual(await Promise.all([begin(), begin(), begin()]), Array(3).fill('provider_failed'))
  assert.ok(performance.now() - since < 30_000)
  assert.equal(await begin(), 'provider_failed', 'and at once for ten seconds')
  assert.equal(rogue.requests.length, 1)
})

test('no provider leads the server to addresses that EGRESS_ALLOW does not name', async () => {
  const sink = await httpSink()
  const closed = await testApp({ BASE_URL: serverUrl, EGRESS_ALLOW: '', HOST: '0.0.0.0' })
  try {
    const own = await closed.tenant('closed')
    const auth = { defaultApiKey: own.public, redirectUrls: ['https://maps.example.org/*'] }
    await closed.call('PUT', `/api/v1/applications/${own.id}/metadata/auth`, { body: auth })
    const body = { name: 'Inside', issuer: sink.url, clientId: 'maps' }
    const made = await closed.call('POST', '/api/v1/auth/providers', { key: own.developer, body })
    const browser = signInBrowser(closed)
    assert.match((await browser.open(browser.startOf(made.body.id))).location, /sign_in_error=provider_failed/)
    assert.equal(sink.requests.length, 0)
  } finally {
    await closed.close()
    await sink.close()
  }
})
