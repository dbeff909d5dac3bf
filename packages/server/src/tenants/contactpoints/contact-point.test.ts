import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { type HttpSink, httpSink } from '../../../testing/peers/http-sink.ts'
import { type SmtpSink, smtpSink } from '../../../testing/peers/smtp-sink.ts'
import { until } from '../../../testing/until.ts'
import { sql } from '../../kernel/db/sql.ts'
import { driverNames } from './drivers.ts'

// One database is enough: deliveries.test.ts stores, sends and reads messages on both.

const base = '/api/v1/contactpoints'
const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const token = 'a-very-secret-header-value'

let mail: SmtpSink
let service: HttpSink
let app: TestApp
let own: Tenant
let foreign: Tenant
before(async () => {
  mail = await smtpSink()
  service = await httpSink()
  app = await testApp({ SMTP_URL: mail.url, MAIL_FROM: 'maps@example.org' })
  own = await app.tenant('own')
  foreign = await app.tenant('foreign')
})
after(async () => {
  await app.close()
  await service.close()
  await mail.close()
})

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  app.call(method, `${base}${path}`, { key: own.developer, headers, ...(body !== undefined && { body }) })

async function make(type: string, settings: object, rest: object = {}): Promise<string> {
  const reply = await call('POST', '', { name: 'Office', type, settings, ...rest })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

async function delivered(id: string): Promise<{ status: string; attempts: { statusCode: number }[] }> {
  const last = async () => (await call('GET', `/${id}/deliveries`)).body[0]
  await until(async () => (await last())?.status !== 'pending')
  return last()
}

const sealedOf = async (id: string): Promise<unknown> =>
  (await app.db.query(sql`SELECT secrets FROM svc.contactpoints WHERE id = ${id}::uuid`))[0]?.secrets

test('the drivers of contact points are listed with their settings', async () => {
  const reply = await app.call('GET', `${base}/drivers`, { key: own.reader })
  assert.deepEqual(reply.body, driverNames)
})

test('secrets are taken and never shown: a left-out one stays, null removes it', async () => {
  const settings = { url: `${service.url}/hook`, secret, headers: { 'X-Token': token } }
  const made = await call('POST', '', { name: 'Office', type: 'webhook', settings })
  const { id } = made.body
  assert.deepEqual(made.body.settings, { url: `${service.url}/hook` })
  assert.deepEqual(made.body.secureFields, { secret: true, headers: true })
  assert.equal(made.body.lastStatus, null)
  assert.doesNotMatch(String(await sealedOf(id)), /whsec|secret-header/)

  const renamed = await call('PATCH', `/${id}`, { name: 'Port' })
  assert.deepEqual(renamed.body.secureFields, { secret: true, headers: true })
  const patched = await call('PATCH', `/${id}`, { settings: { method: 'PUT', headers: null } })
  assert.deepEqual(patched.body.settings, { url: `${service.url}/hook`, method: 'PUT' })
  assert.deepEqual(patched.body.secureFields, { secret: true })
  const put = await call('PUT', `/${id}`, { name: 'Port', type: 'webhook', settings: { url: service.url } })
  assert.deepEqual(put.body.settings, { url: service.url })
  assert.deepEqual(put.body.secureFields, { secret: true })
  const bare = await call('PUT', `/${id}`, {
    name: 'Port',
    type: 'webhook',
    settings: { url: service.url, secret: null },
  })
  assert.deepEqual(bare.body.secureFields, {})
  assert.equal(await sealedOf(id), null)

  const texts = [made, renamed, patched, put, bare, await call('GET', `/${id}`), await call('GET', '')]
  for (const { text } of texts) assert.ok(!text.includes(secret) && !text.includes(token))
  for (const query of ['fields=secrets', 'filter[secrets]=x', 'sort=secrets', 'filter[settings]=x']) {
    assert.equal((await call('GET', `?${query}`)).status, 400, query)
  }
})

test('a secret header does not follow the address elsewhere', async () => {
  const id = await make('webhook', { url: 'https://a.example.org/x', headers: { 'X-Token': token } })
  assert.equal((await call('PATCH', `/${id}`, { settings: { url: 'https://a.example.org/y' } })).status, 200)
  const moved = await call('PATCH', `/${id}`, { settings: { url: 'https://evil.example.org/' } })
  assert.equal(moved.status, 400)
  const both = { url: 'https://b.example.org/', headers: { 'X-Token': 'another' } }
  assert.equal((await call('PATCH', `/${id}`, { settings: both })).status, 200)
})

test('a change of type takes no secret along', async () => {
  const id = await make('slack', { url: 'https://hooks.slack.example/secret' })
  assert.equal((await call('PATCH', `/${id}`, { type: 'discord' })).status, 400, 'its url is needed again')
  const settings = { url: 'https://discord.example/secret' }
  assert.equal((await call('PATCH', `/${id}`, { type: 'discord', settings })).status, 200)
})

test('PUT replaces all of it: what is required must be there, the rest goes back', async () => {
  const id = await make('email', { addresses: ['a@example.org'] }, { description: 'x', enabled: false })
  assert.equal((await call('PUT', `/${id}`, { name: 'n' })).status, 400)
  assert.equal((await call('PUT', `/${id}`, { name: 'n', type: 'email' })).status, 400)
  const { body } = await call('PUT', `/${id}`, { name: 'n', type: 'email', settings: { addresses: ['b@example.org'] } })
  assert.deepEqual([body.description, body.enabled, body.settings], ['', true, { addresses: ['b@example.org'] }])
})

test('a message is accepted, delivered, and seen in the record', async () => {
  const id = await make('webhook', { url: service.url, secret })
  const before = await call('GET', `/${id}`)
  const reply = await app.call('POST', `${base}/${id}/send`, { key: own.reader, body: { text: 'Hello', subject: 'T' } })
  assert.equal(reply.status, 202)
  assert.equal(reply.body.status, 'accepted')
  const { attempts, ...rest } = await delivered(id)
  assert.equal(rest.status, 'delivered')
  assert.deepEqual(Object.keys(rest).toSorted(), ['createdAt', 'id', 'status'])
  assert.equal(attempts[0]?.statusCode, 200)
  const unchanged = await call('GET', `/${id}`, undefined, { 'if-none-match': String(before.headers.etag) })
  assert.equal(unchanged.status, 200, 'it has changed')
  assert.equal(unchanged.body.lastStatus, 'delivered')
  assert.ok(Date.parse(unchanged.body.lastDeliveryAt) > 0)
  assert.equal(unchanged.body.updatedAt, before.body.updatedAt)
})

test('a mail is sent through the mail server, to those who were chosen', async () => {
  const id = await make('email', { addresses: ['a@example.org', 'b@example.org'] })
  assert.equal((await call('POST', `/${id}/send`, { message: 'x', to: ['evil@example.org'] })).status, 400)
  const { body } = await call('POST', `/${id}/send`, { title: 'Hé', message: 'Water', to: ['B@example.org'] })
  assert.equal((await delivered(id)).status, 'delivered')
  const [sent] = mail.mails
  assert.deepEqual(sent?.to, ['B@example.org'])
  assert.equal(sent?.headers['message-id'], `<${body.id}@example.org>`)
  assert.equal(sent?.headers.subject, '=?UTF-8?B?SMOp?=')
})

test('twenty equal requests with one Idempotency-Key are one delivery', async () => {
  const id = await make('webhook', { url: `${service.url}/twenty` })
  const send = (message: string, key: string) => call('POST', `/${id}/send`, { message }, { 'idempotency-key': key })
  const replies = await Promise.all(Array.from({ length: 20 }, () => send('once', 'k')))
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([202]))
  assert.equal(new Set(replies.map(({ body }) => body.id)).size, 1)
  assert.equal((await send('other', 'k')).status, 409)
  const stranger = await app.key(own.id, { contactpoints: { execute: '*' } })
  const request = { key: stranger, body: { message: 'mine' }, headers: { 'idempotency-key': 'k' } }
  assert.equal(
    (await app.call('POST', `${base}/${id}/send`, request)).status,
    202,
    'another caller has keys of its own',
  )
  for (const key of ['a b', 'é', 'x'.repeat(256)]) assert.equal((await send('once', key)).status, 400, key)
  const sent = (text: string) =>
    service.requests.filter(({ path, body }) => path === '/twenty' && body.includes(text)).length
  await until(async () => sent('mine') > 0 && sent('once') > 0)
  assert.deepEqual([sent('mine'), sent('once')], [1, 1])
  const list = await call('GET', `/${id}/deliveries?limit=1`)
  assert.equal(list.headers['x-total-count'], '2')
})

test('a disabled point is a conflict, an empty or strange message an error, a foreign point absent', async () => {
  const id = await make('webhook', { url: service.url }, { enabled: false })
  assert.equal((await call('POST', `/${id}/send`, { message: 'x' })).status, 409)
  await call('PATCH', `/${id}`, { enabled: true })
  const wrong = [
    {},
    { message: '' },
    { message: 5 },
    { title: 'a\r\nb' },
    { message: 'x', to: ['a@example.org'] },
    { message: 'x', severity: 'fatal' },
    { message: 'x', url: 'javascript:alert(1)' },
    { message: 'x', extra: 1 },
    { message: 'x'.repeat(20_001) },
  ]
  for (const body of wrong) assert.equal((await call('POST', `/${id}/send`, body)).status, 400, JSON.stringify(body))
  assert.equal((await call('POST', `/${id}/send`, { data: { x: 'x'.repeat(200_000) } })).status, 413)
  for (const path of ['/send', '/deliveries']) {
    const method = path === '/send' ? 'POST' : 'GET'
    const body = path === '/send' ? { body: { message: 'x' } } : {}
    const reply = await app.call(method, `${base}/${id}${path}`, { key: foreign.developer, ...body })
    assert.equal(reply.status, 404)
  }
  assert.equal((await call('GET', `/${id}/deliveries`)).body.length, 0)
})

test('without a mail server, mail stays in the outbox, which only a master key reads', async () => {
  const other = await testApp()
  try {
    const tenant = await other.tenant('laptop')
    const key = tenant.developer
    const point = { name: 'p', type: 'email', settings: { addresses: ['a@example.org'] } }
    const { body } = await other.call('POST', base, { key, body: point })
    for (const title of ['First', 'Second']) {
      const send = { key, body: { title, message: '<b>' } }
      const { body: sent } = await other.call('POST', `${base}/${body.id}/send`, send)
      await until(async () => (await other.call('GET', `/api/v1/outbox/${sent.id}`)).status === 200)
    }
    const list = await other.call('GET', '/api/v1/outbox?limit=1')
    assert.equal(list.headers['x-total-count'], '2')
    assert.match(String(list.headers.link), /rel="next"/)
    const [newest] = list.body
    assert.equal(newest.subject, 'Second')
    assert.equal(newest.status, 'kept')
    assert.equal(newest.text, undefined)
    const one = await other.call('GET', `/api/v1/outbox/${newest.id}`)
    assert.equal(one.body.text, '<b>')
    assert.match(one.body.html, /&lt;b&gt;/)
    assert.deepEqual(one.body.to, ['a@example.org'])
    for (const path of ['/api/v1/outbox', `/api/v1/outbox/${newest.id}`]) {
      assert.equal((await other.call('GET', path, { key })).status, 401)
    }
    const elsewhere = await other.tenant('elsewhere')
    const narrowed = { headers: { 'x-application-id': elsewhere.id } }
    assert.deepEqual((await other.call('GET', '/api/v1/outbox', narrowed)).body, [])
    assert.equal((await other.call('GET', `/api/v1/outbox/${newest.id}`, narrowed)).status, 404)
    assert.equal((await other.call('GET', '/api/v1/outbox/nonsense')).status, 404)
  } finally {
    await other.close()
  }
})
