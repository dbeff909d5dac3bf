import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, type TestUser, testApp } from '../../../testing/harness.ts'
import { sql } from '../../kernel/db/sql.ts'

// One database is enough: contract.test.ts logs in and changes passwords on both, races.test.ts at once; this is about what is
// allowed.

let app: TestApp
let tenant: Tenant
before(async () => {
  // So that a test can come from any address.
  app = await testApp({ TRUST_PROXY: 'true' })
  tenant = await app.tenant('passwords')
})
after(() => app.close())

let addresses = 0
const newAddress = () => `198.51.${Math.floor(addresses / 250)}.${(addresses++ % 250) + 1}`
const post = (path: string, body: unknown, headers: Record<string, string> = {}, key: string | null = null) =>
  app.call('POST', `/api/v1/auth/${path}`, { key, body, headers: { 'x-forwarded-for': newAddress(), ...headers } })
const login = (
  { email, applicationId }: Pick<TestUser, 'email' | 'applicationId'>,
  password: string,
  address = newAddress(),
) => post('login', { email, password, applicationId }, { 'x-forwarded-for': address })

describe('logging in', () => {
  test('takes the address in any case, and the password in any composition of its letters', async () => {
    const user = await app.user(tenant.id, { email: 'Kate@x.org', password: 'Ångström’s unit' })
    const { applicationId, email } = user
    assert.equal((await login(user, user.password)).status, 200)
    assert.equal((await login({ ...user, email: 'kATE@X.org' }, user.password)).status, 200)
    assert.equal((await login(user, user.password.normalize('NFD'))).status, 200)
    assert.equal((await login(user, user.password.toLowerCase())).status, 401)
    const upper = { email, password: user.password, applicationId: applicationId.toUpperCase() }
    const reply = await post('login', upper)
    assert.equal(reply.status, 200)
    assert.equal(reply.headers['cache-control'], 'no-store')
  })

  test('fails in the same words for a wrong password, an unknown, disabled or foreign user, and no application', async () => {
    const user = await app.user(tenant.id)
    const disabled = await app.user(tenant.id, { enabled: false })
    const bare = await app.user(tenant.id, { password: null })
    const other = await app.tenant('other')
    const words = new Set<string>()
    for (const [someone, password] of [
      [user, 'a wrong password'],
      [{ ...user, email: 'nobody@x.org' }, user.password],
      [disabled, disabled.password],
      [bare, 'null'],
      [{ ...user, applicationId: other.id }, user.password],
      [{ ...user, applicationId: randomUUID() }, user.password],
    ] as const) {
      const { status, body } = await login(someone, password)
      words.add(JSON.stringify({ status, ...body, requestId: '' }))
    }
    assert.equal(words.size, 1)
    assert.match([...words].join(), /"status":401/)
  })

  test('tells that the address is not confirmed only to who knows the password', async () => {
    const user = await app.user(tenant.id, { emailVerified: false })
    assert.equal((await login(user, 'a wrong password')).body.code, 'unauthorized')
    const { status, body } = await login(user, user.password)
    assert.deepEqual([status, body.code], [401, 'email_not_verified'])
  })

  test('is refused with a malformed body', async () => {
    const good = { email: 'a@x.org', password: 'a password', applicationId: tenant.id }
    for (const change of [{ email: undefined }, { password: { $ne: '' } }, { applicationId: 'x' }, { email: ['a'] }]) {
      assert.equal((await post('login', { ...good, ...change })).status, 400, JSON.stringify(change))
    }
  })
})

describe('too many wrong passwords', () => {
  test('ten are answered over all replicas, then also the right one waits; from elsewhere it works', async () => {
    const user = await app.user(tenant.id)
    const { http: replica } = await app.replica()
    const address = newAddress()
    const { email, applicationId } = user
    const statuses: number[] = []
    for (let round = 0; round < 11; round++) {
      const payload = { email: round % 3 ? email : email.toUpperCase(), password: 'a wrong password', applicationId }
      const headers = { 'x-forwarded-for': address }
      const sent = { method: 'POST', url: '/api/v1/auth/login', payload, headers } as const
      statuses.push((await (round % 2 ? replica : app.http).inject(sent)).statusCode)
    }
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
    const limited = await login(user, user.password, address)
    assert.deepEqual([limited.status, limited.body.code], [429, 'rate_limited'])
    const { limit, limitName } = limited.body
    assert.deepEqual({ limit, limitName }, { limit: 10, limitName: 'loginFailures' })
    assert.ok(Number(limited.headers['retry-after']) > 800 && Number(limited.headers['retry-after']) <= 900)
    assert.equal((await login(user, user.password)).status, 200, 'from another address')
    const another = await app.user(tenant.id)
    assert.equal((await login(another, another.password, address)).status, 200, 'another user')
  })

  test('are no more than ten when they come all at once', async () => {
    const user = await app.user(tenant.id)
    const address = newAddress()
    const replies = await Promise.all(Array.from({ length: 20 }, () => login(user, 'a wrong password', address)))
    assert.equal(replies.filter(({ status }) => status === 401).length, 10)
    assert.equal(replies.filter(({ status }) => status === 429).length, 10)
  })

  test('are fifty for a user from all addresses, a hundred from one address for all users', async () => {
    const user = await app.user(tenant.id)
    await app.db.query(sql`
      INSERT INTO svc.login_failures VALUES (${`account ${tenant.id} ${user.email}`}, 49, now()), (${`address ${tenant.id} 192.0.2.7`}, 99, now())`)
    assert.equal((await login(user, 'a wrong password')).status, 401)
    assert.equal((await login(user, user.password)).status, 429)
    assert.equal((await login({ ...user, email: 'a@x.org' }, 'a wrong password', '192.0.2.7')).status, 401)
    assert.equal((await login({ ...user, email: 'b@x.org' }, 'a wrong password', '192.0.2.7')).status, 429)
  })

  test('at one application do not count at another, from the same address', async () => {
    const address = newAddress()
    const flooded = await app.tenant('flooded')
    for (let round = 0; round < 100; round++) {
      const guess = { applicationId: flooded.id, email: `${round}@x.org`, password: 'a wrong password' }
      assert.equal((await login(guess, guess.password, address)).status, 401)
    }
    const users = [await app.user(flooded.id), await app.user(tenant.id)]
    const statuses: number[] = []
    for (const user of users) statuses.push((await login(user, user.password, address)).status)
    assert.deepEqual(statuses, [429, 200])
    assert.equal((await login(users[1] as TestUser, 'a wrong password', address)).status, 401)
    const token = { url: '/api/v1/auth/exchange', payload: { token: 'guess' }, headers: { 'x-forwarded-for': address } }
    assert.equal((await app.http.inject({ method: 'POST', ...token })).statusCode, 401)
  })

  test('are five thousand from one address at all applications, of which the last are told so', async () => {
    const address = newAddress()
    const user = await app.user(tenant.id)
    await app.db.query(sql`INSERT INTO svc.login_failures VALUES (${`everywhere ${address}`}, 4998, now())`)
    assert.equal((await login(user, user.password, address)).status, 200)
    assert.equal((await login(user, 'a wrong password', address)).status, 401)
    const elsewhere = { ...user, applicationId: randomUUID() }
    assert.equal((await login(elsewhere, 'a wrong password', address)).status, 401)
    assert.equal((await login(user, user.password, address)).status, 429)
    assert.equal((await login(user, user.password)).status, 200, 'from another address')
  })

  test('are forgiven after a quarter of an hour, and right ones are not counted', async () => {
    const user = await app.user(tenant.id)
    const address = newAddress()
    for (let round = 0; round < 12; round++) assert.equal((await login(user, user.password, address)).status, 200)
    for (let round = 0; round < 11; round++) await login(user, 'a wrong password', address)
    assert.equal((await login(user, user.password, address)).status, 429)
    await app.db.query(sql`UPDATE svc.login_failures SET started_at = started_at - interval '901 seconds'`)
    assert.equal((await login(user, user.password, address)).status, 200)
  })

  test('count for the whole network of an IPv6 address', async () => {
    const user = await app.user(tenant.id)
    for (let round = 0; round < 10; round++) await login(user, 'a wrong password', `2001:db8:1:2::${round + 1}`)
    assert.equal((await login(user, user.password, '2001:db8:1:2:ffff::1')).status, 429)
    assert.equal((await login(user, user.password, '2001:db8:1:3::1')).status, 200)
  })
})

describe('changing the password', () => {
  test('needs the current one, and a good new one', async () => {
    const user = await app.user(tenant.id)
    const { headers } = await app.login(user)
    const change = (password: string, newPassword: string) =>
      post('changepassword', { password, newPassword }, headers, tenant.public)
    assert.equal((await change('a wrong password', 'another good one')).status, 401)
    assert.equal((await change(user.password, 'short')).body.code, 'weak_password')
    assert.equal((await change(user.password, 'another good one')).status, 204)
    assert.equal((await login(user, user.password)).status, 401)
    assert.equal((await login(user, 'another good one')).status, 200)
  })

  test('is tried ten times', async () => {
    const user = await app.user(tenant.id)
    const { headers } = await app.login(user)
    const body = { password: 'a wrong password', newPassword: 'another good one' }
    const from = { ...headers, 'x-forwarded-for': newAddress() }
    for (let round = 0; round < 10; round++)
      assert.equal((await post('changepassword', body, from, tenant.public)).status, 401)
    assert.equal((await post('changepassword', { ...body, password: user.password }, from, tenant.public)).status, 429)
  })
})

describe('a forgotten password', () => {
  const request = (email: string, rest: object = {}) =>
    post('requestpasswordreset', {
      email,
      applicationId: tenant.id,
      redirectUrl: 'http://localhost:3000/reset?x=1',
      ...rest,
    })
  const mails = async (to: string) =>
    (await app.call('GET', '/api/v1/outbox?limit=1000')).body.filter((mail: { to: string[] }) => mail.to.includes(to))
  async function linkFor(email: string): Promise<URL> {
    const [mail] = await mails(email)
    const { text } = (await app.call('GET', `/api/v1/outbox/${mail.id}`)).body
    return new URL(/http\S+/.exec(text)?.[0] ?? '')
  }
  const reset = (email: string, token: string, password = 'a remembered one') =>
    post('resetpassword', { email, token, password, applicationId: tenant.id })

  test('is replaced by the link of the mail, once, and ends all sessions', async () => {
    const user = await app.user(tenant.id, { emailVerified: false })
    await app.call('PATCH', `/api/v1/auth/users/${user.id}`, { body: { emailVerified: true } })
    const { refreshToken } = await app.login(user)
    assert.equal((await request(user.email.toUpperCase())).status, 204)
    const link = await linkFor(user.email)
    assert.equal(link.origin + link.pathname, 'http://localhost:3000/reset')
    assert.deepEqual([link.searchParams.get('x'), link.searchParams.get('email')], ['1', user.email])
    const token = link.searchParams.get('token') ?? ''
    assert.equal((await reset(user.email, token, 'short')).body.code, 'weak_password')
    assert.equal((await reset('other@x.org', token)).status, 401)
    assert.equal((await reset(user.email, `${token}x`)).status, 401)
    assert.equal((await reset(user.email, token)).status, 204)
    assert.equal((await reset(user.email, token)).status, 401)
    assert.equal((await login(user, user.password)).status, 401)
    assert.equal((await login(user, 'a remembered one')).status, 200)
    assert.equal((await post('refresh', { refreshToken, applicationId: tenant.id })).status, 401)
  })

  test('is replaced by one of two who use the token at once', async () => {
    for (let round = 0; round < 5; round++) {
      const user = await app.user(tenant.id)
      await request(user.email)
      const token = (await linkFor(user.email)).searchParams.get('token') ?? ''
      const passwords = ['the first password', 'the second password', 'the third password']
      const replies = await Promise.all(passwords.map((password) => reset(user.email, token, password)))
      assert.deepEqual(replies.map(({ status }) => status).sort(), [204, 401, 401])
      const winner = passwords[replies.findIndex(({ status }) => status === 204)] ?? ''
      assert.equal((await login(user, winner)).status, 200)
    }
  })

  test('is not replaced by a token that is over, that another replaced, or of a user who changed since', async () => {
    const user = await app.user(tenant.id)
    const newToken = async () => {
      await request(user.email)
      return (await linkFor(user.email)).searchParams.get('token') ?? ''
    }
    const first = await newToken()
    const second = await newToken()
    assert.equal((await reset(user.email, first)).status, 401)
    await app.db.query(sql`UPDATE svc.users SET password_reset_expires_at = now() WHERE id = ${Number(user.id)}`)
    assert.equal((await reset(user.email, second)).status, 401)
    for (const change of [
      { password: 'set by somebody else' },
      { email: `${randomUUID()}@x.org` },
      { enabled: false },
    ]) {
      const token = await newToken()
      await app.call('PATCH', `/api/v1/auth/users/${user.id}`, { body: change })
      const { email } = (await app.call('GET', `/api/v1/auth/users/${user.id}`)).body
      assert.equal((await reset(email, token)).status, 401, JSON.stringify(change))
      await app.call('PATCH', `/api/v1/auth/users/${user.id}`, { body: { email: user.email, enabled: true } })
    }
  })

  test('gives the same answer for whoever there is not, and no mail', async () => {
    const disabled = await app.user(tenant.id, { enabled: false })
    for (const email of ['nobody@x.org', disabled.email]) {
      const reply = await request(email)
      assert.deepEqual([reply.status, reply.text], [204, ''])
      assert.deepEqual(await mails(email), [])
    }
    assert.equal((await request('nobody@x.org', { applicationId: randomUUID() })).status, 401)
    assert.equal((await request('nobody@x.org', { redirectUrl: 'https://evil.example/' })).status, 400)
  })
})
