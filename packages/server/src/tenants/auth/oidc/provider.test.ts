import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { claimAt, readProfile } from './claim-mapping.ts'

// One database is enough: contract.test.ts asks both for its records; this is about what they may say.

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('providers')
})
after(() => app.close())

const providers = '/api/v1/auth/providers'
const example = { name: 'Office', issuer: 'https://login.example.org', clientId: 'maps' }
const make = (fields: object, key = tenant.developer) =>
  app.call('POST', providers, { key, body: { ...example, ...fields } })

test('a provider that could never work, or not safely, is refused with the place of the fault', async () => {
  const cases: readonly [object, string][] = [
    [{ issuer: 'http://login.example.org' }, 'body/issuer'],
    [{ issuer: 'https://login.example.org?x=1' }, 'body/issuer'],
    [{ issuer: 'https://a:b@login.example.org' }, 'body/issuer'],
    [{ issuer: 'https://login.example.org/.well-known/openid-configuration' }, 'body/issuer'],
    [{ issuer: 'login.example.org' }, 'body/issuer'],
    [{ scopes: ['profile'] }, 'body/scopes'],
    [{ scopes: ['openid', 'openid'] }, 'body/scopes'],
    [{ emailDomains: ['@example.org'] }, 'body/emailDomains/0'],
    [{ emailDomains: ['Example.org'] }, 'body/emailDomains/0'],
    [{ acceptsTokens: true }, 'body/audience'],
    [{ acceptsTokens: true, audience: 'maps' }, 'body/audience'],
    [{ mapping: { metadata: { auth: 'anything' } } }, 'body/mapping/metadata'],
    [{ mapping: { nickname: 'x' } }, 'body/mapping'],
    [{ secondFactor: 'none' }, 'body/secondFactor'],
  ]
  for (const [fields, path] of cases) {
    const answer = await make(fields)
    assert.equal(answer.status, 400, JSON.stringify(fields))
    assert.ok(answer.body.errors[0].path.startsWith(path), answer.text)
  }
  assert.equal((await make({ issuer: 'http://localhost:9000' })).status, 201, 'to try it on one machine')
})

test('the secret is never shown, stays where it is not said, and goes with null', async () => {
  const { body } = await make({ clientSecret: 'never to be seen' })
  const url = `${providers}/${body.id}`
  const call = (method: string, change: object) => app.call(method, url, { key: tenant.developer, body: change })
  for (const answer of [await call('PATCH', { name: 'A' }), await call('PUT', { ...example, name: 'B' })])
    assert.deepEqual([answer.status, answer.body.clientSecretSet], [200, true], answer.text)
  const listed = await app.call('GET', providers, { key: tenant.developer })
  assert.doesNotMatch(listed.text, /never to be seen|"clientSecret"/)
  assert.equal((await call('PATCH', { clientSecret: null })).body.clientSecretSet, false)
  const moved = await call('PATCH', { issuer: 'https://other.example.org' })
  assert.deepEqual([moved.status, moved.body.errors[0].path], [400, 'body/issuer'])
})

test('a provider is written only by keys that can do all that its users will', async () => {
  const weak = await app.key(tenant.id, { users: { read: '*', write: '*' } })
  assert.equal((await make({}, weak)).status, 201, 'tokens stand for no key yet')
  const auth = { defaultApiKey: tenant.developer }
  await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, { body: auth })
  assert.equal((await make({}, weak)).status, 401)
  const { body } = await make({})
  const change = { key: weak, body: { linksUsers: true } }
  assert.equal((await app.call('PATCH', `${providers}/${body.id}`, change)).status, 401)
  assert.equal((await make({}, tenant.public)).status, 401)
})

test('claims are found by their names, also in others, and never on a prototype', () => {
  const claims = { 'https://a.example/roles': ['x'], realm: { roles: ['y'] }, 'realm.roles': 'z' }
  assert.deepEqual(claimAt(claims, 'https://a.example/roles'), ['x'])
  assert.equal(claimAt(claims, 'realm.roles'), 'z', 'its own name comes first')
  assert.deepEqual(claimAt({ realm: { roles: ['y'] } }, 'realm.roles'), ['y'])
  for (const name of ['constructor', '__proto__', 'realm.constructor.name', 'toString', 'realm.roles.length'])
    assert.equal(claimAt({ realm: {} }, name), undefined, name)
})

test('what is kept of claims is bounded, whatever a provider sends', () => {
  const mapping = { roles: 'roles', claims: { text: 'text', list: 'list', object: 'object', number: 'number' } }
  const many = Array.from({ length: 5_000 }, (_, n) => `role ${n}`)
  const { roles, claims, firstName } = readProfile(mapping, 'x', {
    roles: [...many, { a: 1 }, 'x'.repeat(10_000)],
    text: 'x'.repeat(2_000),
    list: many,
    object: { a: 1 },
    number: 7,
    given_name: `A\0${'d'.repeat(1_000)}\ud800`,
  })
  assert.equal(roles?.length, 200)
  assert.deepEqual(claims, { number: 7 })
  assert.equal(firstName?.length, 255)
  assert.ok(firstName.startsWith('Ad'))
  const names = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`c${n}`, 'text']))
  const whole = readProfile({ claims: names }, 'x', { text: 'x'.repeat(1_000) })
  assert.ok(JSON.stringify(whole.claims).length < 9_000)
})
