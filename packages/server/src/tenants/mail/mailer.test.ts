import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { migratedDatabase, type TestDatabase } from '../../../testing/database.ts'
import { type SmtpSink, smtpSink } from '../../../testing/peers/smtp-sink.ts'
import { stays, until } from '../../../testing/until.ts'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import { setUp } from '../../boot/start/first-start.ts'
import { json, sql } from '../../kernel/db/sql.ts'
import { createOutbox } from '../outbox/outbox.ts'
import { createMailer, type TemplateMail } from './mailer.ts'

const secrets = createSecrets('a secret for tests, long enough to be one')
const link = 'https://app.example.org/confirm?token=t0ken&email=a%40example.org'

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
// Whoever is left would take the mail of the next.
afterEach(closeAll)
after(async () => {
  await database.close()
  assert.deepEqual(errors, [])
})

async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close()
}

/** All that sends mail, as one process has it. */
function stack(smtpUrl?: string) {
  const { db } = database
  const onError = (error: unknown) => void errors.push(error)
  const outbox = createOutbox({ db, onError })
  const mailer = createMailer({
    db,
    secrets,
    smtpUrl,
    from: 'Graticule Test <no-reply@maps.example.org>',
    register: outbox.add,
    delaysSeconds: [0.1, 0.1],
  })
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    await outbox.close()
    mailer.close()
  }
  closers.push(close)
  return { ...mailer, start: outbox.start, close }
}

async function sink(...parameters: Parameters<typeof smtpSink>): Promise<SmtpSink> {
  const made = await smtpSink(...parameters)
  closers.push(made.close)
  return made
}

const mailTo = (to: string, more: Partial<TemplateMail> = {}): TemplateMail => ({
  applicationId,
  template: 'confirm',
  to,
  values: { link },
  ...more,
})

type State = { status: string; content: string | null; attempts: { statusCode?: number; error?: string }[] }

async function state(id: string): Promise<State> {
  const [row] = await database.db.query<State>(
    sql`SELECT status, content, attempts FROM svc.outbox WHERE id = ${id}::uuid`,
  )
  if (!row) throw new Error('There is no such mail')
  return row
}

async function ended(id: string): Promise<State> {
  await until(async () => (await state(id)).status !== 'pending')
  return state(id)
}

/** A body in quoted-printable, read. */
const readable = (raw: string): string => raw.replace(/=\r\n/g, '').replace(/=3D/g, '=').replace(/\r\n/g, '\n')

test('a mail goes out when its transaction is committed, and its words are gone then', async () => {
  const server = await sink()
  const { send } = stack(server.url)
  let id = ''
  await database.db.transaction(async (tx) => {
    id = await send(tx, mailTo('a@example.org'))
    await stays(() => server.mails.length === 0, 150)
  })
  const { status, content, attempts } = await ended(id)
  assert.equal(status, 'delivered')
  assert.equal(content, null)
  assert.deepEqual(
    attempts.map(({ statusCode }) => statusCode),
    [250],
  )
  const [mail] = server.mails
  assert.ok(mail)
  assert.equal(mail.from, 'no-reply@maps.example.org')
  assert.deepEqual(mail.to, ['a@example.org'])
  assert.equal(mail.headers['message-id'], `<${id}@maps.example.org>`)
  assert.equal(mail.headers.from, 'Graticule Test <no-reply@maps.example.org>')
  assert.equal(mail.headers['auto-submitted'], 'auto-generated')
  assert.match(mail.headers['content-type'] ?? '', /^multipart\/alternative/)
  assert.ok(readable(mail.body).includes(`\n${link}\n`), readable(mail.body))
  assert.ok(readable(mail.body).includes(`<a href="${link.replaceAll('&', '&amp;')}">`))
})

test('a transaction that fails sends nothing', async () => {
  const server = await sink()
  const { send } = stack(server.url)
  await assert.rejects(
    database.db.transaction(async (tx) => {
      await send(tx, mailTo('nobody@example.org'))
      throw new Error('no')
    }),
  )
  await stays(() => server.mails.length === 0, 700)
})

test('what was committed is sent once, though the process ended before, and three look for it', async () => {
  const server = await sink()
  const stopped = stack(server.url)
  await stopped.close()
  const ids = await Promise.all(
    Array.from({ length: 6 }, (_, n) => stopped.send(database.db, mailTo(`crash-${n}@example.org`))),
  )
  const processes = [stack(server.url), stack(server.url), stack(server.url)]
  for (const { start } of processes) start()
  for (const id of ids) assert.equal((await ended(id)).status, 'delivered')
  assert.equal(server.mails.length, 6)
  await Promise.all(processes.map(({ close }) => close()))
})

test('a server that is busy is asked again; one that refuses is not', async () => {
  const busy = await sink((count) => (count === 1 ? { code: 451, message: 'later' } : undefined))
  const one = await ended(await stack(busy.url).send(database.db, mailTo('a@example.org')))
  assert.equal(one.status, 'delivered')
  assert.deepEqual(
    one.attempts.map(({ statusCode }) => statusCode),
    [451, 250],
  )
  await closeAll()
  const closed = await sink(() => ({ code: 554, message: 'never\u0000' }))
  const two = await ended(await stack(closed.url).send(database.db, mailTo('a@example.org')))
  assert.equal(two.status, 'failed')
  assert.equal(two.attempts.length, 1)
  assert.match(two.attempts[0]?.error ?? '', /never/)
  await closeAll()
  const three = await ended(await stack('smtp://user:pa55word@127.0.0.1:1').send(database.db, mailTo('a@example.org')))
  assert.equal(three.status, 'failed')
  assert.equal(three.attempts.length, 3)
  assert.doesNotMatch(JSON.stringify(three), /pa55word/)
})

test('without a mail server it stays, sealed, and can be read', async () => {
  const { send, read } = stack()
  const id = await send(database.db, mailTo('kept@example.org', { template: 'reset' }))
  const { status, content } = await state(id)
  assert.equal(status, 'kept')
  assert.doesNotMatch(content ?? '', /t0ken/)
  assert.ok(read(content, id)?.text.includes(link))
  assert.throws(() => read(content, randomUUID()), 'it opens in its own row only')
})

test('the words are the application’s own where it has some, and values are escaped', async () => {
  const { send, read } = stack()
  const own = {
    subject: 'Hi {{ name }} from {{application}}{{nothing}}',
    text: '{{name}}: {{link}}',
    html: '<b title="{{name}}">{{name}}</b>',
  }
  const nested = { mail: { templates: { confirm: own, reset: { text: 5 } } } }
  await database.db.query(sql`
    UPDATE svc.applications SET name = 'Harbour', metadata = ${json(nested)} WHERE id = ${applicationId}::uuid`)
  const name = '<i>"{{link}}"</i>\r\nBcc: x@example.org'
  const id = await send(database.db, mailTo('a@example.org', { values: { link, name } }))
  const { subject, text, html } = read((await state(id)).content, id) ?? {}
  assert.equal(subject, 'Hi <i>"{{link}}"</i> Bcc: x@example.org from Harbour')
  assert.equal(text, `${name}: ${link}`)
  assert.equal(html, ['<b title="', '">', '</b>'].join('&lt;i&gt;&quot;{{link}}&quot;&lt;/i&gt;\r\nBcc: x@example.org'))
  const usual = await send(database.db, mailTo('a@example.org', { template: 'reset' }))
  assert.match(read((await state(usual)).content, usual)?.subject ?? '', /^Reset your password for Harbour$/)
  await database.db.query(sql`UPDATE svc.applications SET metadata = '{}' WHERE id = ${applicationId}::uuid`)
})

test('neither an address nor a subject can add a header or a recipient', async () => {
  const server = await sink()
  const { send, deliver } = stack(server.url)
  for (const to of [
    'a@example.org\r\nBcc: b@example.org',
    'a@example.org, b@example.org',
    '<a@example.org>',
    'a b@x.org',
  ]) {
    await assert.rejects(send(database.db, mailTo(to)), { code: 'invalid_request' })
    const { isFinal } = await deliver({ id: randomUUID(), applicationId, to: [to], subject: 's', text: 't' })
    assert.equal(isFinal, true)
  }
  const subject = 'Hello\r\nBcc: b@example.org\r\n\r\nbody'
  await deliver({ id: randomUUID(), applicationId, to: ['a@example.org'], subject, text: '\r\n.\r\nMAIL FROM:<x@y.z>' })
  assert.equal(server.mails.length, 1)
  assert.deepEqual(server.mails[0]?.to, ['a@example.org'])
  assert.equal(server.mails[0]?.headers.subject, 'Hello Bcc: b@example.org body')
  assert.equal(server.mails[0]?.headers.bcc, undefined)
})
