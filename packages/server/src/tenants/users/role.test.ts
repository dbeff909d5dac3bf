import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { type Tenant, type TestApp, type TestUser, testApp } from '../../../testing/harness.ts'
import { type Permissions, resolveGrant, unionOfGrants } from '../../api/access/grants.ts'
import { createRevocation } from '../../api/access/revocation.ts'

// Roles: what they grant the tokens of their users, and who may write them and give them.

let app: TestApp
let tenant: Tenant
/** May write users, keys and the application's metadata, and nothing else. */
let clerk: string
before(async () => {
  app = await testApp()
})
beforeEach(async () => {
  tenant = await app.tenant('roles')
  clerk = await app.key(tenant.id, {
    users: { '*': '*' },
    apikeys: { '*': '*' },
    applications: { '*': '*' },
    auth: { '*': '*' },
  })
})
after(() => app.close())

const path = '/api/v1/auth/roles'
const mapsOnly: Permissions = { styles: { read: '*' } }
const editor: Permissions = { datasets: { read: '*', write: '*' } }

const call = (method: string, url: string, body?: unknown, key = tenant.developer) =>
  app.call(method, url, { key, ...(body !== undefined && { body }) })
async function declare(name: string, permissions: Permissions | null = editor): Promise<string> {
  const reply = await call('POST', path, { name, permissions })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}
async function member(roles: string[], permissions: Permissions = mapsOnly): Promise<TestUser> {
  const defaultApiKey = await app.key(tenant.id, permissions)
  return app.user(tenant.id, { roles, metadata: { auth: { defaultApiKey } } })
}
const tokenOf = async (user: TestUser) => (await app.login(user)).headers
const asUser = (headers: Record<string, string>, method: string, url: string, body?: unknown) =>
  app.call(method, url, { key: null, headers, ...(body !== undefined && { body }) })

describe('a role', () => {
  test('grants the tokens of its users what the key behind them does not, until it is changed or taken', async () => {
    const id = await declare('editor')
    const user = await member(['editor', 'a name that nobody declared'])
    const headers = await tokenOf(user)
    const status = async (url: string) => (await asUser(headers, 'GET', url)).status
    assert.deepEqual(
      [await status('/api/v1/styles'), await status('/api/v1/datasets'), await status('/api/v1/databases')],
      [200, 200, 401],
    )
    const style = await asUser(headers, 'POST', '/api/v1/styles', { name: 'x', spec: {} })
    assert.equal(style.status, 401, 'neither grants it')
    assert.equal(
      (await call('PATCH', `${path}/${id}`, { permissions: { datasets: null, databases: { read: '*' } } })).status,
      200,
    )
    assert.deepEqual([await status('/api/v1/datasets'), await status('/api/v1/databases')], [401, 200])
    assert.equal((await call('PATCH', `/api/v1/auth/users/${user.id}`, { roles: [] })).status, 200)
    assert.deepEqual([await status('/api/v1/styles'), await status('/api/v1/databases')], [200, 401])
    await call('PATCH', `/api/v1/auth/users/${user.id}`, { roles: ['editor'] })
    assert.equal(await status('/api/v1/databases'), 200)
    assert.equal((await call('DELETE', `${path}/${id}`)).status, 200)
    assert.equal(await status('/api/v1/databases'), 401)
  })

  test('adds nothing to a key that is sent with the token, nor in another application', async () => {
    await declare('editor')
    const headers = await tokenOf(await member(['editor']))
    const key = await app.key(tenant.id, mapsOnly)
    assert.equal((await app.call('GET', '/api/v1/datasets', { key, headers })).status, 401)
    const other = await app.tenant('other')
    const defaultApiKey = await app.key(other.id, mapsOnly)
    const stranger = await app.user(other.id, { roles: ['editor'], metadata: { auth: { defaultApiKey } } })
    assert.equal((await asUser(await tokenOf(stranger), 'GET', '/api/v1/datasets')).status, 401)
  })

  test('is named in the access token, also in a refreshed one, unless the names are too long', async () => {
    const user = await member(['editor', 'clerk'])
    const login = await app.login(user)
    const rolesIn = (token: string) => decodeJwt(token).roles
    assert.deepEqual(rolesIn(login.headers.authorization.slice(7)), ['editor', 'clerk'])
    await call('PATCH', `/api/v1/auth/users/${user.id}`, {
      roles: ['x'.repeat(255), 'y'.repeat(255), 'z'.repeat(255), 'a'.repeat(255)],
    })
    const again = await app.login(user)
    assert.equal(rolesIn(again.headers.authorization.slice(7)), undefined)
  })

  test('has a name of its own in its application, and permissions of known classes', async () => {
    await declare('editor')
    const again = await call('POST', path, { name: 'editor' })
    assert.deepEqual([again.status, again.body.errors[0].path], [409, 'body/name'])
    const unknown = await call('POST', path, { name: 'b', permissions: { dataset: { read: '*' } } })
    assert.deepEqual([unknown.status, unknown.body.errors[0].path], [400, 'body/permissions/dataset'])
    assert.equal((await call('POST', path, { name: '' })).status, 400)
    const listed = await call('GET', `${path}?filter[name]=editor`)
    assert.deepEqual(listed.body[0].permissions, editor)
  })

  test('that grants something else ends what is open by it', async (context) => {
    const id = await declare('editor')
    const headers = await tokenOf(await member(['editor']))
    const bearer = await app.services.bearers.find(headers.authorization.slice(7))
    const key = await bearer?.key()
    assert.ok(bearer && key?.roleGrants)
    const caller = { ...key, keyExpiresAt: null, everyApplication: false, bearer: bearer.bearer }
    const revocation = createRevocation({ db: app.db, onError: assert.ifError })
    context.after(() => revocation.close())
    assert.equal(await revocation.check(caller), undefined)
    await call('PATCH', `${path}/${id}`, { description: 'Still the same' })
    assert.equal(await revocation.check(caller), undefined)
    await call('PATCH', `${path}/${id}`, { permissions: { styles: { write: '*' } } })
    assert.equal((await revocation.check(caller))?.status, 401)
  })
})

describe('whoever can do less than a role grants', () => {
  test('can neither write it nor give or take it', async () => {
    const id = await declare('editor')
    const free = await declare('guest', null)
    const user = await member([])
    const status = async (method: string, url: string, body?: unknown) => (await call(method, url, body, clerk)).status
    const users = '/api/v1/auth/users'
    assert.equal(await status('POST', path, { name: 'b', permissions: editor }), 401)
    assert.equal(await status('POST', path, { name: 'b', permissions: { users: { read: '*' } } }), 201)
    assert.equal(await status('PATCH', `${path}/${free}`, { permissions: editor }), 401)
    assert.equal(await status('PATCH', `${path}/${free}`, { description: 'For guests' }), 200)
    assert.equal(await status('PATCH', `${path}/${id}`, { name: 'guest 2' }), 401)
    assert.equal(await status('DELETE', `${path}/${id}`), 401)
    assert.equal(await status('DELETE', `${path}/${free}`), 200)
    const given = { roles: ['editor'], email: 'b@example.org', password: 'nine Bernoulli numbers' }
    assert.equal(await status('POST', users, given), 401)
    assert.equal(await status('PATCH', `${users}/${user.id}`, { roles: ['editor'] }), 401)
    assert.equal(await status('PATCH', `${users}/${user.id}`, { roles: ['guest', 'undeclared'] }), 200)
    const holder = await member(['editor'])
    assert.equal(await status('PATCH', `${users}/${holder.id}`, { roles: [] }), 401)
    assert.equal(await status('PATCH', `${users}/${holder.id}`, { firstName: 'Ada', roles: ['editor'] }), 200)
  })

  test('cannot take over a user who has it', async () => {
    await declare('editor')
    const { id } = await member(['editor'], { users: { read: '*' } })
    const status = async (method: string, body?: unknown) =>
      (await call(method, `/api/v1/auth/users/${id}`, body, clerk)).status
    assert.equal(await status('PATCH', { password: 'nine Bernoulli numbers' }), 401)
    assert.equal(await status('PATCH', { email: 'mine@example.org' }), 401)
    assert.equal(await status('PATCH', { password: 'nine Bernoulli numbers', roles: [] }), 401)
    assert.equal(await status('DELETE'), 401)
    const key = { type: 'user', userId: id, permissions: {} }
    assert.equal((await call('POST', '/api/v1/apikeys', key, clerk)).status, 401)
    const provider = { name: 'x', issuer: 'https://login.example.org', clientId: 'maps' }
    assert.equal((await call('POST', '/api/v1/auth/providers', provider, clerk)).status, 401)
    const metadata = await call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, { redirectUrls: [] }, clerk)
    assert.equal(metadata.status, 401, metadata.text)
  })
})

test('the union of ACLs grants what one of them grants, class by class, and nothing else', () => {
  const one: Permissions = { '*': { read: '*' }, users: { read: [] }, datasets: { write: ['a'], read: ['c'] } }
  const two: Permissions = { datasets: { read: ['b'], append: ['d'] }, tiles: { '*': '*' } }
  const both = unionOfGrants([one, two])
  const granted = (aclClass: string, level: string) => resolveGrant(both, aclClass, level)
  assert.deepEqual(granted('datasets', 'read'), ['c', 'b'])
  assert.deepEqual(granted('datasets', 'append'), ['a', 'd'])
  assert.deepEqual(granted('datasets', 'write'), ['a'])
  assert.deepEqual([granted('users', 'read'), granted('users', 'write')], [[], []])
  assert.deepEqual(
    [granted('styles', 'read'), granted('styles', 'write'), granted('tiles', 'execute')],
    ['any', [], 'any'],
  )
  assert.deepEqual([granted('of tomorrow', 'read'), granted('of tomorrow', 'write')], ['any', []])
})
