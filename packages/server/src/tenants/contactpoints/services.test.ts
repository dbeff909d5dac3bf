import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { migratedDatabase, type TestDatabase } from '../../../testing/database.ts'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { type HttpSink, httpSink } from '../../../testing/peers/http-sink.ts'
import { type SmtpSink, smtpSink } from '../../../testing/peers/smtp-sink.ts'
import { until } from '../../../testing/until.ts'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import { setUp } from '../../boot/start/first-start.ts'
import { json, sql } from '../../kernel/db/sql.ts'
import { createEgress } from '../../kernel/egress/guard.ts'
import { createMailer } from '../mail/mailer.ts'
import { createOutbox } from '../outbox/outbox.ts'
import { createDeliveries, type Deliveries, type DeliveryFetcher } from './deliveries.ts'
import type { Settings } from './driver.ts'
import { driverNames } from './drivers.ts'
import { type Message, readMessage } from './message.ts'
import { sealSettings, settingsAssociatedData } from './secret-settings.ts'

// One database is enough: it is about the words that leave the platform; deliveries.test.ts takes messages from both.

const secrets = createSecrets('a secret for tests, long enough to be one')
const botToken = `123456:${'A'.repeat(35)}`
const hostile: Message = readMessage({
  title: '<b>T</b> @everyone *bold*',
  message:
    '@everyone @here @channel @all <!channel> <users/all> <script>x</script> [a](https://evil.example) **b** & "q"',
  severity: 'error',
  url: 'https://example.org/a?b=1&c="<',
})

let database: TestDatabase
let service: HttpSink
let mailServer: SmtpSink
let deliveries: Deliveries
let applicationId = ''
let app: TestApp
let tenant: Tenant
const errors: unknown[] = []
const closers: (() => unknown)[] = []
before(async () => {
  database = await migratedDatabase()
  const { db } = database
  await setUp(db, secrets, randomUUID())
  const [row] = await db.query(sql`SELECT id FROM svc.applications`)
  applicationId = String(row?.id)
  service = await httpSink(() => ({ status: 200, body: '{"ok":true}' }))
  mailServer = await smtpSink()
  const onError = (error: unknown) => void errors.push(error)
  const egress = createEgress({ allow: '', mayReachLoopback: true })
  const outbox = createOutbox({ db, onError })
  const register = outbox.add
  const mailer = createMailer({ db, secrets, smtpUrl: mailServer.url, from: 'maps@example.org', register })
  deliveries = createDeliveries({ db, secrets, egress: withHosts(egress), sendMail: mailer.deliver, register })
  closers.push(outbox.close, mailer.close, egress.close, service.close, mailServer.close, database.close)
  app = await testApp()
  tenant = await app.tenant('services')
})
after(async () => {
  for (const close of closers) await close()
  await app.close()
  assert.deepEqual(errors, [])
})

/** Two services have addresses of their own, which are our sink here. */
const withHosts = ({ fetch }: DeliveryFetcher): DeliveryFetcher => ({
  fetch: (url, request) =>
    fetch(url.replace(/^https:\/\/(slack\.com|api\.telegram\.org)/, `${service.url}/$1`), request),
})

async function send(type: string, plain: Settings, secret: Settings, message: Message): Promise<string> {
  const id = randomUUID()
  const sealed = sealSettings(secrets, secret, settingsAssociatedData(applicationId, type))
  await database.db.query(sql`
    INSERT INTO svc.contactpoints
      (id, application_id, name, description, type, settings, secrets, secure_fields, enabled)
    VALUES (${id}::uuid, ${applicationId}::uuid, 'point', '', ${type}, ${json(plain)}, ${sealed}, '{}', true)`)
  const delivery = await deliveries.accept({ id, isEnabled: true }, message, undefined)
  await until(async () => {
    const [row] = await database.db.query(
      sql`SELECT status, attempts::text AS attempts FROM svc.deliveries WHERE id = ${delivery}::uuid`,
    )
    assert.notEqual(row?.status, 'failed', String(row?.attempts))
    return row?.status === 'delivered'
  })
  return delivery
}

type Case = { plain?: Settings; secret?: Settings; path: string }
const url = () => `${service.url}/hook/secret?key=k&token=t%3D`
const byHttp: Record<string, () => Case> = {
  webhook: () => ({ plain: { url: url() }, path: '/hook/secret?key=k&token=t%3D' }),
  slack: () => ({ secret: { url: url() }, path: '/hook/secret?key=k&token=t%3D' }),
  'slack with a token': () => ({
    plain: { channel: '#harbour' },
    secret: { token: 'xoxb-1234567890-abc' },
    path: '/slack.com/api/chat.postMessage',
  }),
  teams: () => ({ secret: { url: url() }, path: '/hook/secret?key=k&token=t%3D' }),
  discord: () => ({ secret: { url: url() }, path: '/hook/secret?key=k&token=t%3D' }),
  googlechat: () => ({ secret: { url: url() }, path: '/hook/secret?key=k&token=t%3D' }),
  telegram: () => ({
    plain: { chatId: -100123 },
    secret: { botToken },
    path: `/api.telegram.org/bot${botToken}/sendMessage`,
  }),
}

test('every kind but e-mail is asked over HTTP here', () => {
  const kinds = new Set(Object.keys(byHttp).map((name) => name.split(' ', 1)[0]))
  assert.deepEqual([...kinds, 'email'].toSorted(), driverNames)
})

/** All the text that a service would show, with what it makes of marks left as it is. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

for (const [name, settings] of Object.entries(byHttp)) {
  const [type = ''] = name.split(' ')
  test(`${name} gets a hostile message as JSON at its own address, and it does no harm`, async () => {
    const { plain = {}, secret = {}, path } = settings()
    service.requests.length = 0
    const id = await send(type, plain, secret, hostile)
    assert.equal(service.requests.length, 1)
    const [request] = service.requests
    assert.ok(request)
    assert.equal(request.method, 'POST')
    assert.equal(request.path, path)
    assert.equal(request.headers['content-type'], 'application/json; charset=utf-8')
    const body = JSON.parse(request.body)
    if (type === 'webhook') {
      assert.equal(request.headers['webhook-id'], id)
      const { title, message, severity } = hostile
      assert.deepEqual(body.data, { title, message, severity, url: body.data.url }, 'a program gets it as it is')
      assert.ok(!/["<]/.test(body.data.url))
      return
    }
    const texts = textsOf(body).join('\n')
    assert.match(texts, /script/, 'it is shown')
    assert.doesNotMatch(texts, /@(everyone|here|channel|all)\b/)
    dangers[type]?.(body as never, texts)
  })
}

/** What would mean something to that service, if it came through. */
const dangers: Record<string, (body: never, texts: string) => void> = {
  slack(body: { text: string; blocks: { text: { type: string; text: string } }[] }) {
    assert.doesNotMatch(body.text, /[<>]/)
    for (const { text } of body.blocks) {
      if (text.type === 'mrkdwn') assert.match(text.text, /^<https:[^<>|]+>$/)
      else assert.equal(text.type, 'plain_text')
    }
  },
  teams(body: { attachments: { content: { body: { type: string; inlines: { type: string }[] }[] } }[] }) {
    const blocks = body.attachments[0]?.content.body ?? []
    assert.ok(blocks.every(({ type }) => type === 'RichTextBlock'))
    assert.ok(blocks.every(({ inlines }) => inlines.every(({ type }) => type === 'TextRun')))
  },
  discord(body: { content?: string; allowed_mentions: object; embeds: { description: string }[] }) {
    assert.deepEqual(body.allowed_mentions, { parse: [] })
    assert.equal(body.content, undefined)
    const besideAddresses = body.embeds[0]?.description.replace(/<https?:\/\/[^\s<>]+>/g, '') ?? ''
    assert.doesNotMatch(besideAddresses, /(?<!\\)[*_~`|[\]()<>]/)
  },
  googlechat(body: { text?: string; cardsV2: { card: { sections: { widgets: object[] }[] } }[] }, texts) {
    assert.equal(body.text, undefined, 'a plain message knows <users/all>')
    assert.doesNotMatch(texts.replace(/<\/?b>|<br>/g, ''), /[<>]/)
    const widgets = body.cardsV2[0]?.card.sections[0]?.widgets ?? []
    assert.deepEqual(
      widgets.map((widget) => Object.keys(widget)[0]),
      ['textParagraph', 'textParagraph', 'buttonList'],
    )
    assert.match(texts, /^https:\/\/example\.org\/a\?b=1&c=%22%3C$/m)
  },
  telegram(body: { text: string; parse_mode: string; chat_id: number }) {
    assert.equal(body.chat_id, -100123)
    assert.equal(body.parse_mode, 'HTML')
    assert.doesNotMatch(body.text.replace(/<\/?b>|<a href="[^"<>]*">|<\/a>/g, ''), /[<>]/)
  },
}

test('e-mail gets a hostile message as text and as escaped HTML, for its addresses only', async () => {
  const id = await send('email', { addresses: ['a@example.org', 'b@example.org'] }, {}, hostile)
  const [mail] = mailServer.mails
  assert.ok(mail)
  assert.deepEqual(mail.to, ['a@example.org', 'b@example.org'])
  assert.equal(mail.headers['message-id'], `<${id}@example.org>`)
  assert.equal(mail.headers.subject, hostile.title)
  const [, html = ''] = mail.body.replace(/=\r\n/g, '').split(/content-type: text\/html/i)
  assert.match(html, /&lt;script&gt;/)
  assert.doesNotMatch(html, /<script|<users/)
})

const target = 'https://hooks.example.org/x'
const good: Record<string, Record<string, unknown>> = {
  discord: { url: target },
  email: { addresses: ['a@example.org'] },
  googlechat: { url: target },
  slack: { token: 'xoxb-1234567890', channel: '#harbour' },
  teams: { url: target },
  telegram: { botToken, chatId: '@harbour' },
  webhook: { url: target, secret: `whsec_${Buffer.alloc(32, 5).toString('base64')}`, headers: { 'X-A': 'b' } },
}

test('a line break is refused in every setting of every kind, and in every line of a message', async () => {
  assert.deepEqual(Object.keys(good), driverNames)
  for (const [type, settings] of Object.entries(good)) {
    const create = (given: object) =>
      app.call('POST', '/api/v1/contactpoints', { key: tenant.developer, body: { name: 'n', type, settings: given } })
    const made = await create(settings)
    assert.equal(made.status, 201, made.text)
    for (const [name, value] of Object.entries(settings)) {
      for (const end of ['\r\nX: y', '\n', '\r']) {
        const broken = JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'string' ? part + end : part))
        const reply = await create({ ...settings, [name]: broken })
        assert.equal(reply.status, 400, `${type} ${name} ${JSON.stringify(end)}`)
      }
    }
    for (const field of ['title', 'subject', 'url']) {
      const body = { message: 'm', [field]: 'https://example.org/\r\nBcc: x@example.org' }
      const reply = await app.call('POST', `/api/v1/contactpoints/${made.body.id}/send`, { key: tenant.reader, body })
      assert.equal(reply.status, 400, `${type} ${field}`)
    }
  }
})
