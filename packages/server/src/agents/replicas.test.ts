import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../testing/agent-world.ts'
import { type TestDatabase, testDatabase } from '../../testing/database.ts'
import { openStream } from '../../testing/event-client.ts'
import { startNats } from '../../testing/peers/nats.ts'
import { type ReplicaProcess, startReplica, startWorkerProcess } from '../../testing/processes/replica-process.ts'

// One database is enough: several processes cannot share the embedded one.

const skip = process.env.TEST_DATABASE_URL ? false : 'the embedded database belongs to one process'

/** Everything is a process of its own: replicas on one PostgreSQL and one NATS, and workers. */
describe('replicas', { skip }, () => {
  const master = randomUUID()
  const workers: { end(signal: NodeJS.Signals): Promise<void> }[] = []
  const ended: { end(signal: NodeJS.Signals): Promise<void> }[] = []
  let database: TestDatabase
  let nats: Awaited<ReturnType<typeof startNats>>
  let first: ReplicaProcess
  let second: ReplicaProcess

  async function replica(): Promise<ReplicaProcess> {
    const started = await startReplica({
      DATABASE_URL: database.url ?? '',
      NATS_URL: nats.url,
      MASTER_API_KEY: master,
      SECRET_KEY: 'a secret for tests, long enough to be one',
      AGENT_DRAIN_MS: '5000',
    })
    ended.push(started)
    return started
  }
  async function worker(agentId: string, urls: string[], env: Record<string, string> = {}) {
    const started = await startWorkerProcess({ URLS: urls.join(), KEY: master, AGENT: agentId, ...env })
    workers.push(started)
    return started
  }
  async function call(url: string, method: string, path: string, body?: object) {
    const response = await fetch(`${url}/api/v1/agents${path}`, {
      method,
      headers: { 'x-api-key': master, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
    return { status: response.status, body: (await response.json()) as any }
  }
  const agent = async (fields: object = {}) => (await call(first.url, 'POST', '', fields)).body.id as string
  const invoke = (url: string, agentId: string, input: string) => call(url, 'POST', `/${agentId}/invoke`, { input })
  const stream = (url: string, agentId: string, input: string, signal?: AbortSignal) =>
    openStream(`${url}/api/v1/agents/${agentId}/stream`, master, { input }, signal)
  const isSeen = (url: string, agentId: string, workers = 1) =>
    until(async () => (await call(url, 'GET', `/${agentId}`)).body.workers === workers, 'the worker is not seen')

  before(async () => {
    database = await testDatabase()
    nats = await startNats()
    first = await replica()
    second = await replica()
  })
  afterEach(async () => {
    for (const { end } of workers.splice(0)) await end('SIGKILL')
  })
  after(async () => {
    for (const { end } of ended) await end('SIGKILL')
    await nats?.stop()
    await database?.close()
  })

  test('reach a worker that is connected to another one', async () => {
    const agentId = await agent()
    assert.equal((await invoke(second.url, agentId, 'words 1')).status, 503)
    await worker(agentId, [first.url])
    await isSeen(second.url, agentId)
    const reply = await invoke(second.url, agentId, 'words 3')
    assert.equal(reply.status, 200)
    assert.equal(reply.body.text, '0 1 2 ')
    const streamed = await stream(second.url, agentId, 'words 200')
    await streamed.over
    assert.equal(streamed.text(), Array.from({ length: 200 }, (_, n) => `${n} `).join(''))
    assert.equal(streamed.last()?.event, 'done')
    const large = await call(second.url, 'POST', `/${agentId}/invoke`, {
      input: `words 1 ${' '.repeat(200_000)}`,
      messages: [{ role: 'user', content: '"'.repeat(200_000) }],
    })
    assert.equal(large.status, 200, 'messages larger than the broker takes arrive too')
    const { status, capacity } = (await call(second.url, 'GET', `/${agentId}`)).body
    assert.deepEqual({ status, capacity }, { status: 'online', capacity: 8 })
  })

  test('count the slots of a worker and the limit of an agent together', async () => {
    const agentId = await agent()
    await worker(agentId, [first.url], { CONCURRENCY: '1' })
    await isSeen(second.url, agentId)
    const leaving = new AbortController()
    const one = await stream(second.url, agentId, 'start', leaving.signal)
    assert.equal(one.status, 200)
    assert.equal((await invoke(first.url, agentId, 'words 1')).status, 429)
    assert.equal((await invoke(second.url, agentId, 'words 1')).status, 429)
    leaving.abort()
    await until(async () => (await invoke(first.url, agentId, 'words 1')).status === 200, 'the slot is lost')

    const limited = await agent({ maxConcurrency: 2 })
    await worker(limited, [first.url], { WORKER: 'a' })
    await worker(limited, [second.url], { WORKER: 'b' })
    await Promise.all([first, second].map(({ url }) => isSeen(url, limited, 2)))
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, n) => invoke([first, second][n % 2]?.url ?? '', limited, 'words 3 1000')),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 200, 429, 429, 429, 429, 429, 429])
  })

  test('let an invocation be cancelled at any of them', async () => {
    const agentId = await agent()
    await worker(agentId, [first.url])
    const reply = await stream(first.url, agentId, 'start')
    const id = reply.headers.get('x-invocation-id')
    await until(
      async () => (await call(second.url, 'POST', `/${agentId}/invocations/${id}/cancel`)).status === 202,
      'it is not known',
    )
    await reply.over
    assert.equal(reply.last()?.data.code, 'cancelled')
  })

  for (const [where, ask] of [
    ['the same replica', () => first.url],
    ['another replica', () => second.url],
  ] as const) {
    test(`tell at ${where} that a worker was killed: 502 before, an error during the stream; the next call goes elsewhere`, async () => {
      const agentId = await agent()
      const doomed = await worker(agentId, [first.url], { WORKER: 'doomed' })
      await isSeen(ask(), agentId)
      const hanging = invoke(ask(), agentId, 'hang')
      const streaming = await stream(ask(), agentId, 'words 1000 20')
      await until(() => streaming.events.length > 3, 'no delta')
      await until(async () => (await call(first.url, 'GET', `/${agentId}`)).body.inFlight === 2, 'not both have begun')
      await worker(agentId, [second.url], { WORKER: 'other' })
      await doomed.end('SIGKILL')
      assert.equal((await hanging).status, 502)
      assert.equal((await hanging).body.code, 'agent_disconnected')
      await streaming.over
      assert.equal(streaming.last()?.event, 'error')
      assert.equal(streaming.last()?.data.code, 'agent_disconnected')
      assert.equal((await invoke(ask(), agentId, 'words 1')).status, 200)
    })
  }

  test('outlive one that is killed: its streams break off, calls to its workers end with 502', async () => {
    const third = await replica()
    const agentId = await agent()
    await worker(agentId, [third.url], { WORKER: 'far' })
    await isSeen(second.url, agentId)
    const [through, at] = await Promise.all([second.url, third.url].map((url) => stream(url, agentId, 'words 1000 20')))
    await until(() => (through?.events.length ?? 0) > 3 && (at?.events.length ?? 0) > 3, 'no delta')
    await third.end('SIGKILL')
    await assert.rejects(at?.over ?? Promise.resolve())
    assert.equal(at?.last()?.event, 'delta', 'cut off: neither done nor error')
    await through?.over
    assert.equal(through?.last()?.data.code, 'agent_disconnected')
    await until(async () => (await invoke(second.url, agentId, 'words 1')).status === 503, 'it is still believed in')
  })

  test('cancel what a client of a killed replica had asked for', async () => {
    const third = await replica()
    const agentId = await agent()
    await worker(agentId, [first.url])
    await isSeen(third.url, agentId)
    const reply = await stream(third.url, agentId, 'start')
    assert.equal(reply.status, 200)
    await third.end('SIGKILL')
    await until(async () => (await call(first.url, 'GET', `/${agentId}`)).body.inFlight === 0, 'it goes on', 15_000)
  })

  test('restart one after the other without a failed call, though there is one worker', async () => {
    const agentId = await agent()
    const fresh = [await replica(), await replica()]
    await worker(agentId, [first.url, second.url, ...fresh.map(({ url }) => url)], { WORKER: 'only' })
    let alive = [first, second]
    let isOver = false
    const statuses: Record<number, number> = {}
    for (const { url } of [second, ...fresh]) await isSeen(url, agentId)
    const long = await stream(second.url, agentId, 'words 100 20')
    assert.equal(long.status, 200)
    const client = async (n: number) => {
      for (let turn = n; !isOver; turn++) {
        const { url } = alive[turn % alive.length] as ReplicaProcess
        const { status } = await invoke(url, agentId, 'words 2 5')
        statuses[status] = (statuses[status] ?? 0) + 1
      }
    }
    const clients = [0, 1, 2].map(client)
    for (const [index, old] of [first, second].entries()) {
      // A balancer takes a replica out before it is stopped.
      alive = [...alive.filter((one) => one !== old), fresh[index] as ReplicaProcess]
      await wait(300)
      await old.end('SIGTERM')
    }
    await long.over
    assert.equal(long.last()?.event, 'done', 'a stream that had begun was finished')
    isOver = true
    await Promise.all(clients)
    assert.deepEqual(Object.keys(statuses), ['200'], JSON.stringify(statuses))
    assert.ok((statuses[200] ?? 0) > 20)
  })
})
