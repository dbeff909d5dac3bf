import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'

// One database is enough: contract.test.ts replaces every resource on both; what a body leaves out is filled in in memory.

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('replaced')
})
after(() => app.close())

const style = { version: 8, sources: {}, layers: [] }

/**
 * Records in which every field has another value than its default. `required` is what SPEC.md marks so, as far as clients write
 * it; `optional` is what the rest goes back to.
 */
const records: Record<string, { body: object; required: string[]; optional?: object }> = {
  '/api/v1/applications': {
    body: { name: 'a', description: 'b', contact: 'a@b.example' },
    required: ['name', 'description', 'contact'],
  },
  '/api/v1/databases': {
    body: {
      type: 'postgres',
      name: 'a',
      description: 'b',
      host: 'db.example.org',
      port: 6543,
      user: 'c',
      password: 'secret',
      db: 'd',
      default: true,
    },
    required: ['type', 'name', 'description', 'host', 'port', 'user', 'passwordSet', 'db', 'default'],
  },
  '/api/v1/datasets': {
    body: {
      type: 'sql',
      source: 'SELECT 1 AS one',
      name: 'a',
      description: 'b',
      databaseId: '~second~',
      ownerId: '~user~',
    },
    required: ['type', 'source', 'name', 'description', 'databaseId'],
    optional: { ownerId: null },
  },
  '/api/v1/queries': {
    body: { name: 'a', description: 'b', sql: 'SELECT 1 AS one', databaseId: '~second~' },
    required: ['name', 'description', 'sql'],
    optional: { databaseId: null },
  },
  '/api/v1/styles': {
    body: { name: 'a', description: 'b', type: 'plain', style },
    required: ['name', 'description', 'type', 'style'],
  },
  '/api/v1/tilesources': {
    body: {
      type: 'tilelive',
      source: 'https://tiles.example.org/{z}/{x}/{y}.png',
      name: 'a',
      attribution: 'b',
      minZoom: 2,
      maxZoom: 9,
      extentLngLat: [1, 2, 3, 4],
      headers: { 'cache-control': 'no-cache' },
    },
    required: ['type', 'source', 'attribution', 'minZoom', 'maxZoom', 'extentLngLat', 'headers'],
    optional: { name: '' },
  },
  '/api/v1/auth/roles': {
    body: { name: 'a', description: 'b', permissions: { styles: { read: '*' } } },
    required: ['name', 'description'],
    optional: { permissions: null },
  },
  '/api/v1/auth/providers': {
    body: {
      name: 'a',
      issuer: 'https://login.example.org',
      clientId: 'maps',
      clientSecret: 'secret',
      scopes: ['openid'],
      mapping: { roles: 'groups' },
      emailDomains: ['example.org'],
      createsUsers: true,
      linksUsers: true,
      secondFactor: 'trusted',
      acceptsTokens: true,
      audience: 'maps-api',
      enabled: false,
    },
    required: ['name', 'issuer', 'clientId', 'clientSecretSet'],
    optional: {
      scopes: ['openid', 'profile', 'email'],
      mapping: {},
      emailDomains: [],
      createsUsers: false,
      linksUsers: false,
      secondFactor: 'demanded',
      acceptsTokens: false,
      audience: null,
      enabled: true,
    },
  },
  '/api/v1/auth/users': {
    body: {
      email: 'a@b.example',
      firstName: 'a',
      lastName: 'b',
      password: 'nine Bernoulli numbers',
      roles: ['c'],
      emailVerified: false,
      enabled: false,
    },
    required: ['email', 'firstName', 'lastName', 'roles', 'emailVerified', 'enabled'],
  },
}

/** These are replaced as a whole; and a configuration has nothing but itself. */
const others = ['/api/v1/agents', '/api/v1/contactpoints', '/api/v1/appconfig']

test('every resource that can be replaced is tried', () => {
  const replaced = app.operations.filter(({ method, path }) => method === 'PUT' && path.endsWith('/{id}'))
  const paths = [...new Set(replaced.map(({ path }) => path.replace('/{id}', '')))].sort()
  assert.deepEqual(paths, [...Object.keys(records), ...others].sort())
})

async function make(path: string, body: object) {
  const key = path.endsWith('/applications') ? app.master : tenant.developer
  const reply = await app.call('POST', path, { key, raw: JSON.stringify(body) })
  assert.equal(reply.status, 201, reply.text)
  return { url: `${path}/${reply.body.id}`, made: reply.body, key }
}

/** The body with the ids of records that it needs. */
async function filledIn(body: object): Promise<object> {
  const text = JSON.stringify(body)
  const second = text.includes('~second~')
    ? (await make('/api/v1/databases', { type: 'internal', name: 'Second' })).made.id
    : ''
  const user = text.includes('~user~') ? (await app.user(tenant.id)).id : ''
  return JSON.parse(text.replace('~second~', second).replace('"~user~"', user))
}

describe('PUT', () => {
  for (const [path, { body, required, optional = {} }] of Object.entries(records)) {
    test(`${path} without fields that every record has keeps them; optional ones go back to their defaults`, async () => {
      const { url, made, key } = await make(path, { ...(await filledIn(body)), metadata: { kept: true } })
      const { status, body: replaced, text } = await app.call('PUT', url, { key, body: {} })
      assert.equal(status, 200, text)
      for (const name of [...required, 'metadata']) assert.deepEqual(replaced[name], made[name], name)
      for (const [name, value] of Object.entries(optional)) assert.deepEqual(replaced[name], value, name)
      const spoken = new Set([...required, ...Object.keys(optional), 'password', 'clientSecret'])
      assert.deepEqual(
        Object.keys(body).filter((name) => !spoken.has(name)),
        [],
        'every field is one or the other',
      )
    })

    test(`${path} of one field changes that and nothing else that is required`, async () => {
      const [name] = required.includes('name')
        ? ['name']
        : ['attribution', 'firstName'].filter((one) => required.includes(one))
      const { url, made, key } = await make(path, changed(await filledIn(body)))
      const { body: replaced } = await app.call('PUT', url, { key, body: { [String(name)]: 'x' } })
      for (const field of required) assert.deepEqual(replaced[field], field === name ? 'x' : made[field], field)
    })
  }
})

const changed = (body: object): object => ({
  ...body,
  ...('email' in body && { email: 'c@d.example' }),
  ...('name' in body && { name: 'c' }),
})
