import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { shownBy } from '../../../../testing/authenticator.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { type OidcPeer, oidcProvider } from '../../../../testing/peers/oidc-provider.ts'
import { page, serverUrl, signInBrowser } from '../../../../testing/sign-in-browser.ts'
import { sql } from '../../../kernel/db/sql.ts'

// One database is enough: contract.test.ts asks both; this is about who gets in.

let app: TestApp
let peer: OidcPeer
let tenant: Tenant
before(async () => {
  peer = await oidcProvider()
  app = await testApp({ BASE_URL: serverUrl })
  tenant = await tenantOf('signing in')
})
after(async () => {
  await app.close()
  await peer.close()
})
let people = 0
beforeEach(() => {
  peer.account = person()
})

/** Somebody whom the provider knows, and nobody else yet. */
function person(claims: object = {}) {
  const sub = `person-${people++}`
  return {
    sub,
    email: `${sub}@example.org`,
    email_verified: true,
    given_name: 'Ada',
    family_name: 'Lovelace',
    ...claims,
  }
}

async function tenantOf(name: string, auth: object = {}): Promise<Tenant> {
  const made = await app.tenant(name)
  const settings = { defaultApiKey: made.public, redirectUrls: ['https://maps.example.org/*'], ...auth }
  await app.call('PUT', `/api/v1/applications/${made.id}/metadata/auth`, { body: settings })
  return made
}

/** The id of a provider of this application. */
async function providerOf({ developer: key }: Tenant, fields: object = {}): Promise<string> {
  const { issuer, clientId, clientSecret } = peer
  const body = { name: 'Office', issuer, clientId, clientSecret, createsUsers: true, ...fields }
  const made = await app.call('POST', '/api/v1/auth/providers', { key, body })
  assert.equal(made.status, 201, made.text)
  return made.body.id
}

const me = ({ accessToken }: { accessToken: string }) =>
  app.call('GET', '/api/v1/auth/users/me', { key: null, headers: { authorization: `Bearer ${accessToken}` } })

const sessionsOf = async (id: string) =>
  app.db.query<{ providerId: string; claims: unknown }>(
    sql`SELECT provider_id AS "providerId", claims FROM svc.sessions WHERE user_id = ${Number(id)} AND revoked_at IS NULL`,
  )

test('a first sign-in makes a user without a password, and gives tokens like a login', async () => {
  const provider = await providerOf(tenant)
  const browser = signInBrowser(app)
  const { code, error } = await browser.signIn(provider)
  assert.equal(error, '')
  const tokens = await browser.exchange(code)
  assert.equal(tokens.status, 200, tokens.text)
  assert.equal(tokens.headers['cache-control'], 'no-store')
  const user = (await me(tokens.body)).body
  const { email, firstName, lastName, emailVerified } = user
  assert.deepEqual(
    { email, firstName, lastName, emailVerified },
    {
      email: peer.account.email,
      firstName: 'Ada',
      lastName: 'Lovelace',
      emailVerified: true,
    },
  )
  const { refreshToken } = tokens.body
  const body = { refreshToken, applicationId: tenant.id }
  assert.equal((await app.call('POST', '/api/v1/auth/refresh', { key: null, body })).status, 200)
  const headers = { authorization: `Bearer ${tokens.body.accessToken}` }
  assert.equal(
    (await app.call('POST', '/api/v1/auth/logout', { key: null, headers, body: { refreshToken } })).status,
    204,
  )
  assert.equal((await app.call('POST', '/api/v1/auth/refresh', { key: null, body })).status, 401)
})

test('who comes again is the same user, by the subject, whatever the address is now', async () => {
  const provider = await providerOf(tenant)
  const first = signInBrowser(app)
  const before = (await me((await first.exchange((await first.signIn(provider)).code)).body)).body
  peer.account = { ...peer.account, email: 'another@example.org', email_verified: false, given_name: 'Augusta' }
  const second = signInBrowser(app)
  const now = (await me((await second.exchange((await second.signIn(provider)).code)).body)).body
  assert.deepEqual([now.id, now.email, now.firstName], [before.id, before.email, 'Augusta'])
})

test('many first sign-ins of one person at once make one user', async () => {
  const provider = await providerOf(tenant)
  const browsers = Array.from({ length: 4 }, () => signInBrowser(app))
  const answers = await Promise.all(browsers.map((browser) => browser.signIn(provider)))
  assert.deepEqual(
    answers.map(({ error }) => error),
    ['', '', '', ''],
  )
  const users = await app.call('GET', `/api/v1/auth/users?filter[email]=${peer.account.email}`)
  assert.equal(users.body.length, 1)
})

test('a code is good once, for a minute, and only with the verifier of the page that began', async () => {
  const provider = await providerOf(tenant)
  const browser = signInBrowser(app)
  const { code } = await browser.signIn(provider)
  const both = await Promise.all([browser.exchange(code), browser.exchange(code)])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401])
  const read = await browser.signIn(provider)
  assert.equal((await signInBrowser(app).exchange(read.code)).status, 401, 'another page that has read the code')
  assert.equal((await browser.exchange(read.code)).status, 401, 'a code that somebody has read is over')
  const late = await browser.signIn(provider)
  await app.db.query(sql`UPDATE svc.sign_in_codes SET expires_at = clock_timestamp()`)
  assert.equal((await browser.exchange(late.code)).status, 401)
})

test('an answer counts only in the browser that began, once, with its state', async () => {
  const provider = await providerOf(tenant)
  const browser = signInBrowser(app)
  const callback = await browser.follow(browser.startOf(provider), `${serverUrl}/api/v1/auth/oidc/${provider}/callback`)
  assert.equal((await signInBrowser(app).open(callback)).status, 401, 'another browser')
  const changed = new URL(callback)
  changed.searchParams.set('state', 'of-somebody-else')
  assert.equal((await browser.open(changed.href)).status, 401, 'another state')
  const cookie = [...(browser.cookies.get(serverUrl) ?? [])].map((pair) => pair.join('=')).join('; ')
  const answer = await browser.open(callback)
  assert.match(answer.location, /^https:\/\/maps\.example\.org\/signed-in\?sign_in_code=si_/)
  assert.equal((await browser.open(callback)).status, 401, 'the same browser, again')
  const { pathname, search } = new URL(callback)
  const replayed = await app.call('GET', `${pathname}${search}`, { key: null, headers: { cookie } })
  assert.match(String(replayed.headers.location), /sign_in_error=provider_failed/, 'the provider takes its code once')
})

test('an answer for one provider counts for no other', async () => {
  const [one, other] = [await providerOf(tenant), await providerOf(tenant)]
  const browser = signInBrowser(app)
  const callback = await browser.follow(browser.startOf(one), `${serverUrl}/api/v1/auth/oidc/${one}/callback`)
  assert.equal((await browser.open(callback.replace(one, other))).status, 401)
  const mixed = new URL(callback)
  mixed.searchParams.set('iss', 'https://attacker.example')
  assert.match((await browser.open(mixed.href)).location, /sign_in_error=provider_failed/, 'another issuer’s name')
})

test('the browser returns only to addresses that the application allows', async () => {
  const provider = await providerOf(tenant)
  const browser = signInBrowser(app)
  for (const redirect of [
    'https://evil.example/signed-in',
    'https://maps.example.org.evil.example/',
    'https://maps.example.org@evil.example/',
    'https://maps.example.org\\@evil.example/',
    '//evil.example/',
    'javascript:alert(1)',
    'https://maps.example.org:8443/',
  ]) {
    const answer = await browser.open(browser.startOf(provider, redirect))
    assert.deepEqual([answer.status, answer.location], [400, ''], redirect)
  }
  const callback = await browser.follow(browser.startOf(provider), `${serverUrl}/api/v1/auth/oidc/${provider}/callback`)
  await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, {
    body: { redirectUrls: ['https://other.example/*'] },
  })
  const answer = await browser.open(callback)
  const settings = { body: { redirectUrls: ['https://maps.example.org/*'] } }
  await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, settings)
  assert.equal(answer.status, 401, 'what was allowed when it began')
})

test('an address that the provider does not call verified makes no user and links to none', async () => {
  const provider = await providerOf(tenant, { linksUsers: true })
  const user = await app.user(tenant.id)
  for (const email_verified of [false, undefined, 1, 'yes']) {
    peer.account = person({ email: user.email, email_verified })
    assert.equal((await signInBrowser(app).signIn(provider)).error, 'email_not_verified')
  }
  peer.account = person({ email: 'no address', email_verified: true })
  assert.equal((await signInBrowser(app).signIn(provider)).error, 'email_not_verified')
})

test('a verified address links to the user who has it, where the provider may link', async () => {
  const user = await app.user(tenant.id, { firstName: 'Grace' })
  peer.account = person({ email: user.email.toUpperCase(), given_name: undefined, family_name: undefined })
  assert.equal((await signInBrowser(app).signIn(await providerOf(tenant))).error, 'user_unknown')
  const provider = await providerOf(tenant, { linksUsers: true, createsUsers: false })
  const browser = signInBrowser(app)
  const tokens = await browser.exchange((await browser.signIn(provider)).code)
  const linked = (await me(tokens.body)).body
  assert.deepEqual([linked.id, linked.firstName], [user.id, 'Grace'])
  assert.equal((await app.login(user)).accessToken.length > 0, true, 'the password goes on to count')
  peer.account = person()
  assert.equal((await signInBrowser(app).signIn(provider)).error, 'user_unknown', 'and no user is made')
})

test('who signed up with an address that is not theirs gains nothing by its owner’s sign-in', async () => {
  const open = await tenantOf('open', { signup: { enabled: true, allow: ['*'] } })
  const password = 'the password of an attacker'
  const signup = { firstName: 'A', lastName: 'B', email: String(peer.account.email), password, applicationId: open.id }
  const urls = { confirmUrl: 'https://maps.example.org/confirm', redirectUrl: page }
  assert.equal((await app.call('POST', '/api/v1/auth/signup', { key: null, body: { ...signup, ...urls } })).status, 200)
  const [pending] = (await app.call('GET', `/api/v1/auth/users?filter[email]=${signup.email}`)).body
  const browser = signInBrowser(app)
  const provider = await providerOf(open, { linksUsers: true })
  assert.equal((await browser.exchange((await browser.signIn(provider)).code)).status, 200)
  const link = `/api/v1/auth/confirmsignup?token=${pending.verificationToken}&redirect=${page}`
  assert.equal((await app.call('GET', link, { key: null })).status, 401)
  const { email } = signup
  const login = { email, password, applicationId: open.id }
  assert.equal((await app.call('POST', '/api/v1/auth/login', { key: null, body: login })).status, 401)
  // Nor does a mail give a password to somebody whom the provider lets in.
  await app.call('POST', '/api/v1/auth/signup', { key: null, body: { ...signup, ...urls } })
  await app.call('POST', '/api/v1/auth/requestpasswordreset', {
    key: null,
    body: { email, applicationId: open.id, redirectUrl: page },
  })
  const [user] = (await app.call('GET', `/api/v1/auth/users?filter[email]=${email}`)).body
  assert.deepEqual([user.verificationToken, user.passwordResetToken], ['', ''])
})

test('only users of the domains that are listed come in, each time', async () => {
  const provider = await providerOf(tenant, { emailDomains: ['example.org'] })
  assert.equal((await signInBrowser(app).signIn(provider)).error, '')
  peer.account = { ...peer.account, email: 'ada@elsewhere.example' }
  assert.equal((await signInBrowser(app).signIn(provider)).error, 'domain_not_allowed')
  for (const email of ['ada@sub.example.org', 'ada@example.org.evil.example', 'example.org@evil.example']) {
    peer.account = person({ email })
    assert.equal((await signInBrowser(app).signIn(provider)).error, 'domain_not_allowed', email)
  }
})

test('claims become roles, metadata and what the session keeps, and go with the claims', async () => {
  const mapping = {
    roles: 'realm_access.roles',
    metadata: { unit: 'department' },
    claims: { department: 'department', roles: 'realm_access.roles', none: 'nothing' },
  }
  const provider = await providerOf(tenant, { mapping })
  peer.account = person({ department: 'Harbours', realm_access: { roles: ['editor', 'editor', 7, 'viewer'] } })
  const first = signInBrowser(app)
  const tokens = (await first.exchange((await first.signIn(provider)).code)).body
  const user = (await me(tokens)).body
  const shown = (await app.call('GET', `/api/v1/auth/users/${user.id}`)).body
  assert.deepEqual([shown.roles, shown.metadata], [['editor', 'viewer'], { unit: 'Harbours' }])
  const claims = { department: 'Harbours', roles: ['editor', 'editor', 7, 'viewer'] }
  assert.deepEqual(await sessionsOf(user.id), [{ providerId: provider, claims }])
  const admitted = await app.services.bearers.find(tokens.accessToken)
  assert.deepEqual(admitted?.bearer.claims, claims)
  await app.call('PATCH', `/api/v1/auth/users/${user.id}`, { body: { metadata: { theme: 'dark' } } })
  peer.account = { sub: peer.account.sub, email: user.email, email_verified: true }
  const second = signInBrowser(app)
  await second.exchange((await second.signIn(provider)).code)
  const later = (await app.call('GET', `/api/v1/auth/users/${user.id}`)).body
  assert.deepEqual([later.roles, later.metadata, later.firstName], [[], { theme: 'dark' }, 'Ada'])
})

test('a disabled user is refused, and one that is disabled meanwhile gets no tokens', async () => {
  const provider = await providerOf(tenant)
  const browser = signInBrowser(app)
  const tokens = (await browser.exchange((await browser.signIn(provider)).code)).body
  const { id } = (await me(tokens)).body
  const { code } = await browser.signIn(provider)
  await app.call('PATCH', `/api/v1/auth/users/${id}`, { body: { enabled: false } })
  assert.equal((await browser.exchange(code)).status, 401)
  assert.equal((await browser.signIn(provider)).error, 'user_disabled')
  assert.equal((await me(tokens)).status, 401)
})

test('a provider that is switched off or deleted signs nobody in, and ends the sessions that come from it', async () => {
  for (const method of ['PATCH', 'DELETE']) {
    const provider = await providerOf(tenant)
    peer.account = person()
    const browser = signInBrowser(app)
    const { body: tokens } = await browser.exchange((await browser.signIn(provider)).code)
    const { code } = await browser.signIn(provider)
    const callback = await browser.follow(
      browser.startOf(provider),
      `${serverUrl}/api/v1/auth/oidc/${provider}/callback`,
    )
    const body = method === 'PATCH' ? { enabled: false } : undefined
    await app.call(method, `/api/v1/auth/providers/${provider}`, { key: tenant.developer, ...(body && { body }) })
    assert.equal((await browser.exchange(code)).status, 401)
    assert.equal((await browser.open(callback)).status, 404)
    assert.equal((await browser.open(browser.startOf(provider))).status, 404)
    const refresh = { refreshToken: tokens.refreshToken, applicationId: tenant.id }
    assert.equal((await app.call('POST', '/api/v1/auth/refresh', { key: null, body: refresh })).status, 401)
  }
})

test('a second factor of ours is demanded after the provider’s own, unless the provider’s record trusts that', async () => {
  const user = await app.user(tenant.id)
  const credentials = { email: user.email, password: user.password, applicationId: tenant.id }
  const post = (path: string, body: object) => app.call('POST', `/api/v1/auth/${path}`, { key: null, body })
  const { secret } = (await post('secondfactor', credentials)).body
  await post('secondfactor/confirm', { ...credentials, code: shownBy(secret) })
  peer.account = person({ email: user.email })
  const demanding = await providerOf(tenant, { linksUsers: true })
  const browser = signInBrowser(app)
  const { code } = await browser.signIn(demanding)
  const without = await browser.exchange(code)
  assert.deepEqual([without.status, without.body.code], [401, 'second_factor_required'])
  assert.equal((await browser.exchange(code, { secondFactor: '000000' })).status, 401)
  const with_ = await browser.exchange(code, { secondFactor: shownBy(secret) })
  assert.equal(with_.status, 200, with_.text)
  assert.equal((await browser.exchange(code, { secondFactor: shownBy(secret, 1) })).status, 401, 'the code is used')
  const trusting = await providerOf(tenant, { linksUsers: true, secondFactor: 'trusted' })
  assert.equal((await browser.exchange((await browser.signIn(trusting)).code)).status, 200)
})

test('an application that demands a second factor is not got around by a provider that nobody declared trusted', async () => {
  const strict = await tenantOf('strict', { secondFactor: 'required' })
  const browser = signInBrowser(app)
  const { code } = await browser.signIn(await providerOf(strict))
  const refused = await browser.exchange(code)
  assert.deepEqual([refused.status, refused.body.code, refused.body.setup], [401, 'second_factor_required', true])
  const trusted = await browser.signIn(await providerOf(strict, { secondFactor: 'trusted', linksUsers: true }))
  assert.equal((await browser.exchange(trusted.code)).status, 200)
})

test('who gives up at the provider returns to the page, which learns that', async () => {
  const provider = await providerOf(tenant)
  peer.account = { sub: 'nobody' }
  assert.equal((await signInBrowser(app).signIn(provider)).error, 'access_denied')
})

test('sign-ins are in the audit log, with their user, and so are users that are made or linked', async () => {
  const provider = await providerOf(tenant)
  const browser = signInBrowser(app)
  const tokens = (await browser.exchange((await browser.signIn(provider)).code)).body
  const { id } = (await me(tokens)).body
  const entries = await app.db.query<{ action: string; status: number }>(
    sql`SELECT action, status FROM svc.audit WHERE target_id = ${id} ORDER BY at`,
  )
  assert.deepEqual(entries.map(({ action, status }) => `${action} ${status}`).sort(), [
    'auth.oidc.callback 302',
    'auth.oidc.token 200',
    'users.create 201',
  ])
  peer.account = person({ email_verified: false })
  await browser.signIn(await providerOf(tenant, { emailDomains: ['example.org'] }))
  await app.services.audit.flush()
  const [refused] = await app.db.query<{ status: number }>(
    sql`SELECT status FROM svc.audit WHERE action = 'auth.oidc.callback' ORDER BY at DESC LIMIT 1`,
  )
  assert.equal(refused?.status, 401)
})

test('no token and no secret of the provider is in an address, an answer or the log', async () => {
  const lines: string[] = []
  const logged = await testApp({ BASE_URL: serverUrl }, (line) => lines.push(line))
  try {
    const own = await logged.tenant('logged')
    const auth = { defaultApiKey: own.public, redirectUrls: ['https://maps.example.org/*'] }
    await logged.call('PUT', `/api/v1/applications/${own.id}/metadata/auth`, { body: auth })
    const { issuer, clientId, clientSecret } = peer
    const body = { name: 'Office', issuer, clientId, clientSecret, createsUsers: true }
    const made = await logged.call('POST', '/api/v1/auth/providers', { key: own.developer, body })
    assert.equal(made.body.clientSecretSet, true)
    assert.doesNotMatch(made.text, /a secret that/)
    const browser = signInBrowser(logged)
    const { code } = await browser.signIn(made.body.id)
    const tokens = await browser.exchange(code)
    const log = lines.join('\n')
    for (const secret of [clientSecret, code, browser.verifier, tokens.body.accessToken, tokens.body.refreshToken])
      assert.ok(!log.includes(secret), secret)
    assert.doesNotMatch(log, /[?&](code|state)=/)
    const stored = JSON.stringify(await logged.db.query(sql`SELECT * FROM svc.oidcproviders`))
    assert.ok(!stored.includes(clientSecret))
  } finally {
    await logged.close()
  }
})
