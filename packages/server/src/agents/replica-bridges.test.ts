import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { until } from '../../testing/agent-world.ts'
import { type TestDatabase, testDatabase } from '../../testing/database.ts'
import { openStream } from '../../testing/event-client.ts'
import { startNats } from '../../testing/peers/nats.ts'
import { type ReplicaProcess, startReplica } from '../../testing/processes/replica-process.ts'

// One database is enough: several processes cannot share the embedded one.

const skip = process.env.TEST_DATABASE_URL ? false : 'the embedded database belongs to one process'

/** Replicas that answer for agents themselves are processes of their own, on one PostgreSQL and one NATS. */
describe('replicas with bridges', { skip }, () => {
  const master = randomUUID()
  const held = new Set<ServerResponse>()
  let left = 0
  let database: TestDatabase
  let nats: Awaited<ReturnType<typeof startNats>>
  let provider: Server
  let first: ReplicaProcess
  let second: ReplicaProcess

  const replica = () =>
    startReplica({
      DATABASE_URL: database.url ?? '',
      NATS_URL: nats.url,
      MASTER_API_KEY: master,
      AGENT_BRIDGES: 'on',
      SECRET_KEY: 'a secret for tests, long enough to be one',
      AGENT_DRAIN_MS: '5000',
    })
  async function call(url: string, method: string, path: string, body?: object) {
    const response = await fetch(`${url}/api/v1/agents${path}`, {
      method,
      headers: { 'x-api-key': master, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  async function agent(fields: object = {}): Promise<string> {
    const config = { url: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` }
    const { status, body } = await call(first.url, 'POST', '', { type: 'http', config, ...fields })
    assert.equal(status, 201, JSON.stringify(body))
    return body.id
  }
  const invoke = (url: string, agentId: string, input = 'now') => call(url, 'POST', `/${agentId}/invoke`, { input })
  const stream = (url: string, agentId: string) =>
    openStream(`${url}/api/v1/agents/${agentId}/stream`, master, { input: 'hold' })

  /** The first word of an answer at once, the rest at once or when the test says so. */
  async function answer(input: string, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (!response.writableFinished) left++
    })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: delta\ndata: {"text":"yes"}\n\n')
    if (input === 'hold') held.add(response)
    else finish(response)
  }
  const finish = (response: ServerResponse) => response.end('event: done\ndata: {}\n\n')
  function letGo(): void {
    for (const response of held) finish(response)
    held.clear()
  }

  before(async () => {
    provider = createServer(async (request, response) => {
      const { input } = (await new Response(request as never).json()) as { input: string }
      await answer(input, response)
    }).listen(0, '127.0.0.1')
    await once(provider, 'listening')
    database = await testDatabase()
    nats = await startNats()
    first = await replica()
    second = await replica()
  })
  after(async () => {
    for (const one of [first, second]) await one?.end('SIGKILL')
    provider.closeAllConnections()
    provider.close()
    await nats?.stop()
    await database?.close()
  })

  test('answer at each of them, and say so in the history', async () => {
    const agentId = await agent()
    for (const { url } of [first, second]) {
      const reply = await invoke(url, agentId)
      assert.deepEqual([reply.status, reply.body.text], [200, 'yes'], JSON.stringify(reply.body))
      assert.equal((await call(url, 'GET', `/${agentId}`)).body.status, 'online')
    }
    await until(async () => (await call(first.url, 'GET', `/${agentId}/invocations`)).body.length === 2, 'no history')
  })

  test('count the limit of an agent together', async () => {
    const agentId = await agent({ maxConcurrency: 3 })
    const urls = Array.from({ length: 10 }, (_, n) => (n % 2 ? second : first).url)
    const replies = await Promise.all(urls.map((url) => stream(url, agentId)))
    const statuses = replies.map(({ status }) => status)
    assert.deepEqual(statuses.toSorted(), [200, 200, 200, 429, 429, 429, 429, 429, 429, 429])
    assert.equal(held.size, 3, 'the provider was asked for no more')
    for (const { url } of [first, second]) {
      const { status, body } = await invoke(url, agentId)
      assert.deepEqual([status, body.code], [429, 'agent_busy'])
    }
    letGo()
    await Promise.all(replies.map(({ over }) => over))
    for (const { url } of [first, second]) assert.equal((await invoke(url, agentId)).status, 200, 'its place is free')
  })

  test('let what one of them answers be cancelled at the other, and leave the provider', async () => {
    const agentId = await agent()
    const reply = await stream(first.url, agentId)
    const path = `/${agentId}/invocations/${reply.headers.get('x-invocation-id')}/cancel`
    await until(async () => (await call(second.url, 'POST', path)).status === 202, 'it is not known')
    await reply.over
    assert.equal(reply.last()?.data.code, 'cancelled')
    await until(() => left === 1, 'the provider still answers')
    held.clear()
  })

  test('end at all of them when the agent is deleted', async () => {
    const agentId = await agent()
    const reply = await stream(second.url, agentId)
    assert.equal((await call(first.url, 'DELETE', `/${agentId}`)).status, 200)
    await reply.over
    assert.equal(reply.last()?.event, 'error')
    held.clear()
  })

  test('outlive one that is killed: the other answers at once, and has its places soon', async () => {
    const [free, limited] = [await agent(), await agent({ maxConcurrency: 2 })]
    const [lost, kept] = [await stream(first.url, limited), await stream(second.url, limited)]
    assert.deepEqual([lost.status, kept.status], [200, 200])
    await first.end('SIGKILL')
    await assert.rejects(lost.over, 'it breaks off')
    assert.equal((await invoke(second.url, free)).status, 200)
    assert.equal((await invoke(second.url, limited)).status, 429)
    await until(async () => (await invoke(second.url, limited)).status === 200, 'a place is lost', 30_000)
    letGo()
    await kept.over
    assert.equal(kept.last()?.event, 'done')
    first = await replica()
    assert.equal((await invoke(first.url, limited)).status, 200)
  })
})
