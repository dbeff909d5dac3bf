import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { migratedDatabase, type TestDatabase } from '../../../testing/database.ts'
import { inParallel } from '../../../testing/in-parallel.ts'
import { type HttpSink, httpSink, type SunkRequest } from '../../../testing/peers/http-sink.ts'
import { stays, until } from '../../../testing/until.ts'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import { setUp } from '../../boot/start/first-start.ts'
import { json, sql } from '../../kernel/db/sql.ts'
import { createEgress } from '../../kernel/egress/guard.ts'
import { createOutbox } from '../outbox/outbox.ts'
import { createDeliveries, type DeliveryFetcher } from './deliveries.ts'
import type { Settings } from './driver.ts'
import type { Message } from './message.ts'
import { sealSettings, settingsAssociatedData } from './secret-settings.ts'

const secrets = createSecrets('a secret for tests, long enough to be one')
const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const hello: Message = { message: 'Hello', severity: 'info' }
const quick = [0.05, 0.1, 0.1, 0.1, 0.1]

/** For what is said to services and what they answer, whichever database keeps it. */
const onceOnly = { skip: process.env.TEST_DATABASE_URL ? false : 'services hear the same on both databases' }

let database: TestDatabase
let applicationId = ''
const errors: unknown[] = []
const closers: (() => Promise<void>)[] = []
before(async () => {
  database = await migratedDatabase()
  await setUp(database.db, secrets, randomUUID())
  const [row] = await database.db.query(sql`SELECT id FROM svc.applications`)
  applicationId = String(row?.id)
})
after(async () => {
  await Promise.all(closers.map((close) => close()))
  await database.close()
  assert.deepEqual(errors, [])
})

type Stack = ReturnType<typeof stack>

/** All that delivers, as one process has it. */
function stack({
  delaysSeconds = quick,
  fetcher,
  leaseSeconds = 60,
  maxWaiting = 1_000,
}: {
  delaysSeconds?: number[]
  fetcher?: DeliveryFetcher
  leaseSeconds?: number
  maxWaiting?: number
} = {}) {
  const { db } = database
  const onError = (error: unknown) => void errors.push(error)
  const egress = createEgress({ allow: '', mayReachLoopback: true })
  const outbox = createOutbox({ db, onError, leaseSeconds })
  const sendMail = async () => ({ error: 'no mail here', isFinal: true })
  const deliveries = createDeliveries({
    db,
    secrets,
    egress: fetcher ?? egress,
    sendMail,
    register: outbox.add,
    delaysSeconds,
    maxWaiting,
  })
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    await outbox.close()
    await egress.close()
  }
  closers.push(close)
  return { ...deliveries, start: outbox.start, close }
}

let shared: Stack | undefined
/** For tests that need no process of their own. */
const usual = (): Stack => {
  shared ??= stack()
  return shared
}

async function sink(...parameters: Parameters<typeof httpSink>): Promise<HttpSink> {
  const made = await httpSink(...parameters)
  closers.push(made.close)
  return made
}

async function point(type: string, plain: Settings, secret: Settings = {}, application = applicationId) {
  const id = randomUUID()
  const sealed = sealSettings(secrets, secret, settingsAssociatedData(application, type))
  await database.db.query(sql`
    INSERT INTO svc.contactpoints
      (id, application_id, name, description, type, settings, secrets, secure_fields, enabled)
    VALUES (${id}::uuid, ${application}::uuid, 'point', '', ${type}, ${json(plain)}, ${sealed}, '{}', true)`)
  return { id, isEnabled: true }
}

type State = { status: string; attempts: { at: string; statusCode?: number; error?: string }[]; message: unknown }

async function state(id: string): Promise<State> {
  const [row] = await database.db.query<State>(
    sql`SELECT status, attempts, message FROM svc.deliveries WHERE id = ${id}::uuid`,
  )
  if (!row) throw new Error('There is no such delivery')
  return row
}

async function ended(id: string): Promise<State> {
  await until(async () => (await state(id)).status !== 'pending')
  return state(id)
}

function isSigned({ headers, body }: SunkRequest, secret: string): boolean {
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const mac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(content)
    .digest('base64')
  return String(headers['webhook-signature']).split(' ').includes(`v1,${mac}`)
}

test('a webhook gets the message, signed with every secret there is', async () => {
  const service = await sink()
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const target = await point(
    'webhook',
    { url: `${service.url}/hook?a=1` },
    { secret: [key, other], headers: { 'X-Token': 't0ken' } },
  )
  const id = await usual().accept(
    target,
    { title: 'T', message: 'Ünïcode', severity: 'error', data: { a: [1] } },
    undefined,
  )
  const { status, attempts, message } = await ended(id)
  assert.equal(status, 'delivered')
  assert.deepEqual(
    attempts.map(({ statusCode }) => statusCode),
    [200],
  )
  assert.equal(message, null, 'the message is kept no longer than needed')
  const [request] = service.requests
  assert.ok(request)
  assert.equal(request.method, 'POST')
  assert.equal(request.path, '/hook?a=1')
  assert.equal(request.headers['webhook-id'], id)
  assert.equal(request.headers['x-token'], 't0ken')
  assert.ok(isSigned(request, key) && isSigned(request, other))
  assert.ok(Math.abs(Number(request.headers['webhook-timestamp']) - Date.now() / 1000) < 100)
  const { timestamp, ...rest } = JSON.parse(request.body)
  assert.ok(Date.parse(timestamp) > 0)
  const data = { title: 'T', message: 'Ünïcode', severity: 'error', data: { a: [1] } }
  assert.deepEqual(rest, { type: 'contactpoint.message', data })
})

test('a service that fails at first is asked again, with the same id and body and a new signature', async () => {
  const service = await sink((_, count) => ({ status: count < 3 ? 503 : 204, body: 'busy' }))
  const target = await point('webhook', { url: service.url }, { secret: key })
  const id = await usual().accept(target, hello, undefined)
  const { status, attempts } = await ended(id)
  assert.equal(status, 'delivered')
  assert.deepEqual(
    attempts.map(({ statusCode, error }) => [statusCode, error]),
    [
      [503, 'The service answered 503: busy'],
      [503, 'The service answered 503: busy'],
      [204, undefined],
    ],
  )
  assert.equal(new Set(service.requests.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.equal(new Set(service.requests.map(({ body }) => body)).size, 1)
  assert.ok(service.requests.every((request) => isSigned(request, key)))
})

test('a service that never works is given up after six attempts', async () => {
  const service = await sink(() => ({ status: 500 }))
  const id = await usual().accept(await point('discord', {}, { url: service.url }), hello, undefined)
  const { status, attempts } = await ended(id)
  assert.equal(status, 'failed')
  assert.equal(attempts.length, 6)
  await stays(() => service.requests.length === 6, 300)
})

test('a refusal is final at once, unless it only means: not now', onceOnly, async () => {
  const cases = [
    [400, 1],
    [401, 1],
    [404, 1],
    [410, 1],
    [408, 2],
    [425, 2],
    [429, 2],
  ] as const
  await inParallel(cases, async ([status, attempts]) => {
    const service = await sink((_, count) => ({ status: count === 1 ? status : 200 }))
    const id = await usual().accept(await point('teams', {}, { url: service.url }), hello, undefined)
    const end = await ended(id)
    assert.equal(end.status, attempts === 1 ? 'failed' : 'delivered', String(status))
    assert.equal(end.attempts.length, attempts, String(status))
  })
})

test('a redirect is not followed, wherever it leads', onceOnly, async () => {
  const trap = await sink()
  const service = await sink(() => ({ status: 302, headers: { location: trap.url } }))
  const id = await usual().accept(await point('slack', {}, { url: service.url }), hello, undefined)
  const { status, attempts } = await ended(id)
  assert.equal(status, 'failed')
  assert.equal(attempts.length, 1)
  assert.equal(attempts[0]?.statusCode, 302)
  assert.equal(trap.requests.length, 0)
})

test('Retry-After is waited for, as a number and as a date, and never longer than ten minutes', async () => {
  const soon = await sink((_, count) =>
    count === 1 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 200 },
  )
  const id = await usual().accept(await point('webhook', { url: soon.url }), hello, undefined)
  const { attempts } = await ended(id)
  assert.ok(Date.parse(attempts[1]?.at ?? '') - Date.parse(attempts[0]?.at ?? '') >= 950)
  for (const header of ['86400', new Date(Date.now() + 86_400_000).toUTCString()]) {
    const late = await sink(() => ({ status: 503, headers: { 'retry-after': header } }))
    const waiting = await usual().accept(await point('webhook', { url: late.url }), hello, undefined)
    await until(async () => (await state(waiting)).attempts.length === 1)
    const [row] = await database.db.query(
      sql`SELECT extract(epoch FROM next_at - clock_timestamp())::float8 AS seconds FROM svc.deliveries WHERE id = ${waiting}::uuid`,
    )
    assert.ok(Number(row?.seconds) > 500 && Number(row?.seconds) <= 600, String(row?.seconds))
  }
})

test('what is accepted is delivered once, though the process ends before it could be', async () => {
  const service = await sink()
  const target = await point('webhook', { url: service.url })
  const first = stack()
  await first.close()
  const id = await first.accept(target, hello, undefined)
  assert.equal((await state(id)).status, 'pending')
  const second = stack()
  second.start()
  assert.equal((await ended(id)).status, 'delivered')
  await stays(() => service.requests.length === 1, 300)
  await second.close()
})

test('what another process is waiting to try again is tried by the next one', async () => {
  const service = await sink((_, count) => ({ status: count === 1 ? 500 : 200 }))
  const first = stack({ delaysSeconds: [1] })
  const id = await first.accept(await point('webhook', { url: service.url }), hello, undefined)
  await until(async () => (await state(id)).attempts.length === 1)
  await first.close()
  const second = stack()
  second.start()
  const { status, attempts } = await ended(id)
  assert.equal(status, 'delivered')
  assert.equal(attempts.length, 2)
  assert.equal(service.requests.length, 2)
  await second.close()
})

test('what a process is sending, another one does not, however long it takes', async (t) => {
  if (!database.url) return t.skip('there is one process on the embedded database')
  const service = await sink(() => ({ status: 200, afterMs: 8_000 }))
  const target = await point('webhook', { url: service.url })
  const [slow, other] = [stack({ leaseSeconds: 4 }), stack({ leaseSeconds: 4 })]
  const id = await slow.accept(target, hello, undefined)
  await until(() => service.requests.length === 1)
  await sleep(5_000)
  other.start()
  assert.equal((await ended(id)).attempts.length, 1)
  assert.equal(service.requests.length, 1)
  await slow.close()
  await other.close()
})

test('what a process was sending when it died is sent by the next', async () => {
  const service = await sink()
  const target = await point('webhook', { url: service.url })
  const stopped = stack()
  await stopped.close()
  const left = await stopped.accept(target, hello, undefined)
  await database.db.query(sql`
    UPDATE svc.deliveries SET claim = gen_random_uuid(), claimed_until = clock_timestamp() + interval '1 s'
    WHERE id = ${left}::uuid`)
  const next = stack()
  next.start()
  assert.equal((await ended(left)).status, 'delivered')
  await next.close()
})

test('three processes that look for the same deliveries make each one once', async () => {
  const service = await sink(() => ({ status: 200, afterMs: 20 }))
  const target = await point('webhook', { url: service.url })
  const stopped = stack()
  await stopped.close()
  const ids = await Promise.all(Array.from({ length: 15 }, () => stopped.accept(target, hello, undefined)))
  const processes = [stack(), stack(), stack()]
  for (const { start } of processes) start()
  for (const id of ids) assert.equal((await ended(id)).status, 'delivered')
  assert.equal(service.requests.length, 15)
  assert.equal(new Set(service.requests.map(({ headers }) => headers['webhook-id'])).size, 15)
  await Promise.all(processes.map(({ close }) => close()))
})

test('twenty equal requests with one key at once are one delivery; another message with that key is refused', async () => {
  const service = await sink()
  const target = await point('webhook', { url: service.url })
  const ids = await Promise.all(Array.from({ length: 20 }, () => usual().accept(target, hello, 'key-1')))
  assert.equal(new Set(ids).size, 1)
  assert.equal((await ended(ids[0] ?? '')).status, 'delivered')
  assert.equal(service.requests.length, 1)
  assert.equal(await usual().accept(target, hello, 'key-1'), ids[0], 'also when it is long delivered')
  assert.equal(await usual().accept({ ...target, isEnabled: false }, hello, 'key-1'), ids[0])
  await assert.rejects(usual().accept(target, { ...hello, message: 'Other' }, 'key-1'), { code: 'conflict' })
  assert.notEqual(await usual().accept(await point('webhook', { url: service.url }), hello, 'key-1'), ids[0])
})

test('secrets that a service repeats are not kept', onceOnly, async () => {
  const service = await sink(({ path, headers }) => ({
    status: 400,
    body: `no such hook ${path}, ${headers['x-token']}, ${decodeURIComponent(path)} ${'x'.repeat(5_000)}`,
  }))
  const url = `${service.url}/services/T000SECRET/B000SECRET/a%20very-secret-part?sig=signature-of-it`
  const chat = await usual().accept(await point('slack', {}, { url }), hello, undefined)
  const hook = await usual().accept(
    await point('webhook', { url: service.url }, { headers: { 'x-token': 'Bearer my-secret-token' }, secret: key }),
    hello,
    undefined,
  )
  for (const id of [chat, hook]) {
    const { attempts } = await ended(id)
    const text = attempts[0]?.error ?? ''
    assert.match(text, /\[secret\]/)
    assert.doesNotMatch(text, /T000SECRET|B000SECRET|very-secret|signature-of-it|my-secret-token/)
    assert.ok(text.length <= 600)
  }
})

test('an answer of any size or form does no harm', async () => {
  const huge = await sink(() => ({ status: 200, body: 'x'.repeat(3_000_000) }))
  const bytes = await sink(() => ({ status: 500, body: '\0\u0001\ud800 binary' }))
  const packed = await sink(() => ({ status: 200, headers: { 'content-encoding': 'gzip' }, body: 'not gzip' }))
  for (const [service, status] of [
    [huge, 'delivered'],
    [packed, 'delivered'],
    [bytes, 'failed'],
  ] as const) {
    const id = await usual().accept(await point('webhook', { url: service.url }), hello, undefined)
    assert.equal((await ended(id)).status, status)
  }
})

test('an address that is not allowed is refused for good, and says nothing of the network', onceOnly, async () => {
  const id = await usual().accept(await point('webhook', { url: 'http://169.254.169.254/latest' }), hello, undefined)
  const { status, attempts } = await ended(id)
  assert.equal(status, 'failed')
  assert.equal(attempts.length, 1)
  assert.match(attempts[0]?.error ?? '', /^The address is not allowed\..*EGRESS_ALLOW/)
})

test('a contact point that was disabled or deleted meanwhile gets nothing more', async () => {
  const service = await sink()
  const stopped = stack()
  await stopped.close()
  const [off, gone] = [await point('webhook', { url: service.url }), await point('webhook', { url: service.url })]
  const ids = [await stopped.accept(off, hello, undefined), await stopped.accept(gone, hello, undefined)]
  await database.db.query(sql`UPDATE svc.contactpoints SET enabled = false WHERE id = ${off.id}::uuid`)
  await database.db.query(sql`DELETE FROM svc.contactpoints WHERE id = ${gone.id}::uuid`)
  const next = stack()
  next.start()
  assert.equal((await ended(ids[0] ?? '')).status, 'failed')
  assert.equal(service.requests.length, 0)
  await assert.rejects(next.accept(gone, hello, undefined), { code: 'not_found' })
  await assert.rejects(next.accept({ ...off, isEnabled: false }, hello, undefined), { code: 'conflict' })
  await next.close()
})

test(
  'Slack with a token and Telegram are called where they are, and their own words are understood',
  onceOnly,
  async () => {
    const calls: { url: string; headers: Readonly<Record<string, string>>; body: Record<string, unknown> }[] = []
    const answers: Record<string, [number, object][]> = {
      'slack.com': [
        [200, { ok: false, error: 'internal_error' }],
        [200, { ok: true }],
        [200, { ok: false, error: 'channel_not_found' }],
      ],
      'api.telegram.org': [
        [429, { ok: false, parameters: { retry_after: 1 } }],
        [200, { ok: true }],
      ],
    }
    const fetcher: DeliveryFetcher = {
      async fetch(url, { headers, body }) {
        calls.push({ url, headers, body: JSON.parse(body) })
        const [status, answer] = answers[new URL(url).host]?.shift() ?? [500, {}]
        return { status, headers: {}, body: Buffer.from(JSON.stringify(answer)) }
      },
    }
    const own = stack({ fetcher })
    const bot = await point('slack', { channel: '#harbour' }, { token: 'xoxb-1234567890-abc' })
    assert.equal((await ended(await own.accept(bot, hello, undefined))).status, 'delivered')
    const refused = await ended(await own.accept(bot, hello, undefined))
    assert.equal(refused.status, 'failed')
    assert.deepEqual(
      refused.attempts.map(({ error }) => error),
      ['Slack answered: channel_not_found'],
    )
    assert.equal(calls[0]?.url, 'https://slack.com/api/chat.postMessage')
    assert.equal(calls[0]?.headers.authorization, 'Bearer xoxb-1234567890-abc')
    assert.equal(calls[0]?.body.channel, '#harbour')

    const botToken = `123456:${'A'.repeat(35)}`
    const chat = await point('telegram', { chatId: -100123 }, { botToken })
    const { status, attempts } = await ended(await own.accept(chat, hello, undefined))
    assert.equal(status, 'delivered')
    assert.ok(Date.parse(attempts[1]?.at ?? '') - Date.parse(attempts[0]?.at ?? '') >= 950)
    assert.equal(calls.at(-1)?.url, `https://api.telegram.org/bot${botToken}/sendMessage`)
    assert.equal(calls.at(-1)?.body.chat_id, -100123)
    await own.close()
  },
)

async function newApplication(): Promise<string> {
  const id = randomUUID()
  await database.db.query(
    sql`INSERT INTO svc.applications (id, name, description, contact) VALUES (${id}::uuid, 'another', '', '')`,
  )
  return id
}

test('hundreds of messages to services that hang do not delay the message of another application', async () => {
  const { db } = database
  const own = stack()
  const held: (() => void)[] = []
  const stuck = await sink(() => new Promise((resolve) => held.push(() => resolve({ status: 200 }))))
  const quick = await sink()
  const flooding = await point('webhook', { url: stuck.url }, {}, await newApplication())
  await inParallel(Array(300).fill(hello), async (message) => void (await own.accept(flooding, message, undefined)))
  await until(() => held.length > 0)
  const quiet = await point('webhook', { url: quick.url }, {}, await newApplication())
  assert.equal((await ended(await own.accept(quiet, hello, undefined))).status, 'delivered')
  await db.query(sql`DELETE FROM svc.contactpoints WHERE id = ${flooding.id}::uuid`)
  for (const release of held) release()
  await own.close()
})

test('an application that sends faster than its services take it is told to wait, another is not', async () => {
  const own = stack({ maxWaiting: 3 })
  const [flooding, quiet] = [await newApplication(), await newApplication()]
  const points = [await point('webhook', {}, {}, flooding), await point('webhook', {}, {}, flooding)] as const
  await own.close()
  for (const target of [points[0], points[1], points[0]]) await own.accept(target, hello, 'the same')
  await own.accept(points[0], hello, 'the third')
  await assert.rejects(own.accept(points[1], hello, undefined), {
    code: 'busy',
    headers: { 'Retry-After': '30' },
    extensions: { limit: 3, limitName: 'messagesWaiting' },
  })
  await own.accept(points[1], hello, 'the same')
  await own.accept(await point('webhook', {}, {}, quiet), hello, undefined)
  await database.db.query(sql`DELETE FROM svc.applications WHERE id IN (${flooding}::uuid, ${quiet}::uuid)`)
})
