import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { connectWorker, echo } from '../../../testing/agent-worker.ts'
import { type AgentWorld, agentWorld, until } from '../../../testing/agent-world.ts'
import { stays } from '../../../testing/until.ts'

// One database is enough: sockets of workers do not touch the database; invoke.test.ts and ownership.test.ts write the history
// to both.

let world: AgentWorld
before(async () => {
  world = await agentWorld({
    AGENT_HELLO_MS: '1500',
    AGENT_PING_MS: '200',
    AGENT_BUSY_PING_MS: '100',
    AGENT_WORKERS: '3',
    AGENT_DRAIN_MS: '500',
  })
})
after(() => world.close())

/** What the server says to a handshake that it refuses. */
function refusal(
  path: string,
  headers: Record<string, string>,
  protocol?: string,
): Promise<{ status: number; code: string; retry: unknown }> {
  const socket = new WebSocket(world.url.replace('http', 'ws') + path, protocol, { headers })
  return new Promise((resolve, reject) => {
    socket.on('open', () => reject(new Error('it was let in')))
    socket.on('error', reject)
    socket.on('unexpected-response', async (_request, response) => {
      const pieces = await response.toArray()
      const body = JSON.parse(Buffer.concat(pieces).toString())
      resolve({ status: response.statusCode ?? 0, code: body.code, retry: response.headers['retry-after'] })
    })
  })
}

describe('a worker', () => {
  test('without a key, with execute only, or for an agent of others is refused before the upgrade', async () => {
    const agentId = await world.agent()
    const other = await world.app.tenant('other')
    const refused = async (key: string | undefined, id = agentId) => {
      const headers: Record<string, string> = key === undefined ? {} : { 'x-api-key': key }
      return (await refusal(world.path(id, '/connect'), headers, 'svc.agent.v1')).status
    }
    assert.equal(await refused(undefined), 401)
    assert.equal(await refused(randomUUID()), 401)
    assert.equal(await refused(world.tenant.reader), 401)
    assert.equal(await refused(await world.app.key(world.tenant.id, { agents: { write: [randomUUID()] } })), 401)
    assert.equal(await refused(other.developer), 404)
    assert.equal(await refused(world.tenant.developer, randomUUID()), 404)
    assert.equal(await refused(world.tenant.developer, 'nonsense'), 404)
    await world.app.call('DELETE', `/api/v1/applications/${other.id}`)
  })

  test('that does not speak the protocol is 400, and a plain request 426', async () => {
    const agentId = await world.agent()
    const headers = { 'x-api-key': world.tenant.developer }
    assert.equal((await refusal(world.path(agentId, '/connect'), headers)).status, 400)
    assert.equal((await refusal(world.path(agentId, '/connect'), headers, 'graphql-ws')).status, 400)
    const plain = await fetch(world.url + world.path(agentId, '/connect'), { headers })
    assert.equal(plain.status, 426)
    assert.equal(plain.headers.get('upgrade'), 'websocket')
  })

  test('may give its key in the address', async () => {
    const agentId = await world.agent()
    const address = `${world.url.replace('http', 'ws')}${world.path(agentId, '/connect')}?api-key=${world.tenant.developer}`
    const socket = new WebSocket(address, 'svc.agent.v1')
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    assert.equal(socket.protocol, 'svc.agent.v1')
    socket.terminate()
  })

  test('that never says hello is closed with 4408, and gets no work', async () => {
    const agentId = await world.agent()
    const worker = await world.worker(agentId, echo, { mute: true })
    assert.equal((await world.invoke(agentId, { input: 'x' })).status, 503)
    assert.equal((await worker.closed).code, 4408)
  })

  test('that says something else first, or hello twice, is closed with 4400', async () => {
    const agentId = await world.agent()
    const first = await world.worker(agentId, echo, { mute: true })
    first.send({ t: 'drain' })
    assert.equal((await first.closed).code, 4400)
    const second = await world.worker(agentId, echo)
    second.send({ t: 'hello', protocol: 1, workerId: 'w', concurrency: 1 })
    assert.equal((await second.closed).code, 4400)
    const third = await world.worker(agentId, echo, { mute: true })
    third.send({ t: 'hello', protocol: 2, workerId: 'w', concurrency: 1 })
    assert.equal((await third.closed).code, 4400)
  })

  test('may say what nobody knows yet', async () => {
    const agentId = await world.agent()
    const worker = await world.worker(agentId, echo)
    worker.send({ t: 'weather', mood: 'fine' })
    worker.send({ t: 'delta', id: randomUUID(), text: 'of nothing' })
    assert.equal((await world.invoke(agentId, { input: 'x' })).body.text, 'x')
  })

  test('shows in the list of workers and in the agent, with its load', async () => {
    const agentId = await world.agent()
    const { promise: go, resolve: finish } = Promise.withResolvers<void>()
    const worker = await world.worker(
      agentId,
      async ({ send }) => {
        send({ t: 'accept' })
        send({ t: 'start' })
        await go
        send({ t: 'done' })
      },
      { concurrency: 5, workerId: 'w1' },
    )
    const reply = await world.stream(agentId, { input: 'x' })
    const { status, workers, capacity, inFlight } = await world.get(agentId)
    assert.deepEqual(
      { status, workers, capacity, inFlight },
      { status: 'online', workers: 1, capacity: 5, inFlight: 1 },
    )
    const [info] = await world.get(agentId, '/workers')
    assert.equal(info.workerId, 'w1')
    assert.equal(info.inFlight, 1)
    assert.equal(info.sdk, 'test')
    worker.send({ t: 'status', concurrency: 2 })
    await until(async () => (await world.get(agentId)).capacity === 2, 'the capacity is the old one')
    const list = await world.app.call('GET', '/api/v1/agents?fields=id,status&sort=-createdAt', {
      key: world.tenant.developer,
    })
    assert.deepEqual(list.body[0], { id: agentId, status: 'online' })
    finish()
    await reply.over
    worker.kill()
    await until(async () => (await world.get(agentId)).status === 'offline', 'it is still online')
  })

  test('that connects again under its name takes the place of its old socket', async () => {
    const agentId = await world.agent()
    const old = await world.worker(agentId, () => {}, { workerId: 'same' })
    await world.worker(agentId, echo, { workerId: 'same' })
    assert.equal((await old.closed).code, 4409)
    assert.equal((await world.invoke(agentId, { input: 'x' })).status, 200)
    assert.equal((await world.get(agentId)).workers, 1)
  })

  test('that answers no ping is gone after two', async () => {
    const agentId = await world.agent()
    const worker = await world.worker(agentId, echo)
    const start = performance.now()
    // A frozen process: the kernel holds the socket, nobody reads.
    worker.socket.pause()
    await until(async () => (await world.get(agentId)).status === 'offline', 'it is still online', 30_000)
    assert.ok(performance.now() - start > 200)
  })

  test('of a quiet agent stays as long as it answers pings', async () => {
    const agentId = await world.agent()
    await world.worker(agentId, echo)
    await stays(async () => (await world.get(agentId)).status === 'online', 1_000)
    assert.equal((await world.invoke(agentId, { input: 'x' })).status, 200)
  })

  test('beyond the limit is 429 with Retry-After', async () => {
    const agentId = await world.agent()
    for (let n = 0; n < 3; n++) await world.worker(agentId, echo)
    const headers = { 'x-api-key': world.tenant.developer }
    const { status, retry } = await refusal(world.path(agentId, '/connect'), headers, 'svc.agent.v1')
    assert.equal(status, 429)
    assert.ok(Number(retry) > 0)
  })

  test('is closed with 4404 when its agent is deleted, and with 4401 when its key is', async () => {
    const agentId = await world.agent()
    const first = await world.worker(agentId, echo)
    await world.app.call('DELETE', world.path(agentId), { key: world.tenant.developer })
    assert.equal((await first.closed).code, 4404)
    const second = await world.agent()
    const key = await world.app.key(world.tenant.id, { agents: { write: [second] } })
    const worker = await world.worker(second, echo, { key })
    await world.app.call('DELETE', `/api/v1/apikeys/${key}`)
    assert.equal((await worker.closed).code, 4401)
  })
})

test('whoever asks for an agent again learns of a worker that has come, with the entity tag of before too', async () => {
  const agentId = await world.agent()
  const key = world.tenant.developer
  const before = await world.app.call('GET', world.path(agentId), { key })
  assert.equal(before.body.workers, 0)
  await world.worker(agentId, echo)
  const headers = { 'if-none-match': String(before.headers.etag) }
  const after = await world.app.call('GET', world.path(agentId), { key, headers })
  assert.deepEqual([after.status, after.body.workers, after.headers.etag], [200, 1, before.headers.etag])
})

test('work goes to the least busy worker, and a conversation stays with one', async () => {
  const agentId = await world.agent()
  const did: Record<string, number> = {}
  // Nobody is done before all have come, however slow the machine is.
  const { promise: allAreThere, resolve: allCame } = Promise.withResolvers<void>()
  for (const workerId of ['a', 'b']) {
    await world.worker(
      agentId,
      async ({ send }) => {
        did[workerId] = (did[workerId] ?? 0) + 1
        send({ t: 'accept' })
        if ((did.a ?? 0) + (did.b ?? 0) === 8) allCame()
        await allAreThere
        send({ t: 'done' })
      },
      { workerId, concurrency: 4 },
    )
  }
  await Promise.all(Array.from({ length: 8 }, () => world.invoke(agentId, { input: 'x' })))
  assert.deepEqual(did, { a: 4, b: 4 })
  did.a = did.b = 0
  for (let n = 0; n < 6; n++) await world.invoke(agentId, { input: 'x', conversationId: 'c' })
  assert.deepEqual(Object.values(did).sort(), [0, 6])
})

test('a server that stops tells its workers, lets streams end, and ends the rest with 503', async () => {
  const stopping = await agentWorld({ AGENT_DRAIN_MS: '3000' })
  const agentId = await stopping.agent()
  const { promise: told, resolve } = Promise.withResolvers<void>()
  const worker = await connectWorker({
    url: stopping.url,
    key: stopping.tenant.developer,
    agentId,
    onGoaway: () => resolve(),
    async handle({ invoke, send }) {
      send({ t: 'accept' })
      send({ t: 'start' })
      if (invoke.input === 'ends') {
        await wait(200)
        send({ t: 'done' })
      }
    },
  })
  const [ends, stays] = await Promise.all(['ends', 'stays'].map((input) => stopping.stream(agentId, { input })))
  const closing = stopping.app.close()
  await told
  await ends?.over
  assert.equal(ends?.last()?.event, 'done')
  await stays?.over
  assert.equal(stays?.last()?.data.code, 'shutting_down')
  assert.equal(stays?.last()?.data.statusCode, 503)
  assert.equal((await worker.closed).code, 1012)
  await closing
})
