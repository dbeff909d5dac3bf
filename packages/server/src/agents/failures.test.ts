import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { echo, type WorkerJob } from '../../testing/agent-worker.ts'
import { type AgentWorld, agentWorld, until } from '../../testing/agent-world.ts'

// One database is enough: workers and callers meet in memory; invoke.test.ts and ownership.test.ts write the history to both.

let world: AgentWorld
before(async () => {
  world = await agentWorld({
    AGENT_ACCEPT_MS: '300',
    AGENT_CANCEL_GRACE_MS: '300',
    AGENT_KEEPALIVE_MS: '50',
    AGENT_OUTPUT_BYTES: '100000',
    AGENT_INPUT_BYTES: '1024',
  })
})
after(() => world.close())

/** What happens before the first output is a status; afterwards the same is an event. */
type Case = {
  name: string
  code: string
  status: number
  agent?: object
  handle(job: WorkerJob): unknown
}

const cases: Case[] = [
  {
    name: 'a worker that rejects the input',
    code: 'agent_rejected',
    status: 400,
    handle: ({ send }) => send({ t: 'error', code: 'rejected', message: 'No maps of Atlantis' }),
  },
  {
    name: 'a handler that fails',
    code: 'agent_failed',
    status: 500,
    handle: ({ send }) => send({ t: 'error', code: 'failed', message: 'Oops\n    at secret.js:1' }),
  },
  {
    name: 'an ending that makes no sense',
    code: 'agent_failed',
    status: 500,
    handle: ({ send }) => send({ t: 'done', usage: 'much' }),
  },
  {
    name: 'a provider that fails',
    code: 'provider_failed',
    status: 502,
    handle: ({ send }) => send({ t: 'error', code: 'provider', message: 'Overloaded' }),
  },
  {
    name: 'a worker whose socket breaks',
    code: 'agent_disconnected',
    status: 502,
    handle: ({ worker }) => worker.kill(),
  },
  {
    name: 'a worker that closes properly',
    code: 'agent_disconnected',
    status: 502,
    handle: ({ worker }) => worker.close(),
  },
  {
    name: 'a worker that breaks the protocol',
    code: 'agent_disconnected',
    status: 502,
    handle: ({ worker }) => worker.socket.send('{"t":"delta","id":7}'),
  },
  {
    name: 'a worker that sends no JSON',
    code: 'agent_disconnected',
    status: 502,
    handle: ({ worker }) => worker.socket.send('{'),
  },
  {
    name: 'a worker that sends bytes',
    code: 'agent_disconnected',
    status: 502,
    handle: ({ worker }) => worker.socket.send(Buffer.from('{}')),
  },
  {
    name: 'a frame that is too large',
    code: 'agent_disconnected',
    status: 502,
    handle: ({ worker }) => worker.socket.send('x'.repeat(1_100_000)),
  },
  {
    name: 'a silent worker',
    code: 'agent_timeout',
    status: 504,
    agent: { timeoutMs: 200, idleTimeoutMs: 200 },
    handle: () => {},
  },
  {
    name: 'a worker that takes too long altogether',
    code: 'agent_timeout',
    status: 504,
    agent: { maxDurationMs: 200 },
    handle: () => {},
  },
]

for (const { name, code, status, agent = {}, handle } of cases) {
  describe(name, () => {
    for (const mode of ['invoke', 'stream'] as const) {
      test(`is ${status} ${code} before the first output (${mode})`, async () => {
        const agentId = await world.agent(agent)
        await world.worker(agentId, (job) => {
          job.send({ t: 'accept' })
          return handle(job)
        })
        const reply = await world[mode](agentId, { input: 'x' })
        const problem = 'problem' in reply ? reply.problem : reply.body
        assert.equal(reply.status, status)
        assert.equal(problem.code, code)
        assert.equal(problem.invocationId, reply.headers.get('x-invocation-id'))
        assert.doesNotMatch(problem.message, /secret\.js/)
        await until(async () => (await world.get(agentId)).inFlight === 0, 'its slot is not free')
      })
    }
    test(`is the event error ${status} after it`, async () => {
      const agentId = await world.agent(agent)
      await world.worker(agentId, async (job) => {
        job.send({ t: 'accept' })
        job.send({ t: 'delta', text: 'so far' })
        await wait(50)
        await handle(job)
      })
      const reply = await world.stream(agentId, { input: 'x' })
      assert.equal(reply.status, 200)
      await reply.over
      assert.deepEqual(reply.names(), ['start', 'delta', 'error'])
      const { data } = reply.last() ?? {}
      assert.equal(data.statusCode, status)
      assert.equal(data.code, code)
      assert.equal(data.invocationId, reply.headers.get('x-invocation-id'))
      assert.equal(data.retryable, ['provider_failed', 'agent_disconnected', 'agent_timeout'].includes(code))
      const [entry] = await world.get(agentId, '/invocations')
      assert.equal(entry.status, 'failed')
      assert.equal(entry.errorCode, code)
      assert.equal(entry.statusCode, status)
    })
  })
}

describe('an input', () => {
  test('is required: missing, null, empty or no text is 400, after the agent was found', async () => {
    const agentId = await world.agent()
    for (const body of [{}, { input: null }, { input: 7 }, { input: '' }, { input: ['x'] }, { input: '\0\ud800' }]) {
      const reply = await world.invoke(agentId, body)
      assert.equal(reply.status, 400)
      assert.equal(reply.body.code, 'input_required')
    }
    const absent = await world.invoke(randomUUID(), {})
    assert.equal(absent.status, 404)
    assert.equal(absent.body.code, 'agent_not_found')
  })

  test('that is too large is 400, a body that is too large 413', async () => {
    const agentId = await world.agent()
    const reply = await world.stream(agentId, { input: 'é'.repeat(600) })
    assert.equal(reply.status, 400)
    assert.equal(reply.problem.code, 'input_too_large')
    const { limit, limitName } = reply.problem
    assert.deepEqual({ limit, limitName }, { limit: 1_024, limitName: 'agentInputBytes' })
    assert.equal((await world.invoke(agentId, { input: 'x'.repeat(1_100_000) })).status, 413)
  })

  test('with NUL and half characters reaches the worker without them', async () => {
    const agentId = await world.agent()
    await world.worker(agentId, echo)
    const reply = await world.invoke(agentId, { input: 'a\0b\ud83dc😀' })
    assert.equal(reply.body.text, 'abc😀')
  })
})

describe('an agent', () => {
  test('that nobody serves is 503 with Retry-After', async () => {
    const reply = await world.invoke(await world.agent(), { input: 'x' })
    assert.equal(reply.status, 503)
    assert.equal(reply.body.code, 'agent_unavailable')
    assert.equal(reply.headers.get('retry-after'), '5')
  })

  test('whose only worker drains is 503, and finishes what it has', async () => {
    const agentId = await world.agent()
    const { promise: go, resolve: finish } = Promise.withResolvers<void>()
    await world.worker(agentId, async ({ send, worker }) => {
      send({ t: 'accept' })
      send({ t: 'start' })
      worker.send({ t: 'drain' })
      await go
      send({ t: 'done' })
    })
    const first = await world.stream(agentId, { input: 'x' })
    await until(async () => (await world.get(agentId)).status === 'draining', 'it does not drain')
    assert.equal((await world.stream(agentId, { input: 'x' })).status, 503)
    finish()
    await first.over
    assert.equal(first.last()?.event, 'done')
  })

  test('that is disabled is 503 although it is served', async () => {
    const agentId = await world.agent({ enabled: false })
    await world.worker(agentId, echo)
    assert.equal((await world.invoke(agentId, { input: 'x' })).status, 503)
  })

  test('whose worker is lost before it accepts is 503, unless another takes over', async () => {
    const agentId = await world.agent()
    await world.worker(agentId, ({ worker }) => worker.kill())
    assert.equal((await world.invoke(agentId, { input: 'x' })).status, 503)
    await world.worker(agentId, ({ worker }) => worker.kill())
    await world.worker(agentId, ({ worker }) => worker.kill())
    await world.worker(agentId, echo)
    const replies = await Promise.all([1, 2, 3].map(() => world.invoke(agentId, { input: 'x' })))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200],
    )
  })

  test('whose workers never accept is 504, and another worker is asked first', async () => {
    const agentId = await world.agent()
    const mute = await world.worker(agentId, () => {})
    const reply = await world.invoke(agentId, { input: 'x' })
    assert.equal(reply.status, 504)
    assert.equal(reply.body.code, 'agent_timeout')
    await until(() => mute.frames.some((frame) => frame.t === 'cancel' && frame.reason === 'ack_timeout'), 'not told')
    await world.worker(agentId, echo)
    assert.equal((await world.invoke(agentId, { input: 'x' })).status, 200)
  })

  test('whose slots are all taken is 429 with Retry-After', async () => {
    const agentId = await world.agent()
    const { promise: go, resolve: finish } = Promise.withResolvers<void>()
    const slow = async ({ send }: WorkerJob) => {
      send({ t: 'accept' })
      send({ t: 'start' })
      await go
      send({ t: 'done' })
    }
    await world.worker(agentId, slow, { concurrency: 1 })
    const first = await world.stream(agentId, { input: 'x' })
    const second = await world.invoke(agentId, { input: 'x' })
    assert.equal(second.status, 429)
    assert.equal(second.body.code, 'agent_busy')
    assert.equal(second.headers.get('retry-after'), '1')
    finish()
    await first.over
    assert.equal((await world.invoke(agentId, { input: 'x' })).status, 200)
  })

  test('whose workers all say busy is 429', async () => {
    const agentId = await world.agent()
    await world.worker(agentId, ({ send }) => send({ t: 'reject', code: 'busy', message: '' }))
    await world.worker(agentId, ({ send }) => send({ t: 'reject', code: 'busy', message: '' }))
    assert.equal((await world.invoke(agentId, { input: 'x' })).status, 429)
  })

  test('at its own limit is 429, and has its place free the moment a call has ended', async () => {
    const agentId = await world.agent({ maxConcurrency: 2 })
    const { promise: refused, resolve: release } = Promise.withResolvers<void>()
    await world.worker(agentId, async ({ send, invoke }) => {
      send({ t: 'accept' })
      if (invoke.input === 'slow') await Promise.race([refused, wait(20_000)])
      send({ t: 'done' })
    })
    let refusals = 0
    const slow = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const reply = await world.invoke(agentId, { input: 'slow' })
        if (reply.status === 429 && ++refusals === 2) release()
        return reply
      }),
    )
    assert.deepEqual(slow.map(({ status }) => status).sort(), [200, 200, 429, 429])
    const { limit, limitName } = slow.find(({ status }) => status === 429)?.body ?? {}
    assert.deepEqual({ limit, limitName }, { limit: 2, limitName: 'agentInvocations' })
    for (let n = 0; n < 10; n++) {
      const pair = await Promise.all([1, 2].map(() => world.invoke(agentId, { input: 'quick' })))
      assert.deepEqual(
        pair.map(({ status }) => status),
        [200, 200],
      )
    }
  })

  test('that answers more than it may is 500, and is told to stop', async () => {
    const agentId = await world.agent()
    const worker = await world.worker(agentId, ({ send }) => {
      send({ t: 'accept' })
      for (let n = 0; n < 11; n++) send({ t: 'delta', text: 'x'.repeat(10_000) })
    })
    const reply = await world.invoke(agentId, { input: 'x' })
    assert.equal(reply.status, 500)
    assert.equal(reply.body.code, 'agent_failed')
    await until(
      () => worker.frames.some((frame) => frame.t === 'cancel' && frame.reason === 'output_limit'),
      'not told',
    )
  })
})

test('a stream that is silent after its start carries comments, and progress keeps it alive', async () => {
  const agentId = await world.agent({ idleTimeoutMs: 1_500 })
  await world.worker(agentId, async ({ send }) => {
    send({ t: 'accept' })
    send({ t: 'start' })
    for (let n = 0; n < 8; n++) {
      await wait(250)
      send({ t: 'progress' })
    }
    send({ t: 'done' })
  })
  const reply = await world.stream(agentId, { input: 'x' })
  await reply.over
  assert.deepEqual(reply.names(), ['start', 'done'])
  assert.ok(reply.comments() >= 5)
})

test('a call may only lower the time until the first output', async () => {
  // Each of the two times is far from the other, so that a busy machine does not make them look alike.
  for (const [ofAgent, timeoutMs, least] of [
    [60_000, 50, 40],
    [300, 60_000, 290],
  ] as const) {
    const agentId = await world.agent({ timeoutMs: ofAgent })
    await world.worker(agentId, ({ send }) => send({ t: 'accept' }))
    const start = performance.now()
    assert.equal((await world.invoke(agentId, { input: 'x', timeoutMs })).status, 504)
    const took = performance.now() - start
    assert.ok(took >= least && took < 30_000, `${took}`)
  }
})

test('a worker that accepts in time is served, though the server itself stood still meanwhile', async () => {
  const agentId = await world.agent()
  await world.worker(agentId, (job) => {
    // Worker and server share this thread: neither reads anything until it goes on.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
    echo(job)
  })
  const { status, body } = await world.invoke(agentId, { input: 'still here' })
  assert.equal(status, 200, JSON.stringify(body))
})
