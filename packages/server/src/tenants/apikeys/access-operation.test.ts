import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { publicPermissions } from '../../api/access/first-permissions.ts'

// One database is enough: contract.test.ts asks both for it, and what it tells is what the key holds.

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('Harbour')
})
after(() => app.close())

const access = (key: string | null, headers: Record<string, string> = {}) =>
  app.call('GET', '/api/v1/auth/access', { key, headers })

describe('a key', () => {
  test('is told what it is and may do, never its id, and no cache keeps the answer', async () => {
    const expiresAt = '2999-01-31T12:00:00.000Z'
    const permissions = { datasets: { read: ['6f0c'] } }
    const allowedOrigins = ['https://maps.example.org']
    const key = await app.key(tenant.id, permissions, { description: 'Reads one', expiresAt, allowedOrigins })
    const { status, body, headers, text } = await access(key, { origin: 'https://maps.example.org' })
    assert.equal(status, 200)
    assert.deepEqual(body, {
      application: { id: tenant.id, name: 'Harbour' },
      type: 'app',
      description: 'Reads one',
      permissions,
      expiresAt,
      allowedOrigins,
      user: null,
    })
    assert.equal(headers['cache-control'], 'no-store')
    assert.ok(!text.includes(key))
  })

  test('without any permission may ask too', async () => {
    const { status, body } = await access(await app.key(tenant.id, {}))
    assert.equal(status, 200)
    assert.deepEqual(body.permissions, {})
    assert.equal(body.expiresAt, null)
  })

  test('of type user is told which user it is for', async () => {
    const user = await app.user(tenant.id, { firstName: 'Ada', lastName: 'Lovelace', roles: ['editor'] })
    const key = await app.key(tenant.id, { '*': { '*': '*' } }, { type: 'user', userId: user.id })
    const { body } = await access(key)
    assert.equal(body.type, 'user')
    const { id, email } = user
    assert.deepEqual(body.user, { id, email, firstName: 'Ada', lastName: 'Lovelace', roles: ['editor'] })
  })

  test('that is deleted is refused at once by the replica that deleted it, and by another', async () => {
    const { http } = await app.replica()
    const key = await app.key(tenant.id, { styles: { read: '*' } })
    const elsewhere = () => http.inject({ url: '/api/v1/auth/access', headers: { 'x-api-key': key } })
    assert.equal((await elsewhere()).statusCode, 200)
    assert.equal((await app.call('DELETE', `/api/v1/apikeys/${key}`)).status, 200)
    assert.equal((await access(key)).status, 401)
    assert.equal((await elsewhere()).statusCode, 401, 'though it still trusts what it knew of the key')
  })
})

describe('a master key', () => {
  test('belongs to no application until x-application-id chooses one', async () => {
    const { body: every } = await access(app.master)
    assert.equal(every.type, 'master')
    assert.equal(every.application, null)
    const { body: one } = await access(app.master, { 'x-application-id': tenant.id.toUpperCase() })
    assert.deepEqual(one.application, { id: tenant.id, name: 'Harbour' })
  })

  test('that chooses an application that is not there is told so', async () => {
    const { status, body } = await access(app.master, { 'x-application-id': randomUUID() })
    assert.equal(status, 400)
    assert.equal(body.errors[0].path, 'header/x-application-id')
    assert.match(body.errors[0].message, /must be the id of an application/)
  })
})

describe('an access token', () => {
  test('alone shows its user and the key it stands for, and ends when the token does', async () => {
    const user = await app.user(tenant.id)
    const url = `/api/v1/auth/users/${user.id}/metadata/auth.defaultApiKey`
    await app.call('PUT', url, { body: tenant.public })
    const { headers } = await app.login(user)
    const { body, text } = await access(null, headers)
    assert.deepEqual(body.application, { id: tenant.id, name: 'Harbour' })
    assert.equal(body.type, 'app')
    assert.deepEqual(body.permissions, publicPermissions)
    assert.equal(body.user.id, user.id)
    const lifeMs = Date.parse(body.expiresAt) - Date.now()
    assert.ok(lifeMs > 0 && lifeMs <= 900_000, body.expiresAt)
    assert.ok(!text.includes(tenant.public))
  })

  test('with a key shows the user, and what the key may do', async () => {
    const user = await app.user(tenant.id)
    const { headers } = await app.login(user)
    const { body } = await access(tenant.developer, headers)
    assert.equal(body.user.email, user.email)
    assert.deepEqual(body.permissions, { '*': { '*': '*' } })
    assert.equal(body.expiresAt, null)
  })
})
