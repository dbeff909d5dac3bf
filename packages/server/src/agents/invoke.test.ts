import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { echo, type WorkerJob } from '../../testing/agent-worker.ts'
import { type AgentWorld, agentWorld } from '../../testing/agent-world.ts'

// One database is enough: ownership.test.ts invokes agents, by workers and with their history, on both.

let world: AgentWorld
before(async () => {
  world = await agentWorld()
})
after(() => world.close())

describe('an agent that is served', () => {
  test('answers an invoke with the whole text, and says how it ended', async () => {
    const agentId = await world.agent({ model: 'house' })
    await world.worker(agentId, ({ invoke, send }) => {
      send({ t: 'accept' })
      for (const word of invoke.input.split(' ')) send({ t: 'delta', text: `${word.toUpperCase()} ` })
      send({ t: 'done', finishReason: 'length', usage: { inputTokens: 2, odd: 'x', outputTokens: -1 } })
    })
    const reply = await world.invoke(agentId, { input: 'to be', conversationId: 'c1' })
    assert.equal(reply.status, 200)
    const { invocationId, durationMs, ...rest } = reply.body
    assert.equal(reply.headers.get('x-invocation-id'), invocationId)
    assert.ok(durationMs >= 0)
    const text = 'TO BE '
    const ending = { finishReason: 'length', model: 'house', usage: { inputTokens: 2 } }
    assert.deepEqual(rest, { output: text, text, ...ending, conversationId: 'c1' })
  })

  test('streams start, deltas and done, one after the other', async () => {
    const agentId = await world.agent()
    await world.worker(agentId, echo)
    const reply = await world.stream(agentId, { input: 'hello' })
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(reply.headers.get('cache-control'), 'no-cache, no-transform')
    assert.equal(reply.headers.get('x-accel-buffering'), 'no')
    assert.equal(reply.headers.get('content-length'), null)
    await reply.over
    assert.deepEqual(reply.names(), ['start', 'delta', 'done'])
    assert.equal(reply.events[0]?.data.invocationId, reply.headers.get('x-invocation-id'))
    const { durationMs, invocationId, ...done } = reply.last()?.data ?? {}
    assert.equal(typeof durationMs, 'number')
    assert.deepEqual(done, { finishReason: 'stop', model: 'unknown', usage: {} })
  })
})

test('characters that the worker cuts in two arrive whole', async () => {
  const agentId = await world.agent()
  await world.worker(agentId, ({ send }: WorkerJob) => {
    send({ t: 'accept' })
    for (const half of ['a\ud83d', '\ude00', '\ud83d', '\ude01b', 'end\ud83d']) send({ t: 'delta', text: half })
    send({ t: 'done' })
  })
  const reply = await world.stream(agentId, { input: 'x' })
  await reply.over
  assert.equal(reply.text(), 'a😀😁bend\ufffd')
  for (const { event, data } of reply.events) if (event === 'delta') assert.ok(data.text.isWellFormed())
  assert.equal((await world.invoke(agentId, { input: 'x' })).body.text, 'a😀😁bend\ufffd')
})

test('no text of a worker can end a frame or begin one', async () => {
  const nasty = [
    ...['a\nb', 'a\rb', 'a\r\nb', '\n\n', '\r\r', '\u2028\u2029\u0085\v\f', '\0', '\ufeff', ': comment\n'],
    ...[
      '\n\nevent: done\ndata: {"finishReason":"stop"}\n\n',
      'data: x\r\rid: 7\r\rretry: 1\r\r',
      '"}\n\nevent: error\n\n',
    ],
  ]
  const agentId = await world.agent()
  await world.worker(agentId, ({ send }: WorkerJob) => {
    send({ t: 'accept' })
    for (const text of nasty) send({ t: 'delta', text })
    send({ t: 'done', model: 'm\n\nevent: error\ndata: {}\n\n' })
  })
  const reply = await world.stream(agentId, { input: 'x' })
  await reply.over
  assert.deepEqual(reply.names(), ['start', ...nasty.map(() => 'delta'), 'done'])
  assert.equal(reply.text(), nasty.join(''))
})
