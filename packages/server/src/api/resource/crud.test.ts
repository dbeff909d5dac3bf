import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('crud')
})
after(() => app.close())

const path = '/api/v1/styles'
const style = (background: string) => ({
  version: 8,
  sources: {},
  layers: [{ id: 'land', type: 'background', paint: { 'background-color': background } }],
})
const create = async (body: object = {}, owner: Tenant = tenant) => {
  const reply = await app.call('POST', path, {
    key: owner.developer,
    body: { name: 'a', style: style('#fff'), ...body },
  })
  assert.equal(reply.status, 201, reply.text)
  return reply
}
const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

describe('create', () => {
  test('sets what the service sets, whatever the body says', async () => {
    const { body, headers } = await create({
      id: randomUUID(),
      applicationId: randomUUID(),
      createdAt: '2001-01-01T00:00:00Z',
      updatedAt: 'never',
      application: { name: 'not mine' },
    })
    assert.equal(body.applicationId, tenant.id)
    assert.ok(Date.now() - Date.parse(body.createdAt) < 60_000)
    assert.match(body.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.equal(headers.location, `${path}/${body.id}`)
    assert.ok(headers.etag)
    assert.deepEqual((await call('GET', String(headers.location))).body, body)
    const names = 'applicationId createdAt description id metadata name style type updatedAt'
    assert.equal(Object.keys(body).sort().join(' '), names)
    assert.deepEqual([body.description, body.type, body.metadata], ['', 'plain', {}])
  })

  test('needs the wildcard: a key limited to ids cannot make new ones', async () => {
    const key = await app.key(tenant.id, { styles: { write: [randomUUID()] } })
    assert.equal((await call('POST', path, { key, body: { name: 'a', style: style('#fff') } })).status, 401)
  })

  test('by a master key goes where it says: body, header, or the default application', async () => {
    const body = { name: 'a', style: style('#fff') }
    const make = (change: object, headers = {}) => app.call('POST', path, { body: { ...body, ...change }, headers })
    assert.equal((await make({ applicationId: tenant.id })).body.applicationId, tenant.id)
    assert.equal((await make({}, { 'x-application-id': tenant.id })).body.applicationId, tenant.id)
    const [home] = (await app.call('GET', '/api/v1/applications?filter[name]=default')).body
    assert.equal((await make({})).body.applicationId, home.id)
    assert.equal((await make({ applicationId: randomUUID() })).status, 400)
    assert.equal((await make({ applicationId: tenant.id }, { 'x-application-id': home.id })).status, 400)
    assert.equal((await make({}, { 'x-application-id': 'nonsense' })).status, 400)
  })
})

describe('list', () => {
  test('a question mark in an address ends the path; those behind it are part of values', async () => {
    const owner = await app.tenant('questions')
    for (const name of ['who', 'who?', 'who?&']) await create({ name }, owner)
    const found = await app.call('GET', `${path}?filter[name]=who?&fields=name`, { key: owner.developer })
    assert.deepEqual(found.body, [{ name: 'who?' }])
  })

  test('pages neither overlap nor skip, and say where the others are', async () => {
    const owner = await app.tenant('pages')
    const made = await Promise.all(Array.from({ length: 7 }, (_, i) => create({ name: `n${i % 2}` }, owner)))
    const seen: string[] = []
    let url: string | undefined = `${path}?sort=name&limit=3`
    while (url) {
      const reply = await app.call('GET', url, { key: owner.developer })
      assert.equal(reply.headers['x-total-count'], '7')
      seen.push(...reply.body.map(({ id }: { id: string }) => id))
      url = /<([^>]+)>; rel="next"/.exec(String(reply.headers.link))?.[1]
    }
    assert.deepEqual(seen.toSorted(), made.map(({ body }) => body.id).toSorted())
  })

  test('is ordered by creation unless it is said otherwise, downwards with a minus', async () => {
    const owner = await app.tenant('order')
    for (const name of ['b', 'a', 'C', 'ä']) await create({ name }, owner)
    const names = async (query: string) =>
      (await app.call('GET', `${path}?fields=name${query}`, { key: owner.developer })).body
        .map(({ name }: { name: string }) => name)
        .join('')
    assert.equal(await names(''), 'baCä')
    assert.equal(await names('&sort=name'), 'Cabä')
    assert.equal(await names('&sort=-name'), 'äbaC')
    assert.equal(await names('&sort=-type,-createdAt'), 'äCab')
  })

  test('takes filters as deep object and as JSON', async () => {
    const owner = await app.tenant('filter')
    for (const name of ['alpha', 'beta', 'gamma'])
      await create({ name, description: name.length > 4 ? 'long' : 'short' }, owner)
    const names = async (query: string) =>
      (await app.call('GET', `${path}?sort=name&${query}`, { key: owner.developer })).body
        ?.map(({ name }: { name: string }) => name)
        .join(' ')
    assert.equal(await names('filter[name]=beta'), 'beta')
    assert.equal(await names('filter[name][$like]=%25a'), 'alpha beta gamma')
    assert.equal(await names('filter[name][$in]=alpha,gamma'), 'alpha gamma')
    assert.equal(await names('filter[$or][0][name]=alpha&filter[$or][1][description]=short'), 'alpha beta')
    assert.equal(await names(`filter=${encodeURIComponent('{"name":{"$startsWith":"g"}}')}`), 'gamma')
    assert.equal(await names('filter[createdAt][$gt]=2001-01-01&filter[name][$ne]=beta'), 'alpha gamma')
  })

  test('refuses what it does not know, with the same words for what is secret', async () => {
    const keys = '/api/v1/apikeys'
    const words = async (url: string, name: string) => {
      const { status, body } = await app.call('GET', url)
      assert.equal(status, 400, url)
      return body.detail.replaceAll(name, 'NAME')
    }
    for (const form of ['sort=NAME', 'filter[NAME]=x', 'fields=NAME']) {
      const unknown = await words(`${keys}?${form.replace('NAME', 'nonsense')}`, 'nonsense')
      for (const secret of ['secret', 'hash', 'power', 'constructor', '__proto__']) {
        assert.equal(await words(`${keys}?${form.replace('NAME', secret)}`, secret), unknown)
      }
    }
    assert.equal((await app.call('GET', `${keys}?filter[id]=${randomUUID()}`)).status, 400, 'a key is no search term')
    assert.equal((await app.call('GET', `${path}?join=nonsense`)).status, 400)
  })

  test('limit: 0 gives the total alone, large is clamped, the rest is 400', async () => {
    const zero = await call('GET', `${path}?limit=0`)
    assert.deepEqual(zero.body, [])
    assert.ok(Number(zero.headers['x-total-count']) > 0)
    assert.equal((await call('GET', `${path}?limit=99999999`)).status, 200)
    for (const limit of ['-1', '1.5', 'x', '']) assert.equal((await call('GET', `${path}?limit=${limit}`)).status, 400)
    assert.equal((await call('GET', `${path}?offset=-1`)).status, 400)
    const beyond = await call('GET', `${path}?offset=5000`)
    assert.deepEqual(beyond.body, [])
    assert.equal(beyond.headers['x-total-count'], zero.headers['x-total-count'])
  })

  test('shows a key limited to ids just these', async () => {
    const { body } = await create()
    await create()
    const key = await app.key(tenant.id, { styles: { read: [body.id, 'no uuid'] } })
    const reply = await call('GET', path, { key })
    assert.deepEqual(
      reply.body.map(({ id }: { id: string }) => id),
      [body.id],
    )
    assert.equal(reply.headers['x-total-count'], '1')
  })

  test('by a master key spans applications, or one of them', async () => {
    const { body } = await create()
    const other = await app.tenant('elsewhere')
    const ids = async (url: string, headers = {}) =>
      (await app.call('GET', url, { headers })).body.map(({ id }: { id: string }) => id)
    assert.ok((await ids(path)).includes(body.id))
    assert.ok((await ids(path, { 'x-application-id': tenant.id })).includes(body.id))
    assert.deepEqual(await ids(path, { 'x-application-id': other.id }), [])
    assert.deepEqual(await ids(`${path}?filter[applicationId]=${other.id}`), [])
  })
})

describe('fields and join', () => {
  test('give exactly what was asked for', async () => {
    const { body } = await create()
    const url = `${path}/${body.id}`
    assert.deepEqual((await call('GET', `${url}?fields=name,type`)).body, { name: 'a', type: 'plain' })
    const joined = await call('GET', `${url}?fields=name&join=application`)
    assert.deepEqual(Object.keys(joined.body).sort(), ['application', 'name'])
    assert.equal(joined.body.application.id, tenant.id)
    const list = await call('GET', `${path}?join=application&limit=2`)
    for (const row of list.body) assert.equal(row.application.name, 'crud')
  })

  test('a join needs read on what it joins, and is null without', async () => {
    const { body } = await create()
    const read = { styles: { read: '*' } } as const
    const blind = await app.key(tenant.id, read)
    const sighted = await app.key(tenant.id, { ...read, applications: { read: [tenant.id] } })
    const elsewhere = await app.key(tenant.id, { ...read, applications: { read: [randomUUID()] } })
    const application = async (key: string) =>
      (await call('GET', `${path}/${body.id}?join=application`, { key })).body.application
    assert.equal(await application(blind), null)
    assert.equal(await application(elsewhere), null)
    assert.equal((await application(sighted)).id, tenant.id)
  })
})

describe('replace and patch', () => {
  test('PUT keeps what it does not name, and cannot move a record', async () => {
    const { body } = await create({ description: 'long', metadata: { a: 1 } })
    const reply = await call('PUT', `${path}/${body.id}`, {
      body: { name: 'new', id: randomUUID(), applicationId: randomUUID() },
    })
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.body, { ...body, name: 'new', updatedAt: reply.body.updatedAt })
    assert.ok(reply.body.updatedAt >= body.updatedAt)
    assert.deepEqual((await call('GET', `${path}/${body.id}`)).body, reply.body)
  })

  test('PUT of what GET gave changes nothing', async () => {
    const { body } = await create({ description: 'long', metadata: { a: { b: [1] } } })
    const got = (await call('GET', `${path}/${body.id}?join=application`)).body
    const put = await call('PUT', `${path}/${body.id}`, { body: got })
    assert.deepEqual({ ...put.body, updatedAt: '' }, { ...body, updatedAt: '' })
  })

  test('PATCH merges deeply, null resets or removes, and the outcome is checked', async () => {
    const { body } = await create({ description: 'long', metadata: { a: { b: 1, c: 2 } } })
    const url = `${path}/${body.id}`
    const patched = await call('PATCH', url, { body: { description: null, metadata: { a: { b: null, d: 3 } } } })
    assert.deepEqual([patched.body.description, patched.body.metadata], ['', { a: { c: 2, d: 3 } }])
    assert.equal((await call('PATCH', url, { body: { name: null } })).status, 400)
    assert.equal((await call('PATCH', url, { body: { name: 5 } })).status, 400)
    assert.equal((await call('PATCH', url, { body: { style: { version: 7 } } })).status, 400)
    assert.equal((await call('PATCH', url, { body: { nonsense: 1 } })).status, 400)
    assert.equal((await call('GET', url)).body.name, 'a')
  })
})

describe('revisions', () => {
  test('If-Match writes only over the revision it names', async () => {
    const { body, headers } = await create()
    const url = `${path}/${body.id}`
    const first = { 'if-match': String(headers.etag) }
    const write = await call('PUT', url, { body: { name: 'second' }, headers: first })
    assert.equal(write.status, 200)
    assert.notEqual(write.headers.etag, headers.etag)
    for (const [method, target, send] of [
      ['PUT', url, { name: 'third' }],
      ['PATCH', url, { name: 'third' }],
      ['PUT', `${url}/metadata`, { a: 1 }],
      ['PUT', `${url}/metadata/a`, 1],
      ['DELETE', url, undefined],
    ] as const) {
      const reply = await call(method, target, { body: send, headers: first })
      assert.equal(reply.status, 412, `${method} ${target}`)
    }
    assert.equal((await call('PUT', url, { body: {}, headers: { 'if-match': '*' } })).status, 200)
    assert.equal((await call('PUT', url, { body: {}, headers: { 'if-match': 'unquoted' } })).status, 400)
    assert.equal((await call('PUT', url, { body: {}, headers: { 'if-match': `W/${write.headers.etag}` } })).status, 412)
    assert.equal((await call('PUT', `${path}/${randomUUID()}`, { body: {}, headers: first })).status, 404)
  })

  test('If-None-Match saves the transfer, never the check of the key', async () => {
    const { body, headers } = await create()
    const url = `${path}/${body.id}`
    const known = { 'if-none-match': `"x", W/${headers.etag}` }
    const reply = await call('GET', url, { headers: known })
    assert.deepEqual([reply.status, reply.text, reply.headers.etag], [304, '', headers.etag])
    assert.equal((await call('GET', url, { headers: known, key: null })).status, 401)
    assert.equal((await call('GET', `${url}?join=application`, { headers: known })).status, 200)
    assert.equal((await call('GET', url, { headers: { 'if-none-match': 'unquoted' } })).status, 200)
    await call('PUT', `${url}/metadata`, { body: { a: 1 } })
    assert.equal((await call('GET', url, { headers: known })).status, 200)
  })

  test('of parallel writers with the same If-Match one wins', async () => {
    const { body, headers } = await create()
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        call('PATCH', `${path}/${body.id}`, { body: { name: `w${i}` }, headers: { 'if-match': String(headers.etag) } }),
      ),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    assert.equal(replies.filter(({ status }) => status === 412).length, 9)
  })
})

describe('delete', () => {
  test('answers 200 without a body, and 404 from then on', async () => {
    const { body } = await create()
    const url = `${path}/${body.id}`
    const gone = await call('DELETE', url)
    assert.deepEqual([gone.status, gone.text], [200, ''])
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
      assert.equal((await call(method, url, { body: method === 'GET' ? undefined : {} })).status, 404)
    }
  })
})

test('a key of type user reaches only what its user owns', async () => {
  const { id: userId } = await app.user(tenant.id)
  const key = await app.key(tenant.id, { '*': { '*': '*' } }, { type: 'user', userId })
  const { body } = await create()
  assert.deepEqual((await call('GET', path, { key })).body, [])
  assert.equal((await call('GET', `${path}/${body.id}`, { key })).status, 404)
  assert.equal((await call('POST', path, { key, body: { name: 'a', style: style('#fff') } })).status, 401)
  const keys = (await call('GET', '/api/v1/apikeys', { key })).body
  assert.deepEqual(
    keys.map(({ id }: { id: string }) => id),
    [key],
  )
})
