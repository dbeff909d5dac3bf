import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { testDatabase } from '../../../testing/database.ts'
import { makeDatabaseDirectory } from '../../../testing/database-directory.ts'
import { httpSink } from '../../../testing/peers/http-sink.ts'
import { smtpSink } from '../../../testing/peers/smtp-sink.ts'
import { type ReplicaProcess, startReplica } from '../../../testing/processes/replica-process.ts'
import { until } from '../../../testing/until.ts'

const master = randomUUID()
/** The lease of a process that is gone runs for half a minute. */
const patienceMs = 120_000

type World = { readonly env: Record<string, string>; close(): Promise<void> }

/** A place for one server after another to keep its data. */
async function world(): Promise<World> {
  const directory = await makeDatabaseDirectory('sending')
  const database = process.env.TEST_DATABASE_URL ? await testDatabase() : undefined
  return {
    env: {
      DATA_DIR: directory,
      MASTER_API_KEY: master,
      SECRET_KEY: 'a secret for tests, long enough to be one',
      ...(database?.url && { DATABASE_URL: database.url }),
    },
    async close() {
      await database?.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function call(server: ReplicaProcess, method: string, path: string, body?: object) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { 'x-api-key': master, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  assert.ok(response.ok, `${method} ${path}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** Services that say yes, but for those messages that they are told to hold. */
function gate() {
  const held = new Map<string, () => void>()
  let isOpen = true
  return {
    held,
    close() {
      isOpen = false
    },
    open() {
      isOpen = true
    },
    pass: (id: string) => (isOpen ? undefined : new Promise<void>((resolve) => held.set(id, resolve))),
  }
}

const counted = (ids: string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1
  return counts
}

const messageId = (raw: string): string => /^message-id: <(.+?)@/im.exec(raw)?.[1] ?? ''

test('a server is killed while it sends: what was accepted is sent by the next one, what is recorded as sent is not sent again', async (t) => {
  const place = await world()
  const [hooks, mails] = [gate(), gate()]
  const mailed: string[] = []
  const service = await httpSink(async ({ headers }) => {
    await hooks.pass(String(headers['webhook-id']))
    return { status: 200 }
  })
  const mailServer = await smtpSink(async (_, raw) => {
    mailed.push(messageId(raw))
    return (await mails.pass(messageId(raw))) as undefined
  })
  const start = () => startReplica({ ...place.env, SMTP_URL: mailServer.url })
  let server = await start()
  t.after(async () => {
    await server.end('SIGKILL')
    for (const release of [...hooks.held.values(), ...mails.held.values()]) release()
    await Promise.all([service.close(), mailServer.close()])
    await place.close()
  })

  const { id: applicationId } = await call(server, 'POST', '/applications', { name: 'crash' })
  const { id: pointId } = await call(server, 'POST', '/contactpoints', {
    name: 'hook',
    type: 'webhook',
    settings: { url: service.url },
    applicationId,
  })
  const send = async (): Promise<string> =>
    (await call(server, 'POST', `/contactpoints/${pointId}/send`, { message: 'Hello' })).id
  const mail = async (): Promise<string> => {
    const email = `${randomUUID()}@example.org`
    await call(server, 'POST', '/auth/users', { email, password: randomUUID(), emailVerified: true, applicationId })
    const redirectUrl = 'http://localhost:3000/reset'
    await call(server, 'POST', '/auth/requestpasswordreset', { email, applicationId, redirectUrl })
    let id: string | undefined
    await until(async () => {
      const outbox = await call(server, 'GET', '/outbox')
      id = outbox.find(({ to }: { to: string[] }) => to[0] === email)?.id
      return id !== undefined
    })
    return id ?? ''
  }
  const statuses = async (): Promise<string[]> => {
    const lists = [
      await call(server, 'GET', `/contactpoints/${pointId}/deliveries`),
      await call(server, 'GET', '/outbox'),
    ]
    return lists.flat().map(({ status }: { status: string }) => status)
  }
  const allSent = async () => (await statuses()).every((status) => status === 'delivered')

  const before = [await send(), await mail()]
  await until(allSent)

  hooks.close()
  mails.close()
  const sentHooks = await Promise.all(Array.from({ length: 7 }, send))
  const sentMails = await Promise.all(Array.from({ length: 4 }, mail))
  // An application has four messages on their way at once, and two mails of ours.
  await until(() => hooks.held.size === 4 && mails.held.size === 2)

  // Two services say yes to a server that cannot hear it any more.
  server.process.kill('SIGSTOP')
  const answered = [...hooks.held.keys()].slice(0, 1).concat([...mails.held.keys()].slice(0, 1))
  for (const id of answered) (hooks.held.get(id) ?? mails.held.get(id))?.()
  await server.end('SIGKILL')
  hooks.open()
  mails.open()

  server = await start()
  await until(allSent, patienceMs)
  const counts = counted([...service.requests.map(({ headers }) => String(headers['webhook-id'])), ...mailed])
  const begun = [...hooks.held.keys(), ...mails.held.keys()]
  for (const id of [...before, ...sentHooks, ...sentMails]) {
    assert.equal(counts[id], begun.includes(id) ? 2 : 1, 'what was on its way comes again under the same id')
  }
  assert.equal(Object.keys(counts).length, 13, 'and nothing else')
  for (const id of sentHooks) {
    const bodies = service.requests.filter(({ headers }) => headers['webhook-id'] === id).map(({ body }) => body)
    assert.equal(new Set(bodies).size, 1, 'with the same words')
  }
})
