import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { type JWTPayload, SignJWT } from 'jose'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { type OidcPeer, oidcProvider } from '../../../../testing/peers/oidc-provider.ts'
import { later } from '../../../../testing/processes/clock.ts'
import { until } from '../../../../testing/until.ts'
import { sql } from '../../../kernel/db/sql.ts'

// One database is enough: this is about which tokens count.

const audience = 'https://maps.example.org/api'

let app: TestApp
let peer: OidcPeer
let tenant: Tenant
let provider: string
before(async () => {
  peer = await oidcProvider()
  app = await testApp()
  tenant = await tenantOf('company')
  provider = await providerOf(tenant, { mapping: { roles: 'roles', claims: { department: 'department' } } })
})
after(async () => {
  await app.close()
  await peer.close()
})
afterEach(() => {
  peer.instead = undefined
})

async function tenantOf(name: string, auth: object = {}): Promise<Tenant> {
  const made = await app.tenant(name)
  const settings = { defaultApiKey: made.public, ...auth }
  await app.call('PUT', `/api/v1/applications/${made.id}/metadata/auth`, { body: settings })
  return made
}

async function providerOf({ developer: key }: Tenant, fields: object = {}): Promise<string> {
  const { issuer, clientId } = peer
  const body = { name: 'Company', issuer, clientId, createsUsers: true, acceptsTokens: true, audience, ...fields }
  const made = await app.call('POST', '/api/v1/auth/providers', { key, body })
  assert.equal(made.status, 201, made.text)
  return made.body.id
}

let people = 0
/** The claims of somebody who has not come before. */
function person(claims: JWTPayload = {}): JWTPayload & { sub: string } {
  const sub = `worker-${people++}`
  return { sub, aud: audience, email: `${sub}@example.org`, email_verified: true, ...claims }
}

/** Asks who one is, with a token and no key. */
const me = (token: string, headers: Record<string, string> = { 'x-application-id': tenant.id }) =>
  app.call('GET', '/api/v1/auth/users/me', { key: null, headers: { authorization: `Bearer ${token}`, ...headers } })

test('a token of the provider is taken like an access token: the user is made, and stands for the application’s default key', async () => {
  const claims = person({ given_name: 'Ada', roles: ['editor'], department: 'Harbours' })
  const token = await peer.sign(claims)
  const answer = await me(token)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual([answer.body.email, answer.body.firstName, answer.body.roles], [claims.email, 'Ada', ['editor']])
  const headers = { authorization: `Bearer ${token}`, 'x-application-id': tenant.id }
  assert.equal((await app.call('GET', '/api/v1/styles', { key: null, headers })).status, 200)
  assert.equal((await app.call('GET', '/api/v1/apikeys', { key: null, headers })).status, 401)
  const again = await me(await peer.sign({ ...claims, roles: [] }))
  assert.deepEqual([again.body.id, again.body.roles], [answer.body.id, []])
  const admitted = await app.services.bearers.findOfProvider(token, tenant.id)
  assert.deepEqual(admitted?.bearer.claims, { department: 'Harbours' })
})

test('a token counts in the application of its key, or of x-application-id, or else in the default one', async () => {
  const token = await peer.sign(person())
  assert.equal((await me(token, { 'x-api-key': tenant.public })).status, 200)
  assert.equal((await me(token, {})).status, 401, 'the default application has no such provider')
  const other = await tenantOf('another company')
  assert.equal((await me(token, { 'x-application-id': other.id })).status, 401)
  assert.equal((await me(token, { 'x-api-key': other.public })).status, 401)
  await providerOf(other)
  const there = await me(token, { 'x-application-id': other.id })
  assert.equal(there.status, 200)
  assert.notEqual(there.body.id, (await me(token)).body.id, 'a user of each')
  assert.equal((await me(token, { 'x-application-id': 'nonsense' })).status, 400)
})

test('tokens that are over, not yet good, or for somebody else are refused', async () => {
  const now = Math.floor(Date.now() / 1_000)
  const cases: Record<string, JWTPayload> = {
    over: person({ exp: now - 60 }),
    'without an end': person({ exp: undefined as never }),
    'not yet good': person({ nbf: now + 600 }),
    'for another audience': person({ aud: 'https://other.example' }),
    'for a list without us': person({ aud: ['https://other.example', `${audience}/`] }),
    'without an audience': person({ aud: undefined as never }),
    'of another issuer': person({ iss: 'https://login.example' }),
    'of the issuer with a slash': person({ iss: `${peer.issuer}/` }),
    'without a subject': person({ sub: undefined as never }),
    'with an endless subject': person({ sub: 'x'.repeat(300) }),
    'an ID token': person({ at_hash: 'x' }),
    'a log-out token': person({ events: {} }),
    'a refresh token': person({ typ: 'Refresh' }),
  }
  for (const [name, claims] of Object.entries(cases)) {
    const answer = await me(await peer.sign(claims))
    assert.deepEqual([answer.status, answer.body.code], [401, 'unauthorized'], name)
  }
  assert.equal((await me(await peer.sign(person(), { typ: 'logout+jwt' }))).status, 401)
  assert.equal((await me(await peer.sign(person({ aud: ['https://other.example', audience] })))).status, 200)
  assert.equal(
    (await me(await peer.sign(person({ exp: now - 5 })))).status,
    401,
    'clocks may differ, but it is over here',
  )
  assert.equal((await me(await peer.sign(person({ nbf: now + 10 })))).status, 200, 'clocks may differ by half a minute')
})

test('a token whose signature proves nothing is refused, whatever it says of its algorithm', async () => {
  const genuine = await peer.sign(person())
  const [header = '', payload = '', signature = ''] = genuine.split('.')
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const jwks = await (await fetch(`${peer.issuer}/jwks`)).text()
  const withSecret = (alg: string, secret: string) => {
    const input = `${encoded({ alg, kid, typ: 'at+jwt' })}.${payload}`
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  }
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const forged = (extra: object) =>
    new SignJWT({ iss: peer.issuer, exp: Math.floor(Date.now() / 1_000) + 60, ...person() })
      .setProtectedHeader({ alg: 'RS256', kid, typ: 'at+jwt', ...extra })
      .sign(stranger.privateKey)
  const cases = {
    none: `${encoded({ alg: 'none', kid, typ: 'at+jwt' })}.${payload}.`,
    'none with a signature': `${encoded({ alg: 'none', kid })}.${payload}.${signature}`,
    'None in capitals': `${encoded({ alg: 'NONE', kid })}.${payload}.${signature}`,
    'HMAC by the public keys': withSecret('HS256', jwks),
    'HMAC by nothing': withSecret('HS256', ''),
    'another payload': `${header}.${encoded(person({ iss: peer.issuer, exp: 9_999_999_999 }))}.${signature}`,
    'a signature that is cut': genuine.slice(0, -8),
    'the key of a stranger': await forged({}),
    'a key that the token brings': await forged({ jwk: stranger.publicKey.export({ format: 'jwk' }) }),
    'a key that the token leads to': await forged({ jku: `${peer.issuer}/jwks`, kid: 'nobody' }),
    'a critical extension': `${encoded({ alg: 'RS256', kid, crit: ['exp'] })}.${payload}.${signature}`,
    'more parts': `${genuine}.${signature}`,
    'no JSON': `${Buffer.from('no').toString('base64url')}.${payload}.${signature}`,
    'longer than any': `${header}.${payload}.${'A'.repeat(8_200)}`,
  }
  for (const [name, token] of Object.entries(cases)) assert.equal((await me(token)).status, 401, name)
  assert.equal((await me(genuine)).status, 200)
})

test('users whom the provider may not bring are refused', async () => {
  const strict = await tenantOf('strict')
  await providerOf(strict, { createsUsers: false, emailDomains: ['example.org'] })
  const at = { 'x-application-id': strict.id }
  const reasonOf = async (claims: JWTPayload) => {
    const answer = await me(await peer.sign(claims), at)
    assert.equal(answer.status, 401)
    return answer.body.reason
  }
  assert.equal(await reasonOf(person()), 'user_unknown')
  assert.equal(await reasonOf(person({ email_verified: false })), 'email_not_verified')
  assert.equal(await reasonOf(person({ email: 'ada@other.example' })), 'domain_not_allowed')
})

test('a second factor of ours is not got around by a token, unless the provider’s record trusts the provider', async () => {
  const strict = await tenantOf('factors', { secondFactor: 'required' })
  const id = await providerOf(strict)
  const at = { 'x-application-id': strict.id }
  const claims = person()
  const refused = await me(await peer.sign(claims), at)
  assert.deepEqual([refused.status, refused.body.code], [401, 'second_factor_required'])
  await app.call('PATCH', `/api/v1/auth/providers/${id}`, { key: strict.developer, body: { secondFactor: 'trusted' } })
  await until(async () => (await me(await peer.sign(claims), at)).status === 200)
})

test('disabling the user ends the tokens that are there, within a second', async () => {
  const token = await peer.sign(person())
  const { id } = (await me(token)).body
  await app.call('PATCH', `/api/v1/auth/users/${id}`, { body: { enabled: false } })
  assert.equal((await me(token)).status, 401)
})

test('a session that its user has ended stays ended for the tokens signed before, and not for later ones', async () => {
  const claims = person()
  const now = Math.floor(Date.now() / 1_000)
  const token = await peer.sign({ ...claims, iat: now - 5 })
  const headers = { authorization: `Bearer ${token}`, 'x-application-id': tenant.id }
  const sessions = await app.call('GET', '/api/v1/auth/sessions', { key: null, headers })
  assert.deepEqual([sessions.body.length, sessions.body[0].isCurrent], [1, true])
  const ended = await app.call('DELETE', `/api/v1/auth/sessions/${sessions.body[0].id}`, { key: null, headers })
  assert.equal(ended.status, 204)
  assert.equal((await me(token)).status, 401)
  assert.equal((await me(token)).status, 401)
  const other = await peer.sign({ ...claims, iat: now - 4 })
  assert.equal((await me(other)).status, 401, 'another that was signed before')
  assert.equal((await me(await peer.sign({ ...claims, iat: now + 5 }))).status, 200)
})

test('tokens of a person share one session, which no refresh token reaches and no number of logins ends', async () => {
  const claims = person()
  const { id } = (await me(await peer.sign(claims))).body
  await me(await peer.sign({ ...claims, jti: 'another' }))
  const rows = await app.db.query(sql`SELECT 1 FROM svc.sessions WHERE user_id = ${Number(id)}`)
  assert.equal(rows.length, 1)
  const body = { refreshToken: `${provider} ${claims.sub}`, applicationId: tenant.id }
  assert.equal((await app.call('POST', '/api/v1/auth/refresh', { key: null, body })).status, 401)
})

test('tokens count no longer once the provider is switched off, or takes tokens no more', async () => {
  const own = await tenantOf('changing')
  const id = await providerOf(own)
  const at = { 'x-application-id': own.id }
  const token = await peer.sign(person())
  const change = (body: object) => app.call('PATCH', `/api/v1/auth/providers/${id}`, { key: own.developer, body })
  for (const [off, on] of [
    [{ enabled: false }, { enabled: true }],
    [{ acceptsTokens: false }, { acceptsTokens: true }],
    [{ audience: 'https://other.example' }, { audience }],
    [{ emailDomains: ['other.example'] }, { emailDomains: [] }],
  ] as const) {
    assert.equal((await me(token, at)).status, 200)
    await change(off)
    later(1_000)
    assert.equal((await me(token, at)).status, 401, JSON.stringify(off))
    await change(on)
    later(1_000)
  }
  assert.equal((await me(token, at)).status, 200)
})

test('a key that the provider has exchanged counts after its tokens come, and the former no more', async () => {
  const own = await oidcProvider()
  try {
    const company = await tenantOf('rotating')
    await providerOf(company, { issuer: own.issuer })
    const at = { 'x-application-id': company.id }
    const former = await own.sign(person())
    assert.equal((await me(former, at)).status, 200)
    const unused = await own.sign(person())
    own.rotateKeys()
    later(31_000)
    assert.equal((await me(await own.sign(person()), at)).status, 200)
    assert.equal((await me(unused, at)).status, 401)
  } finally {
    await own.close()
  }
})

test('tokens that name unknown keys cost the provider one request in half a minute', async () => {
  later(31_000)
  await me(await peer.sign(person(), { kid: 'unknown' }))
  const before = peer.requests.length
  const tokens = await Promise.all(Array.from({ length: 20 }, (_, n) => peer.sign(person(), { kid: `unknown-${n}` })))
  const answers = await Promise.all(tokens.map((token) => me(token)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]))
  assert.equal(peer.requests.length, before)
  later(31_000)
  for (const token of tokens) await me(token)
  assert.equal(peer.requests.length, before + 1)
})

test('while a provider is down, tokens that are cached go on to count, and others are 503, at one request in ten seconds', async () => {
  const own = await oidcProvider()
  try {
    const company = await tenantOf('down')
    await providerOf(company, { issuer: own.issuer })
    const at = { 'x-application-id': company.id }
    own.instead = (_, response) => response.destroy()
    const tokens = await Promise.all([1, 2, 3, 4].map(() => own.sign(person())))
    const answers = await Promise.all(tokens.map((token) => me(token, at)))
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers['retry-after']]),
      Array(4).fill([503, '10']),
    )
    assert.equal(own.requests.length, 1)
    await me(tokens[0] ?? '', at)
    assert.equal(own.requests.length, 1, 'nobody asks again for ten seconds')
    own.instead = undefined
    later(11_000)
    assert.equal((await me(tokens[0] ?? '', at)).status, 200)
    own.instead = (_, response) => response.destroy()
    later(700_000)
    assert.equal((await me(tokens[0] ?? '', at)).status, 200)
    assert.equal((await me(tokens[1] ?? '', at)).status, 200, 'by the keys that were published before')
  } finally {
    await own.close()
  }
})
