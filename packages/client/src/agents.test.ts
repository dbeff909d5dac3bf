import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type AgentWorld, agentWorld } from '../../server/testing/agent-world.ts'
import { until } from '../../server/testing/until.ts'
import { type AgentEvent, type Client, createClient } from './client.ts'

let world: AgentWorld
let client: Client
before(async () => {
  world = await agentWorld()
  client = createClient(world.url, world.tenant.developer)
})
after(() => world.close())

const textOf = (events: readonly AgentEvent[]): string =>
  events.map((event) => (event.type === 'delta' ? event.text : '')).join('')

describe('an agent', () => {
  test('is made, invoked and looked at', async () => {
    const { id } = await client.agents.create({ name: 'Echo' })
    await world.worker(id)
    const { output, finishReason, invocationId } = await client.agents.invoke(id, { input: 'hello' })
    assert.deepEqual([output, finishReason], ['hello', 'stop'])
    assert.equal((await client.agents.workers(id)).length, 1)
    await until(async () => (await client.agents.invocations(id, { status: 'succeeded' })).length === 1)
    const [invocation] = await client.agents.invocations(id)
    assert.equal(invocation?.id, invocationId)
  })

  test('streams its answer, which ends with done', async () => {
    const id = await world.agent()
    await world.worker(id, ({ send }) => {
      send({ t: 'accept' })
      for (const text of ['Grüße, ', '日本\n', 'data: x\n\n']) send({ t: 'delta', text })
      send({ t: 'done' })
    })
    const events = await Array.fromAsync(client.agents.stream(id, { input: 'hello' }))
    assert.equal(textOf(events), 'Grüße, 日本\ndata: x\n\n')
    assert.equal(events[0]?.type, 'start')
    const last = events.at(-1)
    assert.ok(last?.type === 'done')
    assert.equal(last.finishReason, 'stop')
  })

  test('a failure before the answer and one in the middle of it both reject with the agent’s error', async () => {
    const id = await world.agent()
    await assert.rejects(Array.fromAsync(client.agents.stream(id, { input: 'x' })), {
      status: 503,
      code: 'agent_unavailable',
    })
    await world.worker(id, ({ send }) => {
      send({ t: 'accept' })
      send({ t: 'delta', text: 'half' })
      send({ t: 'error', code: 'failed', message: 'Out of ideas' })
    })
    const events: AgentEvent[] = []
    const read = async () => {
      for await (const event of client.agents.stream(id, { input: 'x' })) events.push(event)
    }
    await assert.rejects(read, { name: 'ApiError', status: 500, code: 'agent_failed', message: /Out of ideas/ })
    assert.equal(textOf(events), 'half')
  })

  test('leaving the loop ends the invocation', async () => {
    const id = await world.agent()
    const reasons: string[] = []
    await world.worker(id, async ({ send, cancelled }) => {
      send({ t: 'accept' })
      send({ t: 'delta', text: 'one' })
      reasons.push(await cancelled)
    })
    for await (const event of client.agents.stream(id, { input: 'x' })) if (event.type === 'delta') break
    await until(() => reasons.length === 1)
  })

  test('an invocation is cancelled by its id', async () => {
    const id = await world.agent()
    await world.worker(id, async ({ send }) => {
      send({ t: 'accept' })
      send({ t: 'delta', text: 'one' })
    })
    const read = async () => {
      for await (const event of client.agents.stream(id, { input: 'x' })) {
        if (event.type === 'start') await client.agents.cancel(id, event.invocationId)
      }
    }
    await assert.rejects(read, { code: 'cancelled' })
  })
})

describe('a stream that breaks off', () => {
  const begun = 'event: start\ndata: {"invocationId":"1"}\n\nevent: delta\ndata: {"text":"half"}\n\n'
  const cases: [what: string, code: string, end: (response: ServerResponse) => void][] = [
    ['ends without a last event', 'truncated', (response) => response.end()],
    ['ends in the middle of the last event', 'truncated', (response) => response.end('event: done\ndata: {"fin')],
    ['loses its connection', 'network_error', (response) => response.destroy()],
  ]
  for (const [what, code, end] of cases) {
    test(`rejects when it ${what}`, async () => {
      let breakOff = () => {}
      const broken = createServer((_, response) => {
        breakOff = () => end(response)
        response.setHeader('content-type', 'text/event-stream').write(begun)
      }).listen(0, '127.0.0.1')
      await once(broken, 'listening')
      const { agents } = createClient(`http://127.0.0.1:${(broken.address() as AddressInfo).port}`)
      const events: AgentEvent[] = []
      const read = async () => {
        for await (const event of agents.stream('1', { input: 'x' })) {
          events.push(event)
          if (event.type === 'delta') breakOff()
        }
      }
      await assert.rejects(read, { name: 'ApiError', status: 0, code })
      assert.equal(textOf(events), 'half')
      broken.closeAllConnections()
      broken.close()
    })
  }
})
