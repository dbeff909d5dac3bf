import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { sql } from '../../kernel/db/sql.ts'

// One database is enough: contract.test.ts signs users up on both, races.test.ts at once; this is about who may.

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('sign-up')
  await allow({ enabled: true, allow: ['one@exact.org', '@x.org'] })
})
after(() => app.close())

const allow = (signup: unknown, rest: object = {}) =>
  app.call('PUT', `/api/v1/applications/${tenant.id}/metadata`, {
    key: tenant.developer,
    body: { auth: { signup, ...rest } },
  })
const password = 'nine Bernoulli numbers'
const sample = () => ({
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: `${randomUUID()}@x.org`,
  password,
  applicationId: tenant.id,
  confirmUrl: 'http://localhost:3000/confirm',
  redirectUrl: 'http://localhost:3000/welcome?a=b',
})
const signUp = (body: object) => app.call('POST', '/api/v1/auth/signup', { key: null, body: { ...sample(), ...body } })
const login = (email: string, given = password) =>
  app.call('POST', '/api/v1/auth/login', { key: null, body: { email, password: given, applicationId: tenant.id } })
const userOf = async (email: string) =>
  (await app.call('GET', `/api/v1/auth/users?filter[email]=${email}`, { key: tenant.developer })).body
async function linkFor(email: string): Promise<URL> {
  const { body } = await app.call('GET', '/api/v1/outbox?limit=1000')
  const { id } = body.find((mail: { to: string[] }) => mail.to.includes(email))
  const { text } = (await app.call('GET', `/api/v1/outbox/${id}`)).body
  return new URL(/http\S+/.exec(text)?.[0] ?? '')
}
const confirm = (search: string) => app.call('GET', `/api/v1/auth/confirmsignup${search}`, { key: null })

describe('signing up', () => {
  test('makes a user who can log in once the link of the mail was opened', async () => {
    const email = `Ada.${randomUUID()}@x.org`
    const { status, body } = await signUp({ email })
    assert.equal(status, 200)
    assert.deepEqual([body.email, body.emailVerified, body.verificationToken], [email, false, ''])
    const [user] = await userOf(email)
    assert.equal(user.id, body.id)
    assert.equal((await login(email)).body.code, 'email_not_verified')
    assert.equal((await login(email, 'a wrong password')).body.code, 'unauthorized')
    const link = await linkFor(email)
    assert.equal(link.origin + link.pathname, 'http://localhost:3000/confirm')
    assert.equal(link.searchParams.get('token'), user.verificationToken)
    const confirmed = await confirm(link.search)
    assert.deepEqual([confirmed.status, confirmed.headers.location], [302, 'http://localhost:3000/welcome?a=b'])
    assert.equal((await confirm(link.search)).status, 401, 'it works once')
    assert.equal((await login(email)).status, 200)
    assert.equal((await userOf(email))[0].verificationToken, '')
  })

  test('is confirmed by the path form too', async () => {
    const { email } = (await signUp({})).body
    const { searchParams } = await linkFor(email)
    const [token, redirect] = ['token', 'redirect'].map((name) => encodeURIComponent(searchParams.get(name) ?? ''))
    assert.equal((await confirm(`/${token}/${redirect}?email=other@x.org`)).status, 401)
    assert.equal((await confirm(`/${token}/${encodeURIComponent('https://evil.example/')}`)).status, 401)
    assert.equal((await confirm(`/${token}/${redirect}?email=${email.toUpperCase()}`)).status, 302)
  })

  test('is for approved addresses: exact, of a domain, all, or none', async () => {
    assert.equal((await signUp({ email: 'ONE@exact.org' })).status, 200)
    for (const email of ['two@exact.org', 'a@y.org', 'a@sub.x.org', 'x.org@evil.org']) {
      assert.equal((await signUp({ email })).status, 401, email)
    }
    for (const signup of [
      undefined,
      {},
      { enabled: false, allow: ['*'] },
      { enabled: true },
      { enabled: 'yes', allow: ['*'] },
    ]) {
      await allow(signup)
      assert.equal((await signUp({})).status, 401, JSON.stringify(signup))
    }
    await allow({ enabled: true, allow: ['*'] })
    assert.equal((await signUp({ email: `${randomUUID()}@anywhere.org` })).status, 200)
    await allow({ enabled: true, allow: ['one@exact.org', '@x.org'] })
  })

  for (const emailVerified of [false, true])
    test(`is open to a user who was made without a password (emailVerified ${emailVerified}), and keeps what that user has`, async () => {
      const email = `${randomUUID()}@invited.org`
      const made = { email, firstName: 'Augusta', roles: ['editor'], emailVerified }
      const { id } = (await app.call('POST', '/api/v1/auth/users', { key: tenant.developer, body: made })).body
      const reply = await signUp({ email })
      assert.equal(reply.status, 200)
      assert.ok(reply.body.id !== id && reply.body.roles.length === 0, 'but does not tell it')
      await confirm((await linkFor(email)).search)
      assert.equal((await login(email)).status, 200)
      const [user] = await userOf(email)
      assert.deepEqual([user.id, user.firstName, user.roles], [id, 'Augusta', ['editor']])
    })

  test('of an address that has an account answers the same, and changes and mails nothing', async () => {
    const user = await app.user(tenant.id, { email: `${randomUUID()}@x.org` })
    const fresh = await signUp({})
    const taken = await signUp({ email: user.email, password: 'the attacker’s own' })
    assert.equal(taken.status, fresh.status)
    const shape = (body: object) =>
      Object.entries(body).map(([name, value]) => [name, typeof value, String(value).length > 0])
    assert.deepEqual(shape(taken.body), shape(fresh.body))
    assert.notEqual(taken.body.id, user.id)
    const { body } = await app.call('GET', '/api/v1/outbox?limit=1000')
    assert.ok(body.every((mail: { to: string[] }) => !mail.to.includes(user.email)))
    assert.equal((await login(user.email, user.password)).status, 200)
  })

  test('fifty times at once with one address makes one account', async () => {
    const email = `${randomUUID()}@x.org`
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => signUp({ email, password: `${password} ${n}` })),
    )
    assert.ok(replies.every(({ status }) => status === 200))
    assert.equal((await userOf(email)).length, 1)
    assert.equal((await confirm((await linkFor(email)).search)).status, 302)
    const [row] = await app.db.query(sql`SELECT count(*) AS n FROM svc.users WHERE email = ${email}`)
    assert.equal(Number(row?.n), 1)
  })

  test('again before the address is confirmed replaces the link and the password', async () => {
    const { email } = (await signUp({})).body
    const first = await linkFor(email)
    await signUp({ email, password: 'a second thought' })
    assert.equal((await confirm(first.search)).status, 401)
    assert.equal((await confirm((await linkFor(email)).search)).status, 302)
    assert.equal((await login(email)).status, 401)
    assert.equal((await login(email, 'a second thought')).status, 200)
  })

  test('does not replace the password of a user who has one before the link is opened', async () => {
    const user = await app.user(tenant.id, { email: `${randomUUID()}@x.org`, emailVerified: false })
    await signUp({ email: user.email, password: 'the attacker’s own' })
    await app.call('PATCH', `/api/v1/auth/users/${user.id}`, { body: { emailVerified: true } })
    assert.equal((await login(user.email, 'the attacker’s own')).status, 401)
    assert.equal((await login(user.email, user.password)).status, 200)
  })

  test('is refused with a weak password, a malformed body or an address that leads away', async () => {
    assert.equal((await signUp({ password: 'short' })).body.code, 'weak_password')
    assert.equal((await signUp({ email: 'nobody' })).status, 400)
    assert.equal((await signUp({ firstName: undefined })).status, 400)
    assert.equal((await signUp({ confirmUrl: 'https://evil.example/' })).status, 400)
    assert.equal((await signUp({ redirectUrl: 'javascript:alert(1)' })).status, 400)
    assert.equal((await signUp({ applicationId: randomUUID() })).status, 401)
  })

  test('holds the redirect against the list as it is when the link is opened', async () => {
    const signup = { enabled: true, allow: ['*'] }
    await allow(signup, { redirectUrls: ['https://a.example/*'] })
    const urls = { confirmUrl: 'https://a.example/confirm', redirectUrl: 'https://a.example/welcome' }
    const { email } = (await signUp(urls)).body
    const { search } = await linkFor(email)
    await allow(signup, { redirectUrls: ['https://b.example/*'] })
    assert.equal((await confirm(search)).status, 401)
    await allow(signup, { redirectUrls: ['https://a.example/welcome'] })
    assert.equal((await confirm(search)).status, 302)
    await allow({ enabled: true, allow: ['one@exact.org', '@x.org'] })
  })

  test('can always be confirmed by the service’s own address, whatever else is listed', async () => {
    await allow({ enabled: true, allow: ['*'] }, { redirectUrls: ['https://a.example/*'] })
    const own = 'http://localhost:80/api/v1/auth/confirmsignup'
    const redirectUrl = 'https://a.example/welcome'
    const { email } = (await signUp({ confirmUrl: own, redirectUrl })).body
    const link = await linkFor(email)
    assert.equal(link.href.split('?')[0], new URL(own).href)
    assert.equal((await confirm(link.search)).headers.location, redirectUrl)
    for (const confirmUrl of [
      'http://localhost:80/',
      `${own}/x`,
      `${own}/../x`,
      'http://localhost:81/api/v1/auth/confirmsignup',
      'http://evil.example/api/v1/auth/confirmsignup',
      'http://localhost:80@evil.example/api/v1/auth/confirmsignup',
    ]) {
      assert.equal((await signUp({ confirmUrl, redirectUrl })).status, 400, confirmUrl)
    }
    assert.equal((await signUp({ confirmUrl: own, redirectUrl: own })).status, 400, 'but one is not sent on there')
    await allow({ enabled: true, allow: ['one@exact.org', '@x.org'] })
  })

  test('leaves a link that is over without effect', async () => {
    const { email } = (await signUp({})).body
    await app.db.query(sql`UPDATE svc.users SET verification_expires_at = now() WHERE email = ${email}`)
    assert.equal((await confirm((await linkFor(email)).search)).status, 401)
  })
})
