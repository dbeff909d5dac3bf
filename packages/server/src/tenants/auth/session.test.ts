import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { exportJWK, generateKeyPair, importJWK, type JWTPayload, SignJWT } from 'jose'
import { type Tenant, type TestApp, type TestUser, testApp } from '../../../testing/harness.ts'
import { rotateSigningKey } from '../../api/access/secrets/signing-keys.ts'
import { sql } from '../../kernel/db/sql.ts'

// One database is enough: contract.test.ts begins and ends sessions on both, races.test.ts at once; this is about what a token
// allows.

let app: TestApp
let tenant: Tenant
let user: TestUser
before(async () => {
  app = await testApp()
  tenant = await app.tenant('sessions')
  user = await app.user(tenant.id)
  const body = { defaultApiKey: tenant.public }
  await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, { body })
})
after(() => app.close())

const me = '/api/v1/auth/users/me'
const post = (path: string, body: unknown, headers = {}, key: string | null = null) =>
  app.call('POST', `/api/v1/auth/${path}`, { key, body, headers })
const asked = async (headers: Record<string, string>, key: string | null = null) =>
  (await app.call('GET', me, { key, headers })).status
const refresh = (refreshToken: string, applicationId = tenant.id, query = '') =>
  post(`refresh${query}`, { refreshToken, applicationId })
const bearing = (token: string) => ({ authorization: `Bearer ${token}` })

describe('an access token', () => {
  test('works in Authorization and in Authentication, alone or with a key of the same application', async () => {
    const { accessToken, headers } = await app.login(user)
    assert.equal((await app.call('GET', me, { key: null, headers })).body.email, user.email)
    assert.equal(await asked({ authentication: `Bearer ${accessToken}` }), 200)
    assert.equal(await asked({ ...headers, authentication: `bearer ${accessToken}` }), 200)
    assert.equal(await asked(headers, tenant.developer), 200)
    assert.equal(await asked(headers, app.master), 200)
    const other = await app.tenant('other')
    assert.equal(await asked(headers, other.developer), 401)
    assert.equal(await asked({ ...headers, 'x-application-id': other.id }, app.master), 401)
    assert.equal(await asked(headers, 'nonsense'), 401)
    const { accessToken: second } = await app.login(user)
    assert.equal(await asked({ ...headers, authentication: `Bearer ${second}` }), 401, 'two tokens')
  })

  test('gives the rights of its key, or of the key that comes with it', async () => {
    const { headers } = await app.login(user)
    const write = (key: string | null) =>
      app.call('PUT', `/api/v1/auth/users/${user.id}/metadata/x`, { key, headers, body: 1 })
    assert.equal((await write(null)).status, 401)
    assert.equal((await write(tenant.developer)).status, 200)
  })

  test('is needed besides the key where the user is asked for', async () => {
    assert.equal(await asked({}, tenant.developer), 401)
    for (const value of ['Bearer', 'Bearer ', 'Bearer a b', 'Bearer ü', `Bearer ${'a.'.repeat(2_000)}`]) {
      const reply = await app.call('GET', me, { key: tenant.developer, headers: { authorization: value } })
      assert.equal(reply.status, 401, value)
      assert.ok(reply.headers['www-authenticate'])
    }
    assert.equal(
      (await app.call('GET', '/api/v1/config', { key: tenant.public, headers: { authorization: 'Basic eDp5' } }))
        .status,
      200,
      'what is meant for a proxy is not ours',
    )
  })

  test('is refused when anything about it was made up', async () => {
    const { accessToken } = await app.login(user)
    const [head = '', body = '', signature = ''] = accessToken.split('.')
    const header = JSON.parse(Buffer.from(head, 'base64url').toString())
    const claims: JWTPayload = JSON.parse(Buffer.from(body, 'base64url').toString())
    const [jwk] = (await app.call('GET', '/.well-known/jwks.json', { key: null })).body.keys
    const mine = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const forged = (change: object, headers: object = {}) =>
      new SignJWT({ ...claims, ...change }).setProtectedHeader({ ...header, ...headers }).sign(mine.privateKey)
    const hmac = (alg: string, secret: string) => {
      const text = `${encoded({ ...header, alg })}.${body}`
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
    }
    const attacks = {
      'no algorithm': `${encoded({ ...header, alg: 'none' })}.${body}.`,
      'no algorithm, upper case': `${encoded({ ...header, alg: 'NONE' })}.${body}.`,
      'HMAC with the public key': hmac('HS256', JSON.stringify(jwk)),
      'HMAC with the raw public key': hmac('HS256', String(jwk.x)),
      'a key of somebody else': await forged({}),
      'a foreign kid': await forged({}, { kid: randomUUID() }),
      'a kid that is a path': await forged({}, { kid: '../../dev/null' }),
      'no kid': await forged({}, { kid: undefined }),
      'an embedded key': await forged({}, { kid: undefined, jwk: await exportJWK(mine.publicKey) }),
      'the address of a key': await forged({}, { jku: 'http://127.0.0.1/jwks.json' }),
      'another user': `${head}.${encoded({ ...claims, sub: '1' })}.${signature}`,
      'no signature': `${head}.${body}.`,
      'a cut signature': accessToken.slice(0, -4),
    }
    for (const [name, token] of Object.entries(attacks)) assert.equal(await asked(bearing(token)), 401, name)
    assert.equal(await asked(bearing(accessToken)), 200)
  })

  test('of our own key is refused with another audience, issuer, type, session, user or time', async () => {
    const { accessToken } = await app.login(user)
    const [head = '', body = ''] = accessToken.split('.')
    const header = JSON.parse(Buffer.from(head, 'base64url').toString())
    const claims: JWTPayload = JSON.parse(Buffer.from(body, 'base64url').toString())
    const [row] = await app.db.query(sql`SELECT kid, private FROM svc.token_keys WHERE kid = ${header.kid}`)
    const secret = app.secrets.open(String(row?.private), `token_keys.private.${row?.kid}`)
    const key = await importJWK(JSON.parse(secret), 'EdDSA')
    const signed = (change: object, headers: object = {}) =>
      new SignJWT({ ...claims, ...change }).setProtectedHeader({ ...header, ...headers }).sign(key)
    const now = Math.floor(Date.now() / 1_000)
    const stranger = await app.user(tenant.id)
    const other = await app.tenant('another')
    const wrong: [string, string][] = [
      ['audience', await signed({ aud: other.id })],
      ['two audiences', await signed({ aud: [tenant.id, other.id] })],
      ['no audience', await signed({ aud: undefined })],
      ['issuer', await signed({ iss: 'graticule:another' })],
      ['type', await signed({}, { typ: 'JWT' })],
      ['no type', await signed({}, { typ: undefined })],
      ['session', await signed({ sid: randomUUID() })],
      ['no session', await signed({ sid: undefined })],
      ['user', await signed({ sub: stranger.id })],
      ['expired', await signed({ exp: now - 1 })],
      ['no end', await signed({ exp: undefined })],
      ['not yet', await signed({ nbf: now + 60 })],
    ]
    for (const [name, token] of wrong) assert.equal(await asked(bearing(token)), 401, name)
    assert.equal(
      await asked(bearing(await signed({ aud: other.id })), other.developer),
      401,
      'audience, with a key of it',
    )
    assert.equal(await asked(bearing(await signed({}))), 200)
  })

  test('ends when its time is over', async () => {
    const brief = await testApp({ ACCESS_TOKEN_TTL: '6' })
    try {
      const { id, public: key } = await brief.tenant('brief')
      const { headers } = await brief.login(await brief.user(id))
      assert.equal((await brief.call('GET', me, { key, headers })).status, 200)
      await new Promise((resolve) => setTimeout(resolve, 6_100))
      assert.equal((await brief.call('GET', me, { key, headers })).status, 401)
    } finally {
      await brief.close()
    }
  })

  test('is signed with the new key after a rotation, and one of the old key still works', async () => {
    const published = async () => {
      const { keys } = (await app.call('GET', '/.well-known/jwks.json', { key: null })).body
      assert.ok(keys.every((key: object) => !('d' in key)))
      return keys.map(({ kid }: { kid: string }) => kid)
    }
    const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
    const old = await app.login(user)
    const kid = await rotateSigningKey(app.db, app.secrets)
    const fresh = await app.login(user)
    assert.equal(kidOf(fresh.accessToken), kid)
    assert.notEqual(kidOf(old.accessToken), kid)
    const { http: replica } = await app.replica()
    for (const { headers } of [old, fresh]) {
      assert.equal(await asked(headers), 200)
      assert.equal((await replica.inject({ url: me, headers })).statusCode, 200)
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    assert.deepEqual((await published()).slice(0, 2), [kid, kidOf(old.accessToken)])
    const rows = await app.db.query(sql`SELECT k::text AS text FROM svc.token_keys k`)
    assert.ok(rows.every(({ text }) => !String(text).includes('"d"')))
  })
})

describe('a session', () => {
  test('gives new access tokens as a JSON string, or as bare text to those who take nothing else', async () => {
    const { refreshToken } = await app.login(user)
    const reply = await refresh(refreshToken)
    assert.equal(reply.status, 200)
    assert.equal(await asked(bearing(reply.body)), 200)
    const text = await post('refresh', { refreshToken, applicationId: tenant.id }, { accept: 'text/plain' })
    assert.match(String(text.headers['content-type']), /^text\/plain/)
    assert.equal(await asked(bearing(text.text)), 200)
    assert.equal((await refresh(refreshToken)).status, 200, 'again and again')
    assert.match(refreshToken, /^rt_[\w-]{43}$/)
    const rows = await app.db.query(sql`SELECT s::text AS text FROM svc.sessions s`)
    assert.ok(rows.every(({ text }) => !String(text).includes(refreshToken)))
  })

  const endings: Record<string, (user: TestUser, session: Awaited<ReturnType<TestApp['login']>>) => Promise<unknown>> =
    {
      'logging out': (_, { refreshToken, headers }) => post('logout', { refreshToken }, headers),
      'disabling the user': ({ id }) => app.call('PATCH', `/api/v1/auth/users/${id}`, { body: { enabled: false } }),
      'deleting the user': ({ id }) => app.call('DELETE', `/api/v1/auth/users/${id}`),
      'setting the password': ({ id }) =>
        app.call('PATCH', `/api/v1/auth/users/${id}`, { body: { password: 'quite another one' } }),
      'changing the password': ({ password }, { headers }) =>
        post('changepassword', { password, newPassword: 'quite another one' }, headers),
    }
  for (const [name, end] of Object.entries(endings)) {
    test(`ends at once by ${name}, here and on the other replicas within a second`, async () => {
      const someone = await app.user(tenant.id)
      const session = await app.login(someone)
      const { http: replica } = await app.replica()
      const elsewhere = async () => (await replica.inject({ url: me, headers: session.headers })).statusCode
      assert.equal(await elsewhere(), 200)
      assert.equal(await asked(session.headers), 200)
      const reply = (await end(someone, session)) as { status: number }
      assert.ok(reply.status < 300)
      assert.equal(await asked(session.headers), 401)
      assert.equal((await refresh(session.refreshToken)).status, 401)
      assert.equal((await refresh(session.refreshToken, tenant.id, '?rotate=true')).status, 401)
      await new Promise((resolve) => setTimeout(resolve, 950))
      assert.equal(await elsewhere(), 401)
    })
  }

  test('stays ended when the user is enabled again', async () => {
    const someone = await app.user(tenant.id)
    const { refreshToken, headers } = await app.login(someone)
    for (const enabled of [false, true]) {
      await app.call('PATCH', `/api/v1/auth/users/${someone.id}`, { body: { enabled } })
    }
    assert.equal((await refresh(refreshToken)).status, 401)
    assert.equal(await asked(headers), 401)
    await app.login(someone)
  })

  test('is of one application: its tokens are nothing in another', async () => {
    const { refreshToken } = await app.login(user)
    const other = await app.tenant('elsewhere')
    assert.equal((await refresh(refreshToken, other.id)).status, 401)
    for (const text of ['rt_nonsense', '', ' ', 'x'.repeat(5_000), 'ü', `${refreshToken} `, refreshToken.slice(3)]) {
      assert.equal((await refresh(text)).status, 401, text.slice(0, 20))
      assert.equal((await refresh(text, tenant.id, '?rotate=true')).status, 401, text.slice(0, 20))
    }
    assert.equal((await refresh(refreshToken)).status, 200)
  })

  test('is ended by its own user only', async () => {
    const { refreshToken } = await app.login(user)
    const { headers } = await app.login(await app.user(tenant.id))
    assert.equal((await post('logout', { refreshToken }, headers)).status, 401)
    assert.equal((await refresh(refreshToken)).status, 200)
  })

  test('ends as a whole when a refresh token is used after it was replaced', async () => {
    const { refreshToken: first } = await app.login(user)
    const rotated = await refresh(first, tenant.id, '?rotate=true')
    assert.equal(rotated.status, 200)
    const { accessToken, refreshToken: second } = rotated.body
    assert.equal(await asked(bearing(accessToken)), 200)
    assert.equal((await refresh(second)).status, 200)
    assert.equal((await refresh(first)).status, 401)
    assert.equal((await refresh(second)).status, 401)
    await new Promise((resolve) => setTimeout(resolve, 950))
    assert.equal(await asked(bearing(accessToken)), 401)
  })

  test('whose refresh token is replaced twice at once is ended or has one successor', async () => {
    const { refreshToken } = await app.login(user)
    const replies = await Promise.all([1, 2, 3, 4].map(() => refresh(refreshToken, tenant.id, '?rotate=true')))
    const good = replies.filter(({ status }) => status === 200)
    assert.ok(good.length <= 1)
    for (const { body } of good) assert.equal((await refresh(body.refreshToken)).status, 401, 'the copy ended it')
  })
})

describe('a key of type user', () => {
  test('ends with its user', async () => {
    const someone = await app.user(tenant.id)
    const key = await app.key(tenant.id, { '*': { '*': '*' } }, { type: 'user', userId: someone.id })
    const works = async () => (await app.call('GET', '/api/v1/config', { key })).status
    assert.equal(await works(), 200)
    await app.call('PATCH', `/api/v1/auth/users/${someone.id}`, { body: { enabled: false } })
    assert.equal(await works(), 401)
    await app.call('PATCH', `/api/v1/auth/users/${someone.id}`, { body: { enabled: true } })
    assert.equal(await works(), 200)
    await app.call('DELETE', `/api/v1/auth/users/${someone.id}`)
    assert.equal(await works(), 401)
  })
})

describe('the list of one’s sessions', () => {
  const list = async (headers: Record<string, string>) =>
    (await app.call('GET', '/api/v1/auth/sessions', { key: null, headers })).body
  const end = async (id: string, headers: Record<string, string>) =>
    (await app.call('DELETE', `/api/v1/auth/sessions/${id}`, { key: null, headers })).status

  test('tells them apart, and ends one with its tokens', async () => {
    const owner = await app.user(tenant.id)
    const { email, password } = owner
    const phone = await post('login', { email, password, applicationId: tenant.id }, { 'user-agent': 'Phone \u00e9' })
    const phoneHeaders = bearing(phone.body.accessToken)
    const { headers } = await app.login(owner)
    await refresh(phone.body.refreshToken, tenant.id, '?rotate=true')
    const [laptop, first] = await list(headers)
    assert.deepEqual([laptop.isCurrent, first.isCurrent, first.userAgent], [true, false, 'Phone \u00e9'])
    assert.ok(first.startedAt < laptop.startedAt && first.seenAt > first.startedAt && first.expiresAt > first.seenAt)
    assert.equal(await end(first.id, headers), 204)
    assert.equal(await end(first.id, headers), 404)
    assert.equal(await asked(phoneHeaders), 401)
    assert.deepEqual((await list(headers)).length, 1)
  })

  test('has nobody else’s', async () => {
    const { headers } = await app.login(await app.user(tenant.id))
    const other = await app.login(await app.user(tenant.id))
    const [{ id }] = await list(other.headers)
    assert.equal((await list(headers)).length, 1)
    assert.deepEqual([await end(id, headers), await end('nonsense', headers)], [404, 404])
    assert.equal(await asked(other.headers), 200)
  })
})
