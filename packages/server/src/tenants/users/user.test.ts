import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { sql } from '../../kernel/db/sql.ts'

// One database is enough: contract.test.ts makes, reads and deletes users on both.

let app: TestApp
let tenant: Tenant
let other: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('people')
  other = await app.tenant('other people')
})
after(() => app.close())

const path = '/api/v1/auth/users'
const me = `${path}/me`
const create = (body: object, key = tenant.developer) => app.call('POST', path, { key, body })
const status = async (method: string, url: string, request: Parameters<TestApp['call']>[2]) =>
  (await app.call(method, url, request)).status

describe('a user', () => {
  test('has a random number, as text in id and as a number where others name it; both are taken', async () => {
    const { body } = await create({ email: 'number@x.org' })
    assert.match(body.id, /^[1-9]\d{0,15}$/)
    assert.ok(Number.isSafeInteger(Number(body.id)))
    for (const userId of [body.id, Number(body.id)]) {
      const key = { type: 'user', permissions: {}, userId }
      const minted = await app.call('POST', '/api/v1/apikeys', { key: tenant.developer, body: key })
      assert.equal(minted.body.userId, Number(body.id))
      const joined = await app.call('GET', `/api/v1/apikeys/${minted.body.id}?join=user`, { key: tenant.developer })
      assert.equal(joined.body.user.email, 'number@x.org')
      const dataset = { type: 'sql', name: 'one', source: 'SELECT 1 AS one', ownerId: userId }
      const made = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body: dataset })
      assert.equal(made.body.ownerId, Number(body.id), made.text)
      const owned = await app.call('GET', `/api/v1/datasets/${made.body.id}?join=owner`, { key: tenant.developer })
      assert.equal(owned.body.owner.id, body.id)
    }
    for (const id of [`0${body.id}`, `${body.id}.0`, '1e3', '-1', '9007199254740993']) {
      assert.equal(await status('GET', `${path}/${id}`, { key: tenant.developer }), 404, id)
    }
  })

  test('that another application has, or that the caller may not read, cannot be named', async () => {
    const foreign = await app.user(other.id)
    const own = await app.user(tenant.id)
    const blind = await app.key(tenant.id, { '*': { '*': '*' }, users: { '*': [] } })
    for (const [key, ownerId] of [
      [tenant.developer, foreign.id],
      [tenant.developer, 12345],
      [blind, own.id],
    ] as const) {
      const dataset = { type: 'sql', name: 'one', source: 'SELECT 1 AS one', ownerId }
      assert.equal(await status('POST', '/api/v1/datasets', { key, body: dataset }), 400)
      const minted = { type: 'user', permissions: {}, userId: ownerId }
      assert.equal(await status('POST', '/api/v1/apikeys', { key, body: minted }), 400)
    }
  })

  test('has an address of its own in its application, whatever the case of its letters', async () => {
    assert.equal((await create({ email: 'Grace@X.org' })).body.email, 'Grace@X.org')
    const twice = await create({ email: 'gRACE@x.ORG' })
    assert.deepEqual([twice.status, twice.body.errors[0]?.path], [409, 'body/email'])
    assert.equal((await create({ email: 'grace@x.org' }, other.developer)).status, 201)
    for (const email of [
      'nobody',
      'a@b@c',
      'a\r\nBcc: b@x.org',
      'a b@x.org',
      '<a@x.org>',
      '',
      `${'a'.repeat(400)}@x`,
    ]) {
      assert.equal((await create({ email })).status, 400, email)
    }
  })

  test('is found and sorted by its address whatever the case of its letters, and shown as it was typed', async () => {
    const { id, developer } = await app.tenant('cases')
    for (const email of ['b@x.org', 'A@X.org', 'C_d@x.org', 'É@x.org']) await app.user(id, { email })
    const list = async (query: string) =>
      (await app.call('GET', `${path}?${query}`, { key: developer })).body.map(({ email }: { email: string }) => email)
    assert.deepEqual(await list('sort=email'), ['A@X.org', 'b@x.org', 'C_d@x.org', 'É@x.org'])
    assert.deepEqual(await list('sort=-email&limit=3'), ['É@x.org', 'C_d@x.org', 'b@x.org'])
    for (const [query, found] of [
      ['filter[email]=a@x.ORG', ['A@X.org']],
      ['filter[email]=É@X.org', ['É@x.org']],
      ['filter[email]=é@x.org', []],
      ['filter[email][$in]=B@x.org,a@x.org', ['A@X.org', 'b@x.org']],
      ['filter[email][$ne]=B@X.ORG', ['A@X.org', 'C_d@x.org', 'É@x.org']],
      ['filter[email][$notIn]=B@X.ORG,a@x.org', ['C_d@x.org', 'É@x.org']],
      ['filter[email][$like]=c\\_D%25', ['C_d@x.org']],
      ['filter[email][$startsWith]=a', ['A@X.org']],
      ['filter[email][$iLike]=B%25', ['b@x.org']],
      ['filter[email][$lt]=B@x.org', ['A@X.org']],
      ['filter[email][$between]=a,B@X.ORG', ['A@X.org', 'b@x.org']],
      ['filter[$or][0][email]=B@x.org&filter[$or][1][email][$endsWith]=D@X.ORG', ['b@x.org', 'C_d@x.org']],
      ['filter[$not][email]=A@X.ORG', ['b@x.org', 'C_d@x.org', 'É@x.org']],
    ] as const) {
      assert.deepEqual(await list(`${query}&sort=email`), found, query)
    }
  })

  test('is stored with a hash of its password that makes guessing expensive', async () => {
    // Not the server of the other tests, which hashes quickly.
    const { http } = await app.replica()
    const payload = { email: 'hashed@x.org', password: 'kept to oneself' }
    const { statusCode } = await http.inject({
      method: 'POST',
      url: path,
      headers: { 'x-api-key': tenant.developer },
      payload,
    })
    assert.equal(statusCode, 201)
    const [row] = await app.db.query(sql`SELECT password FROM svc.users WHERE email = 'hashed@x.org'`)
    assert.match(String(row?.password), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })

  test('keeps its password to itself, also from filters', async () => {
    const password = 'kept to oneself'
    const { body, text } = await create({ email: 'secret@x.org', password })
    assert.ok(!text.includes(password) && !('password' in body))
    const [row] = await app.db.query(sql`SELECT u::text AS text FROM svc.users u WHERE email = 'secret@x.org'`)
    assert.ok(!String(row?.text).includes(password))
    assert.match(String(row?.text), /\$argon2id\$v=19\$/)
    for (const name of ['password', 'verificationToken', 'passwordResetToken', 'pendingPassword', 'emailKey']) {
      for (const query of [`filter[${name}][$like]=a%25`, `sort=${name}`]) {
        assert.equal(await status('GET', `${path}?${query}`, { key: tenant.developer }), 400, query)
      }
    }
    assert.equal(await status('GET', `${path}?fields=password`, { key: tenant.developer }), 400)
  })

  test('cannot have a weak password', async () => {
    for (const password of ['short', '1234567', 'password1', 'Passw0rd!', 'aaaaaaaaaa', '12345678', 'x'.repeat(257)]) {
      const reply = await create({ email: 'weak@x.org', password })
      assert.deepEqual([reply.status, reply.body.code], [400, 'weak_password'], password)
    }
    assert.equal((await create({ email: 'strong@x.org', password: 'ö'.repeat(4) + 'kräuter'.repeat(30) })).status, 201)
  })

  test('keeps what PUT does not mention', async () => {
    const { id, email, password, applicationId } = await app.user(tenant.id, { roles: ['editor'], firstName: 'Ada' })
    const reply = await app.call('PUT', `${path}/${id}`, { key: tenant.developer, body: { lastName: 'L' } })
    assert.deepEqual(
      [reply.body.email, reply.body.firstName, reply.body.lastName, reply.body.roles, reply.body.emailVerified],
      [email, 'Ada', 'L', ['editor'], true],
    )
    await app.login({ email, password, applicationId })
  })
})

describe('one-time tokens', () => {
  const reset = (email: string, applicationId: string) =>
    app.call('POST', '/api/v1/auth/requestpasswordreset', {
      key: null,
      body: { email, applicationId, redirectUrl: 'http://localhost:3000/reset' },
    })

  test('are read by those who may change the user, and are empty for everybody else, joined ones too', async () => {
    const user = await app.user(tenant.id)
    const reader = await app.key(tenant.id, { '*': { read: '*', execute: '*' }, users: { read: '*', write: ['1'] } })
    const writer = await app.key(tenant.id, { users: { read: '*', write: [user.id] } })
    assert.equal((await reset(user.email, tenant.id)).status, 204)
    const seenBy = async (key: string) => (await app.call('GET', `${path}/${user.id}`, { key })).body.passwordResetToken
    assert.match(await seenBy(tenant.developer), /^[\w-]{43}$/)
    assert.match(await seenBy(writer), /^[\w-]{43}$/)
    assert.equal(await seenBy(reader), '')
    assert.equal(await seenBy(tenant.reader), '')
    const list = await app.call('GET', path, { key: tenant.reader })
    assert.ok(list.body.every((row: { passwordResetToken: string }) => row.passwordResetToken === ''))
    const dataset = { type: 'sql', name: 'one', source: 'SELECT 1 AS one', ownerId: user.id }
    const { id } = (await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body: dataset })).body
    const joined = await app.call('GET', `/api/v1/datasets/${id}?join=owner`, { key: tenant.reader })
    assert.deepEqual([joined.body.owner.id, joined.body.owner.passwordResetToken], [user.id, ''])
  })

  test('are not in the database as they are', async () => {
    const user = await app.user(tenant.id)
    await reset(user.email, tenant.id)
    const { passwordResetToken } = (await app.call('GET', `${path}/${user.id}`)).body
    const rows = await app.db.query(sql`SELECT u::text AS text FROM svc.users u`)
    assert.ok(passwordResetToken && rows.every(({ text }) => !String(text).includes(passwordResetToken)))
  })
})

describe('metadata.auth', () => {
  const application = () => `/api/v1/applications/${tenant.id}`

  test('is seen by keys that can do all that its key can, and by no bearer', async () => {
    const body = { auth: { defaultApiKey: tenant.developer, redirectUrls: ['https://x.org/'] }, colour: 'red' }
    assert.equal(await status('PUT', `${application()}/metadata`, { key: tenant.developer, body }), 200)
    const user = await app.user(tenant.id, { metadata: { auth: { defaultApiKey: tenant.developer } } })
    const { headers } = await app.login(user)
    const record = `${path}/${user.id}`
    for (const url of [application(), record]) {
      const seen = async (request: object) => (await app.call('GET', url, request)).body.metadata.auth?.defaultApiKey
      assert.equal(await seen({}), tenant.developer)
      assert.equal(await seen({ key: tenant.developer }), tenant.developer)
      assert.equal(await seen({ key: tenant.reader }), undefined)
      assert.equal(await seen({ key: null, headers }), undefined)
      assert.equal(await seen({ key: tenant.developer, headers }), undefined, 'a token with the key')
      for (const request of [{ key: tenant.reader }, { key: null, headers }]) {
        assert.equal((await app.call('GET', `${url}/metadata`, request)).body.auth, undefined)
        assert.equal(await status('GET', `${url}/metadata/auth.defaultApiKey`, request), 404)
        const list = await app.call('GET', `${url.split('/').slice(0, -1).join('/')}?join=application`, request)
        assert.ok(!list.text.includes(tenant.developer))
      }
    }
    const guess = `filter[metadata][$contains]=${encodeURIComponent(JSON.stringify(body))}`
    const found = async (key: string) => (await app.call('GET', `/api/v1/applications?${guess}`, { key })).body.length
    assert.equal(await found(tenant.developer), 1)
    assert.equal(await found(tenant.reader), 0, 'and no filter tells it')
  })

  test('stays when somebody writes who cannot see it, and is refused from such', async () => {
    const weak = await app.key(tenant.id, { users: { '*': '*' } })
    const { id } = await app.user(tenant.id, { metadata: { auth: { defaultApiKey: tenant.developer }, a: 1 } })
    const kept = async () => (await app.call('GET', `${path}/${id}`)).body.metadata
    const write = (method: string, place: string, body: unknown, key = weak) =>
      status(method, `${path}/${id}${place}`, { key, body })
    assert.equal(await write('PUT', '', { metadata: { b: 2 } }), 200)
    assert.deepEqual(await kept(), { b: 2, auth: { defaultApiKey: tenant.developer } })
    assert.equal(await write('PUT', '/metadata', { c: 3 }), 200)
    assert.equal(await write('PUT', '/metadata', { auth: {} }), 401)
    assert.equal(await write('PUT', '/metadata/auth', {}), 401)
    assert.equal(await write('PUT', '/metadata/auth.signup', {}), 401)
    assert.equal(await write('PUT', '', { metadata: { auth: { defaultApiKey: weak } } }), 401)
    assert.equal(await write('PATCH', '', { metadata: { auth: { defaultApiKey: weak } } }), 401)
    assert.equal(await write('PATCH', '', { metadata: { auth: null } }), 200)
    assert.equal(await status('DELETE', `${path}/${id}/metadata/auth`, { key: weak }), 404)
    assert.deepEqual((await kept()).auth, { defaultApiKey: tenant.developer })
    assert.equal(await status('DELETE', `${path}/${id}/metadata/auth`, { key: tenant.developer }), 200)
    assert.equal((await kept()).auth, undefined)
    assert.equal(await write('PUT', '/metadata/auth.defaultApiKey', weak), 401, 'the application’s is greater too')
    assert.equal(await status('DELETE', `${application()}/metadata/auth`, { key: tenant.developer }), 200)
    assert.equal(await write('PUT', '/metadata/auth.defaultApiKey', weak), 200)
    assert.equal(await write('PUT', '/metadata/auth.defaultApiKey', tenant.developer), 401)
  })

  test('is merged by PUT of the key: members that the body does not name stay', async () => {
    const user = await app.user(other.id, { metadata: { auth: { defaultApiKey: other.public, a: { b: 1 } }, c: 1 } })
    for (const url of [`/api/v1/applications/${other.id}/metadata`, `${path}/${user.id}/metadata`]) {
      const put = async (place: string, body: unknown) =>
        (await app.call('PUT', `${url}/${place}`, { key: other.developer, body })).body.auth
      await put('auth', { defaultApiKey: other.public, a: { b: 1 } })
      assert.deepEqual(await put('auth', { d: 2 }), { defaultApiKey: other.public, a: { b: 1 }, d: 2 })
      assert.deepEqual(await put('auth', { a: { e: 1 } }), { defaultApiKey: other.public, a: { e: 1 }, d: 2 })
      assert.deepEqual(await put('auth.a', { f: 1 }), { defaultApiKey: other.public, a: { f: 1 }, d: 2 })
      assert.equal((await app.call('DELETE', `${url}/auth`, { key: other.developer })).body.auth, undefined)
    }
  })

  test('cannot be guessed: whoever does not see it is refused also when right', async () => {
    const auth = { defaultApiKey: tenant.developer, hint: 'yes' }
    const weak = await app.key(tenant.id, { users: { '*': '*' } })
    const { id } = await app.user(tenant.id, { metadata: { auth } })
    for (const [place, body] of [
      ['/metadata', { auth }],
      ['/metadata/auth', auth],
      ['/metadata/auth', {}],
      ['/metadata/auth.hint', 'yes'],
      ['', { metadata: { auth } }],
    ] as const) {
      assert.equal(await status('PUT', `${path}/${id}${place}`, { key: weak, body }), 401, place)
      assert.equal(await status('PUT', `${path}/${id}${place}`, { key: tenant.developer, body }), 200, place)
    }
  })

  test('names a key of the same application only, and no master key', async () => {
    for (const id of [other.public, app.master, 'nonsense', 5, {}, '00000000-0000-4000-8000-000000000000']) {
      const body = { email: 'deputy@x.org', metadata: { auth: { defaultApiKey: id } } }
      assert.equal((await create(body)).status, 400, String(id))
      assert.equal((await create({ ...body, applicationId: tenant.id }, app.master)).status, 400, String(id))
    }
  })

  test('that names a key which is gone, foreign or a master key is passed over for the next', async () => {
    const user = await app.user(tenant.id)
    const { headers } = await app.login(user)
    const use = async (ofUser: string, ofApplication: string) => {
      // Past the checks of the interface, as a restored copy of the database could have it.
      await app.db.query(sql`
        UPDATE svc.users SET metadata = jsonb_build_object('auth', jsonb_build_object('defaultApiKey', ${ofUser}::text))
        WHERE id = ${Number(user.id)}`)
      const key = await app.call('PUT', `${application()}/metadata/auth`, { body: { defaultApiKey: ofApplication } })
      assert.equal(key.status, 200, key.text)
      return status('GET', me, { key: null, headers })
    }
    const gone = await app.key(tenant.id, { '*': { '*': '*' } })
    await app.call('DELETE', `/api/v1/apikeys/${gone}`)
    for (const id of [gone, other.developer, app.master, 'nonsense']) assert.equal(await use(id, tenant.public), 200)
    const noAuth = await app.key(tenant.id, { styles: { read: '*' } })
    assert.equal(await use(tenant.public, noAuth), 200, 'the user’s comes first')
    assert.equal(await use(noAuth, tenant.public), 401, 'also when it grants less')
    await app.call('DELETE', `${application()}/metadata/auth`)
    await app.db.query(sql`UPDATE svc.users SET metadata = '{}' WHERE id = ${Number(user.id)}`)
    assert.equal(await status('GET', me, { key: null, headers }), 401)
  })

  test('gives a bearer no key that outlives the token', async () => {
    const user = await app.user(tenant.id, { metadata: { auth: { defaultApiKey: tenant.developer } } })
    const { headers } = await app.login(user)
    assert.deepEqual((await app.call('GET', '/api/v1/apikeys', { key: null, headers })).body, [])
    const minted = { type: 'app', permissions: { styles: { read: '*' } } }
    assert.equal(await status('POST', '/api/v1/apikeys', { key: null, headers, body: minted }), 401)
  })
})
