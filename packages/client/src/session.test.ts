import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { TestUser } from '../../server/testing/harness.ts'
import { type ClientServer, clientServer } from '../testing/client-server.ts'
import { ApiError, type ClientOptions, type HeldTokens } from './client.ts'

let server: ClientServer
let user: TestUser
before(async () => {
  server = await clientServer()
  const { tenant, app } = server
  const auth = { defaultApiKey: tenant.developer }
  user = await app.user(tenant.id, { metadata: { auth } })
})
after(() => server.close())

/** Which requests were sent. */
let sent: string[]
beforeEach(() => {
  sent = []
})
const recording: typeof fetch = (input, init) => {
  sent.push(`${init?.method} ${new URL(String(input)).pathname}`)
  return fetch(input, init)
}

async function loggedIn(options: ClientOptions = {}) {
  const client = server.client({ fetch: recording, ...options })
  await client.auth.login({ email: user.email, password: user.password, applicationId: user.applicationId })
  sent = []
  return client
}

/** The same claims with another signature: what the server takes for a token that is over. */
const spoilt = (token: string | null): string => `${token?.slice(0, -4)}AAAA`

describe('a session', () => {
  test('begins with login, lasts while the client speaks for the user, and ends with logout', async () => {
    const seen: HeldTokens[] = []
    const client = await loggedIn({ onTokens: (tokens) => seen.push(tokens) })
    assert.equal((await client.auth.users.me()).email, user.email)
    const { accessToken, refreshToken } = client
    await client.auth.logout()
    assert.deepEqual([client.accessToken, client.refreshToken], [null, null])
    assert.deepEqual(seen, [
      { accessToken, refreshToken },
      { accessToken: null, refreshToken: null },
    ])
    await assert.rejects(client.auth.users.me(), { status: 401 })
  })

  test('a wrong password is refused and changes nothing', async () => {
    const client = await loggedIn()
    const { accessToken } = client
    const wrong = { email: user.email, password: 'not it', applicationId: user.applicationId }
    await assert.rejects(client.auth.login(wrong), { status: 401, code: 'unauthorized' })
    assert.equal(client.accessToken, accessToken)
    assert.deepEqual(sent, ['POST /api/v1/auth/login'])
  })

  test('refresh gives a new access token, and with rotate a new refresh token', async () => {
    const client = await loggedIn()
    const { refreshToken } = client
    assert.equal((await client.auth.refresh()).refreshToken, refreshToken)
    const tokens = await client.auth.refresh({ rotate: true })
    assert.notEqual(tokens.refreshToken, refreshToken)
    assert.deepEqual([client.accessToken, client.refreshToken], [tokens.accessToken, tokens.refreshToken])
  })
})

describe('an expired access token', () => {
  test('is replaced once for all the requests that find it expired at the same time', async () => {
    const seen: HeldTokens[] = []
    const client = await loggedIn({ onTokens: (tokens) => seen.push(tokens) })
    client.accessToken = spoilt(client.accessToken)
    const me = await Promise.all([client.auth.users.me(), client.auth.users.me(), client.styles.list()])
    assert.equal(me[0].email, user.email)
    assert.equal(sent.filter((request) => request === 'POST /api/v1/auth/refresh').length, 1)
    assert.equal(sent.length, 7)
    assert.deepEqual(seen.at(-1), { accessToken: client.accessToken, refreshToken: client.refreshToken })
  })

  test('is not replaced when the session is over: the error is the server’s, and nothing goes round in circles', async () => {
    const client = await loggedIn()
    const { refreshToken } = client
    const expired = spoilt(client.accessToken)
    await client.auth.logout()
    Object.assign(client, { accessToken: expired, refreshToken })
    sent = []
    const error = await client.auth.users.me().catch((reason) => reason)
    assert.ok(error instanceof ApiError)
    assert.equal(error.status, 401)
    assert.deepEqual(sent, ['GET /api/v1/auth/users/me', 'POST /api/v1/auth/refresh'])
    assert.deepEqual([client.accessToken, client.refreshToken], [expired, null], 'the key does not take its place')
    await assert.rejects(client.auth.users.me(), { status: 401 })
    assert.equal(sent.length, 3, 'a refresh token that was refused is not tried again')
  })

  test('is left alone when the key behind it may not do this, or the request has its own key', async () => {
    const key = await server.app.key(server.tenant.id, { styles: { read: '*' } })
    const limited = await server.app.user(server.tenant.id, { metadata: { auth: { defaultApiKey: key } } })
    const client = server.client({ fetch: recording })
    await client.auth.login({ email: limited.email, password: limited.password, applicationId: limited.applicationId })
    sent = []
    await assert.rejects(client.datasets.list(), { status: 401 })
    client.accessToken = spoilt(client.accessToken)
    await assert.rejects(client.styles.list({ apiKey: '00000000-0000-4000-8000-000000000000' }), { status: 401 })
    assert.deepEqual(sent, ['GET /api/v1/datasets', 'GET /api/v1/styles'])
  })

  test('that cannot be replaced because the server is away rejects with that, and the next try replaces it', async () => {
    let isAway = true
    const client = await loggedIn({
      retries: 0,
      fetch: (input, init) =>
        isAway && String(input).endsWith('/refresh') ? Promise.reject(new TypeError('away')) : recording(input, init),
    })
    client.accessToken = spoilt(client.accessToken)
    const answers = await Promise.allSettled([client.styles.list(), client.styles.list()])
    for (const answer of answers) {
      assert.ok(answer.status === 'rejected' && answer.reason instanceof ApiError)
      assert.deepEqual([answer.reason.status, answer.reason.code], [0, 'network_error'])
    }
    isAway = false
    assert.ok(await client.styles.list())
  })

  test('is not replaced without a refresh token', async () => {
    const client = await loggedIn()
    Object.assign(client, { accessToken: spoilt(client.accessToken), refreshToken: null })
    await assert.rejects(client.styles.list(), { status: 401 })
    assert.deepEqual(sent, ['GET /api/v1/styles'])
  })
})
