import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Tenant, type TestApp, type TestUser, testApp } from '../../../testing/harness.ts'
import type { Permissions } from '../../api/access/grants.ts'

// One database is enough: contract.test.ts changes users on both; who may is decided by the ACL.

let app: TestApp
let tenant: Tenant
/** May write users, keys and the application's metadata, and nothing else. */
let clerk: string
before(async () => {
  app = await testApp()
})
beforeEach(async () => {
  tenant = await app.tenant('takeover')
  clerk = await app.key(tenant.id, clerksPower)
})
after(() => app.close())

const all: Permissions = { '*': { '*': '*' } }
const clerksPower: Permissions = {
  users: { '*': '*' },
  apikeys: { '*': '*' },
  applications: { '*': '*' },
  auth: { '*': '*' },
}
const path = '/api/v1/auth/users'
const status = async (method: string, url: string, body?: unknown, key = clerk, headers = {}) =>
  (await app.call(method, url, { key, headers, ...(body !== undefined && { body }) })).status
const withDefault = (defaultApiKey: string) => ({ metadata: { auth: { defaultApiKey } } })
const setApplicationsDefault = async (defaultApiKey: string) => {
  const reply = await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, { body: { defaultApiKey } })
  assert.equal(reply.status, 200, reply.text)
}
const password = () => `pass ${randomUUID()}`

/** All that leads to somebody else's sign-in, each with the status that a caller with enough power gets. */
const takeovers = (user: TestUser): [method: string, place: string, body: unknown, success: number][] => [
  ['PATCH', '', { password: password() }, 200],
  ['PUT', '', { password: password() }, 200],
  ['PATCH', '', { password: null }, 200],
  ['PATCH', '', { email: `${randomUUID()}@x.org` }, 200],
  ['PUT', '', { email: user.email.toUpperCase() }, 200],
  ['PATCH', '', { emailVerified: false }, 200],
  ['PUT', '', { enabled: false }, 200],
  ['PUT', '/metadata/auth.defaultApiKey', clerk, 200],
  ['PATCH', '', withDefault(clerk), 200],
  ['PUT', '/metadata', { auth: { defaultApiKey: clerk } }, 200],
  ['DELETE', '', undefined, 200],
]

describe('a user whose token stands for a greater key', () => {
  const cases: [string, () => Promise<TestUser>][] = [
    ['by metadata of its own', () => app.user(tenant.id, withDefault(tenant.developer))],
    [
      'by the application',
      async () => {
        await setApplicationsDefault(tenant.developer)
        return app.user(tenant.id)
      },
    ],
    [
      'by the application, once its own has expired',
      async () => {
        await setApplicationsDefault(tenant.developer)
        const brief = await app.key(tenant.id, {}, { expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
        return app.user(tenant.id, withDefault(brief))
      },
    ],
    [
      'by the application, because its own is gone',
      async () => {
        const gone = await app.key(tenant.id, {})
        const user = await app.user(tenant.id, withDefault(gone))
        await app.call('DELETE', `/api/v1/apikeys/${gone}`)
        await setApplicationsDefault(tenant.developer)
        return user
      },
    ],
  ]
  for (const [name, make] of cases) {
    test(`cannot be taken over with less: ${name}`, async () => {
      const user = await make()
      for (const [method, place, body] of takeovers(user)) {
        assert.equal(await status(method, `${path}/${user.id}${place}`, body), 401, `${method} ${place}`)
      }
      await app.login(user)
      for (const [method, place, body, success] of takeovers(user)) {
        const reply = await status(method, `${path}/${user.id}${place}`, body, tenant.developer)
        assert.equal(reply, success, `${method} ${place} ${JSON.stringify(body)}`)
      }
    })
  }

  test('shows its one-time tokens only to those who can do all that the key can, listed too, and to nobody where it is joined', async () => {
    const user = await app.user(tenant.id, withDefault(tenant.developer))
    const reset = { email: user.email, applicationId: tenant.id, redirectUrl: 'http://localhost/reset' }
    assert.equal((await app.call('POST', '/api/v1/auth/requestpasswordreset', { key: null, body: reset })).status, 204)
    const owned = { type: 'user', permissions: {}, userId: user.id }
    const minted = await app.call('POST', '/api/v1/apikeys', { key: tenant.developer, body: owned })
    for (const [key, isShown] of [
      [clerk, false],
      [tenant.developer, true],
    ] as const) {
      const joined = `/api/v1/apikeys/${minted.body.id}?join=user`
      for (const url of [`${path}/${user.id}`, path, joined]) {
        const { text } = await app.call('GET', url, { key })
        const [, token] = /"passwordResetToken":"([^"]*)"/.exec(text) ?? []
        assert.equal(token?.length, isShown && url !== joined ? 43 : 0, url)
      }
      const changed = await app.call('PATCH', `${path}/${user.id}`, { key, body: { firstName: 'A' } })
      assert.equal(changed.body.passwordResetToken === '', !isShown, 'nor in the answer of a change')
    }
  })

  test('is still open to changes that lead to no sign-in, also when the rest is sent along unchanged', async () => {
    const user = await app.user(tenant.id, withDefault(tenant.developer))
    const url = `${path}/${user.id}`
    assert.equal(await status('PATCH', url, { firstName: 'Ada', roles: ['editor'] }), 200)
    const same = { email: user.email, emailVerified: true, enabled: true, firstName: 'Ada' }
    assert.equal(await status('PUT', url, same), 200)
    assert.equal(await status('PUT', `${url}/metadata/colour`, 'red'), 200)
    await app.login(user)
  })

  test('cannot be made with less: with a password, to be signed up for, or disabled for now', async () => {
    const bodies = [{ password: password() }, {}, { enabled: false }, { emailVerified: false, password: password() }]
    for (const rest of bodies) {
      const body = { email: `${randomUUID()}@x.org`, ...rest }
      assert.equal(await status('POST', path, body), 201, 'while tokens stand for nothing')
    }
    await setApplicationsDefault(tenant.developer)
    for (const rest of bodies) {
      const body = { email: `${randomUUID()}@x.org`, ...rest }
      assert.equal(await status('POST', path, body), 401)
      assert.equal(await status('POST', path, body, tenant.developer), 201)
    }
    const brief = await app.key(tenant.id, {}, { expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    assert.equal(await status('POST', path, { email: 'brief@x.org', ...withDefault(brief) }), 401)
    assert.equal(await status('POST', path, { email: 'lesser@x.org', ...withDefault(clerk) }), 201)
  })

  test('is not reached by deleting the lesser key in between', async () => {
    await setApplicationsDefault(tenant.developer)
    const lesser = await app.key(tenant.id, { styles: { read: [] } })
    const user = await app.user(tenant.id, withDefault(lesser))
    assert.equal(await status('PATCH', `${path}/${user.id}`, { password: password() }), 200)
    assert.equal(await status('DELETE', `/api/v1/apikeys/${lesser}`), 401)
    assert.equal(await status('DELETE', `${path}/${user.id}/metadata/auth`), 401)
    assert.equal(await status('DELETE', `${path}/${user.id}/metadata/auth.defaultApiKey`), 401)
    assert.equal(await status('PUT', `${path}/${user.id}`, { metadata: {} }), 401)
    assert.equal(await status('PUT', `${path}/${user.id}/metadata/auth.defaultApiKey`, null), 401)
    assert.equal(await status('DELETE', `/api/v1/apikeys/${lesser}`, undefined, tenant.developer), 200)
  })

  test('cannot be spoken for with a minted key of type user', async () => {
    const user = await app.user(tenant.id, withDefault(tenant.developer))
    const minted = { type: 'user', permissions: {}, userId: user.id }
    assert.equal(await status('POST', '/api/v1/apikeys', minted), 401)
    assert.equal(await status('POST', '/api/v1/apikeys', minted, tenant.developer), 201)
    const own = await app.key(tenant.id, clerksPower, { type: 'user', userId: user.id })
    assert.equal(await status('POST', '/api/v1/apikeys', minted, own), 201, 'its own keys may make lesser ones')
    assert.equal(await status('PATCH', `${path}/${user.id}`, { password: password() }, own), 401)
    assert.equal(await status('PATCH', `${path}/${user.id}`, { firstName: 'A' }, own), 200)
  })

  test('keeps the application’s redirects and sign-up out of lesser hands', async () => {
    const url = `/api/v1/applications/${tenant.id}/metadata/auth.redirectUrls`
    assert.equal(await status('PUT', url, ['https://x.org/']), 200)
    await app.user(tenant.id, withDefault(tenant.developer))
    assert.equal(await status('PUT', url, ['https://evil.example/']), 401)
    assert.equal(await status('PUT', url, ['https://y.org/'], tenant.developer), 200)
  })
})

describe('whoever changes a user', () => {
  test('may do so with a token that stands for a key with enough power, until that key ends', async () => {
    await setApplicationsDefault(tenant.public)
    const key = async (rest: object) => app.key(tenant.id, all, rest)
    const target = await app.user(tenant.id)
    const change = async (defaultApiKey: string) => {
      const { headers } = await app.login(await app.user(tenant.id, withDefault(defaultApiKey)))
      const reply = await app.call('PATCH', `${path}/${target.id}`, {
        key: null,
        headers,
        body: { password: password() },
      })
      return reply.status
    }
    assert.equal(await change(await key({})), 200)
    assert.equal(await change(clerk), 401)
    const brief = await key({ expiresAt: new Date(Date.now() + 86_400_000).toISOString() })
    assert.equal(await change(brief), 401, 'the password would outlive it')
  })

  test('needs as much life and as wide origins as the key that the token stands for', async () => {
    const user = await app.user(tenant.id, withDefault(tenant.public))
    const brief = await app.key(tenant.id, all, { expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    const local = await app.key(tenant.id, all, { allowedOrigins: ['https://a.example'] })
    const body = { password: password() }
    assert.equal(await status('PATCH', `${path}/${user.id}`, body, brief), 401)
    assert.equal(await status('PATCH', `${path}/${user.id}`, body, local, { origin: 'https://a.example' }), 401)
    assert.equal(await status('PATCH', `${path}/${user.id}`, body, await app.key(tenant.id, all)), 200)
  })

  test('may do so where the token stands for a lesser key, whatever the application’s is', async () => {
    await setApplicationsDefault(tenant.developer)
    const user = await app.user(tenant.id, withDefault(await app.key(tenant.id, { users: { read: '*' } })))
    assert.equal(await status('PATCH', `${path}/${user.id}`, { password: password(), enabled: false }), 200)
  })

  test('cannot win a race against whoever gives the user a greater key', async () => {
    for (let round = 0; round < 10; round++) {
      const user = await app.user(tenant.id, withDefault(clerk))
      const wanted = password()
      const url = `${path}/${user.id}`
      const [taken] = await Promise.all([
        app.call('PATCH', url, { key: clerk, body: { password: wanted } }),
        app.call('PATCH', url, { key: tenant.developer, body: withDefault(tenant.developer) }),
      ])
      // Either it came first, or it was refused.
      if (taken.status === 200) assert.equal(taken.body.metadata.auth?.defaultApiKey, clerk)
      else assert.equal(taken.status, 401, taken.text)
    }
  })
})

test('a user made by an administrator is confirmed unless said otherwise', async () => {
  const made = async (rest: object) =>
    (await app.call('POST', path, { key: tenant.developer, body: { email: `${randomUUID()}@x.org`, ...rest } })).body
  assert.equal((await made({})).emailVerified, true)
  assert.equal((await made({ emailVerified: false })).emailVerified, false)
  const body = { email: 'Login@x.org', password: password(), applicationId: tenant.id }
  await made({ email: body.email, password: body.password })
  await app.login(body)
})
