import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { echo, type WorkerJob } from '../../testing/agent-worker.ts'
import { type AgentWorld, agentWorld, until } from '../../testing/agent-world.ts'

// One database is enough: workers and callers meet in memory; invoke.test.ts and ownership.test.ts write the history to both.

let world: AgentWorld
before(async () => {
  world = await agentWorld({ AGENT_OUTPUT_BYTES: '100000', AGENT_ACCEPT_MS: '300' })
})
after(() => world.close())

const modes = ['invoke', 'stream'] as const
const problemOf = (reply: { problem: unknown } | { body: unknown }) =>
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
  ('problem' in reply ? reply.problem : reply.body) as any

describe('before an agent is asked', () => {
  for (const mode of modes) {
    test(`no key, or not enough of one, is 401; an agent that is not there or of others 404 (${mode})`, async () => {
      const agentId = await world.agent()
      const other = await world.app.tenant('others')
      const readers = await world.app.key(world.tenant.id, { agents: { read: '*' } })
      const elsewhere = await world.app.key(world.tenant.id, { agents: { execute: [randomUUID()] } })
      const ask = (key: string | null, id = agentId) =>
        world.app.call('POST', world.path(id, `/${mode}`), { key, body: { input: 'x' } })
      for (const key of [null, randomUUID(), readers, elsewhere]) {
        const reply = await ask(key)
        assert.deepEqual([reply.status, reply.body.code], [401, 'unauthorized'])
      }
      for (const reply of [await ask(other.developer), await ask(world.tenant.reader, randomUUID())]) {
        assert.deepEqual([reply.status, reply.body.code], [404, 'agent_not_found'])
      }
      assert.equal((await ask(readers, randomUUID())).status, 401, 'the key is looked at first')
    })

    test(`the input is looked at before the workers, and the workers before their slots (${mode})`, async () => {
      const agentId = await world.agent({ maxConcurrency: 1 })
      assert.equal((await world[mode](agentId, {})).status, 400)
      assert.equal((await world[mode](agentId, { input: 'x' })).status, 503)
      const worker = await world.worker(agentId, ({ send }: WorkerJob) => {
        send({ t: 'accept' })
        send({ t: 'start' })
      })
      const first = await world.stream(agentId, { input: 'x' })
      assert.equal((await world[mode](agentId, { input: 'x' })).status, 429)
      worker.send({ t: 'drain' })
      await until(async () => (await world.get(agentId)).status === 'draining', 'it does not drain')
      const reply = await world[mode](agentId, { input: 'x' })
      assert.deepEqual([reply.status, problemOf(reply).code], [503, 'agent_unavailable'])
      worker.kill()
      await first.over
    })
  }
})

describe('a worker that does not take the call', () => {
  for (const mode of modes) {
    test(`because of its input is 400 agent_rejected, and no other worker is asked (${mode})`, async () => {
      const agentId = await world.agent()
      let asked = 0
      const refuse = ({ send }: WorkerJob) => {
        asked++
        send({ t: 'reject', code: 'invalid_input', message: 'No maps of Atlantis' })
      }
      await world.worker(agentId, refuse)
      await world.worker(agentId, refuse)
      const reply = await world[mode](agentId, { input: 'x' })
      assert.deepEqual([reply.status, problemOf(reply).code], [400, 'agent_rejected'])
      assert.match(problemOf(reply).message, /Atlantis/)
      assert.equal(problemOf(reply).retryable, false)
      assert.equal(asked, 1)
    })
  }

  test('and all that is 503 says when to try again', async () => {
    const drained = await world.agent()
    const worker = await world.worker(drained, echo)
    worker.send({ t: 'drain' })
    await until(async () => (await world.get(drained)).status !== 'online', 'it does not drain')
    const disabled = await world.agent({ enabled: false })
    await world.worker(disabled, echo)
    const lost = await world.agent()
    await world.worker(lost, (job) => job.worker.kill())
    for (const agentId of [await world.agent(), drained, disabled, lost]) {
      for (const mode of modes) {
        const reply = await world[mode](agentId, { input: 'x' })
        const { code, retryable } = problemOf(reply)
        assert.deepEqual([reply.status, code, retryable], [503, 'agent_unavailable', true])
        assert.equal(reply.headers.get('retry-after'), '5')
      }
    }
  })
})

describe('an invoke that fails when some of its answer has come', () => {
  const cases: [string, number, string, object, (job: WorkerJob) => unknown][] = [
    ['rejected', 400, 'agent_rejected', {}, ({ send }) => send({ t: 'error', code: 'rejected', message: 'no' })],
    ['failed', 500, 'agent_failed', {}, ({ send }) => send({ t: 'error', code: 'failed', message: 'no' })],
    ['too long', 500, 'agent_failed', {}, ({ send }) => send({ t: 'delta', text: 'x'.repeat(100_000) })],
    ['the provider’s', 502, 'provider_failed', {}, ({ send }) => send({ t: 'error', code: 'provider', message: 'no' })],
    ['cut off', 502, 'agent_disconnected', {}, ({ worker }) => worker.kill()],
    ['silent', 504, 'agent_timeout', { idleTimeoutMs: 200 }, () => {}],
    ['endless', 504, 'agent_timeout', { maxDurationMs: 200 }, () => {}],
  ]
  for (const [name, status, code, fields, fail] of cases) {
    test(`because it is ${name} is ${status} ${code}, and nothing of the answer is passed on`, async () => {
      const agentId = await world.agent(fields)
      await world.worker(agentId, (job) => {
        job.send({ t: 'accept' })
        job.send({ t: 'delta', text: 'half a sentence' })
        return fail(job)
      })
      const reply = await world.invoke(agentId, { input: 'x' })
      assert.deepEqual([reply.status, reply.body.code], [status, code])
      assert.doesNotMatch(JSON.stringify(reply.body), /half a sentence/)
    })
  }
})

test('a stream that answers more than it may ends with the event error 500', async () => {
  const agentId = await world.agent()
  await world.worker(agentId, ({ send }) => {
    send({ t: 'accept' })
    for (let n = 0; n < 11; n++) send({ t: 'delta', text: 'x'.repeat(10_000) })
  })
  const reply = await world.stream(agentId, { input: 'x' })
  await reply.over
  assert.equal(reply.status, 200)
  assert.deepEqual([reply.last()?.event, reply.last()?.data.statusCode], ['error', 500])
  assert.equal(reply.last()?.data.code, 'agent_failed')
  assert.ok(reply.text().length <= 100_000)
})

test('calls that a worker never answers end with 504 in both ways', async () => {
  const agentId = await world.agent()
  await world.worker(agentId, () => {})
  for (const mode of modes) {
    const reply = await world[mode](agentId, { input: 'x' })
    assert.deepEqual([reply.status, problemOf(reply).code], [504, 'agent_timeout'])
  }
})

test('calls without a first word when the server has to stop are 503 shutting_down', async () => {
  const stopping = await agentWorld({ AGENT_DRAIN_MS: '300' })
  const agentId = await stopping.agent()
  await stopping.worker(agentId, ({ send }) => send({ t: 'accept' }))
  const asked = modes.map((mode) => stopping[mode](agentId, { input: 'x' }))
  await until(async () => (await stopping.get(agentId)).inFlight === 2, 'they have not begun')
  const closing = stopping.app.close()
  for (const reply of await Promise.all(asked)) {
    assert.deepEqual([reply.status, problemOf(reply).code], [503, 'shutting_down'])
    assert.equal(problemOf(reply).retryable, true)
  }
  await closing
})
