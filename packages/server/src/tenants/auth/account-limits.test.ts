import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'

let app: TestApp
let tenant: Tenant
before(async () => {
  // So that a test can come from any address.
  app = await testApp({ TRUST_PROXY: 'true', SIGNUPS_PER_HOUR: '3', SESSIONS_PER_USER: '2' })
  tenant = await app.tenant('accounts')
  const auth = { signup: { enabled: true, allow: ['*'] } }
  await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata`, { key: tenant.developer, body: { auth } })
})
after(() => app.close())

const signup = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  password: 'nine Bernoulli numbers',
  confirmUrl: 'http://localhost:3000/confirm',
  redirectUrl: 'http://localhost:3000/welcome',
}

test('the sign-ups of an address within an hour are counted over all replicas, and one too many is told so', async () => {
  const { http: replica } = await app.replica()
  const signUp = (server: typeof replica, email: string, address: string) =>
    server.inject({
      method: 'POST',
      url: '/api/v1/auth/signup',
      headers: { 'x-forwarded-for': address },
      payload: { ...signup, email, applicationId: tenant.id },
    })
  // The same address of a mail twice: that it has an account is not told by the counting either.
  for (const [server, email] of [
    [app.http, 'a@x.org'],
    [replica, 'a@x.org'],
    [replica, 'b@x.org'],
  ] as const) {
    assert.equal((await signUp(server, email, '192.0.2.1')).statusCode, 200)
  }
  for (const server of [app.http, replica]) {
    const refused = await signUp(server, 'c@x.org', '192.0.2.1')
    const { code, limit, limitName } = refused.json()
    assert.deepEqual({ code, limit, limitName }, { code: 'rate_limited', limit: 3, limitName: 'signups' })
    const wait = Number(refused.headers['retry-after'])
    assert.ok(wait > 3_000 && wait <= 3_600, `${wait}`)
  }
  assert.equal((await signUp(app.http, 'c@x.org', '192.0.2.2')).statusCode, 200, 'from another address')
  for (const address of ['127.0.0.1', '::1', '127.0.0.1', '::ffff:127.0.0.1', '127.0.0.1'])
    assert.equal((await signUp(app.http, 'c@x.org', address)).statusCode, 200, 'a proxy on this machine')
})

test('the sign-ups of an address at one application do not count at another', async () => {
  const other = await app.tenant('others')
  const auth = { signup: { enabled: true, allow: ['*'] } }
  await app.call('PUT', `/api/v1/applications/${other.id}/metadata`, { key: other.developer, body: { auth } })
  const signUp = async (applicationId: string, n: number) => {
    const body = { ...signup, email: `${n}@elsewhere.org`, applicationId }
    const headers = { 'x-forwarded-for': '192.0.2.77' }
    return (await app.call('POST', '/api/v1/auth/signup', { key: null, body, headers })).status
  }
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) statuses.push(await signUp(tenant.id, n))
  assert.deepEqual(statuses, [200, 200, 200, 429])
  assert.equal(await signUp(other.id, 5), 200)
})

test('a user gets three mails within an hour to replace a password, and the answer stays the same', async () => {
  const user = await app.user(tenant.id)
  const body = { email: user.email, applicationId: tenant.id, redirectUrl: 'http://localhost:3000/reset' }
  const ask = () => app.call('POST', '/api/v1/auth/requestpasswordreset', { key: null, body })
  const replies = await Promise.all(Array.from({ length: 5 }, ask))
  assert.ok(replies.every(({ status }) => status === 204))
  const { body: mails } = await app.call('GET', '/api/v1/outbox?limit=1000')
  const sent = mails.filter((mail: { to: string[]; template: string }) => mail.to.includes(user.email))
  assert.equal(sent.length, 3, 'resetMails')
})

test('a user has sessionsPerUser sessions, and one more ends the oldest, of the application’s own number too', async () => {
  const user = await app.user(tenant.id)
  const isLive = async ({ refreshToken, headers }: Awaited<ReturnType<typeof app.login>>) => {
    const body = { refreshToken, applicationId: tenant.id }
    const refreshed = await app.call('POST', '/api/v1/auth/refresh', { key: null, body })
    const used = await app.call('GET', '/api/v1/auth/users/me', { key: tenant.public, headers })
    assert.equal(refreshed.status, used.status, 'both tokens live and end together')
    return used.status === 200
  }
  const liveOf = async (sessions: Parameters<typeof isLive>[0][]) => {
    const live: boolean[] = []
    for (const session of sessions) live.push(await isLive(session))
    return live
  }
  const [a, b] = [await app.login(user), await app.login(user)]
  assert.deepEqual(await liveOf([a, b]), [true, true])
  const c = await app.login(user)
  assert.deepEqual(await liveOf([a, b, c]), [false, true, true])
  const limits = { sessionsPerUser: 1 }
  assert.equal((await app.call('PATCH', `/api/v1/applications/${tenant.id}`, { body: { limits } })).status, 200)
  const d = await app.login(user)
  assert.deepEqual(await liveOf([b, c, d]), [false, false, true])
  const other = await app.user(tenant.id)
  await app.login(other)
  assert.deepEqual(await liveOf([d]), [true], 'another user’s sessions are not counted')
})

test('logins that come all at once end each other too, so that no more live than may', async () => {
  const user = await app.user(tenant.id)
  const sessions = await Promise.all(Array.from({ length: 6 }, () => app.login(user)))
  const statuses = await Promise.all(
    sessions.map(async ({ refreshToken }) => {
      const body = { refreshToken, applicationId: tenant.id }
      return (await app.call('POST', '/api/v1/auth/refresh', { key: null, body })).status
    }),
  )
  assert.equal(statuses.filter((status) => status === 200).length, 1)
})
