import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { echo, type WorkerJob } from '../../testing/agent-worker.ts'
import { type AgentWorld, agentWorld, until } from '../../testing/agent-world.ts'

// One database is enough: workers and callers meet in memory; invoke.test.ts and ownership.test.ts write the history to both.

const graceMs = 400
const stalledMs = 600

let world: AgentWorld
before(async () => {
  world = await agentWorld({
    AGENT_CANCEL_GRACE_MS: String(graceMs),
    AGENT_STALLED_MS: String(stalledMs),
    // More than the system's own buffers take.
    AGENT_OUTPUT_BYTES: '100000000',
  })
})
after(() => world.close())

/** Accepts, starts, and waits until it is told to stop. */
const endless = async ({ send, cancelled }: WorkerJob) => {
  send({ t: 'accept' })
  send({ t: 'start' })
  await cancelled
  send({ t: 'cancelled' })
}

/** Asks for a stream, and reads no more of it than the system does by itself. */
function askAndStop(t: TestContext, agentId: string): void {
  const body = JSON.stringify({ input: 'x' })
  const socket = connect({ port: Number(new URL(world.url).port), host: '127.0.0.1' })
  t.after(() => socket.destroy())
  socket.on('error', () => {}).pause()
  socket.write(
    [
      `POST ${world.path(agentId, '/stream')} HTTP/1.1`,
      ...['Host: a', `X-Api-Key: ${world.tenant.reader}`, 'Content-Type: application/json'],
      ...[`Content-Length: ${body.length}`, '', body],
    ].join('\r\n'),
  )
}

/** Asks for a whole answer, and closes the connection after so many milliseconds. */
async function askAndLeave(agentId: string, afterMs: number, headers: readonly string[]): Promise<void> {
  const body = JSON.stringify({ input: 'x' })
  const socket = connect({ port: Number(new URL(world.url).port), host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write(
    [
      `POST ${world.path(agentId, '/invoke')} HTTP/1.1`,
      ...['Host: a', `X-Api-Key: ${world.tenant.reader}`, 'Content-Type: application/json', ...headers],
      ...[`Content-Length: ${body.length}`, '', body],
    ].join('\r\n'),
  )
  await wait(afterMs)
  socket.destroy()
}

const inFlight = async (agentId: string) => (await world.get(agentId)).inFlight

describe('a client that leaves', () => {
  for (const moment of ['before the first output', 'during the stream'] as const) {
    test(`${moment} cancels the work, and the slot is free when the worker confirms`, async () => {
      const agentId = await world.agent()
      const { promise: reason, resolve } = Promise.withResolvers<string>()
      await world.worker(agentId, async ({ send, cancelled }) => {
        send({ t: 'accept' })
        if (moment === 'during the stream') send({ t: 'delta', text: 'a' })
        resolve(await cancelled)
        await wait(100)
        send({ t: 'cancelled' })
      })
      const leaving = new AbortController()
      const reply = world.stream(agentId, { input: 'x' }, leaving.signal).catch(() => undefined)
      await until(async () => (await inFlight(agentId)) === 1, 'it has not begun')
      if (moment === 'during the stream') await reply
      leaving.abort()
      assert.equal(await reason, 'client_disconnected')
      assert.equal(await inFlight(agentId), 1, 'the worker is still at it')
      await until(async () => (await inFlight(agentId)) === 0, 'the slot is not free')
      const [entry] = await world.get(agentId, '/invocations')
      assert.equal(entry.status, 'cancelled')
      assert.equal(entry.statusCode, 499)
    })
  }

  test('twenty times loses no slot of a worker that has one', async () => {
    const agentId = await world.agent()
    await world.worker(agentId, endless, { concurrency: 1 })
    for (let n = 0; n < 20; n++) {
      const leaving = new AbortController()
      const reply = await world.stream(agentId, { input: 'x' }, leaving.signal)
      assert.equal(reply.status, 200, `call ${n}`)
      leaving.abort()
      await until(async () => (await inFlight(agentId)) === 0, `slot ${n} is not free`)
    }
    const leaving = new AbortController()
    assert.equal((await world.stream(agentId, { input: 'x' }, leaving.signal)).status, 200)
    leaving.abort()
  })

  for (const [how, headers] of [
    ['', () => []],
    [' with an Idempotency-Key', (client: number) => [`Idempotency-Key: early-${client}`]],
  ] as const) {
    test(`in the first ten milliseconds${how} keeps no slot, thirty times over`, async () => {
      const agentId = await world.agent({ maxConcurrency: 30 })
      await world.worker(agentId, (job) => (job.invoke.input === 'y' ? echo(job) : endless(job)), { concurrency: 30 })
      await Promise.all(
        Array.from({ length: 30 }, (_, client) => askAndLeave(agentId, 1 + (client % 10), headers(client))),
      )
      await until(async () => (await inFlight(agentId)) === 0, 'a slot is kept')
      const replies = await Promise.all(
        Array.from({ length: 30 }, (_, client) =>
          world.invoke(agentId, { input: 'y' }, { 'idempotency-key': `y${client}` }),
        ),
      )
      assert.deepEqual(
        replies.map(({ status }) => status),
        Array(30).fill(200),
      )
    })
  }

  test('gets the slot of a worker that ignores it back after the grace, and its late words are ignored', async () => {
    const agentId = await world.agent()
    const { promise: job, resolve } = Promise.withResolvers<WorkerJob>()
    await world.worker(
      agentId,
      (one) => {
        if (one.invoke.input === 'y') return echo(one)
        resolve(one)
        one.send({ t: 'accept' })
        one.send({ t: 'start' })
      },
      { concurrency: 1 },
    )
    const leaving = new AbortController()
    await world.stream(agentId, { input: 'x' }, leaving.signal)
    leaving.abort()
    await (await job).cancelled
    const start = performance.now()
    assert.equal((await world.invoke(agentId, { input: 'y' })).status, 429, 'freed early, it would be overloaded')
    await until(async () => (await inFlight(agentId)) === 0, 'the slot is not free')
    assert.ok(performance.now() - start >= graceMs * 0.7)
    for (const t of ['delta', 'done', 'cancelled'] as const) (await job).send({ t, text: 'late' } as never)
    assert.equal((await world.invoke(agentId, { input: 'y' })).body.text, 'y')
  })
})

test('a client that never reads stops the worker by its credit, and is cut off in time', async (t) => {
  const agentId = await world.agent()
  let sent = 0
  let credit = 0
  const { promise: reason, resolve } = Promise.withResolvers<string>()
  const text = 'x'.repeat(10_000)
  const worker = await world.worker(agentId, async ({ invoke, send, cancelled }) => {
    credit = invoke.window
    let isOver = false
    cancelled.then((why) => {
      isOver = true
      resolve(why)
      send({ t: 'cancelled' })
    })
    send({ t: 'accept' })
    while (!isOver) {
      const granted = worker.frames.reduce((sum, frame) => (frame.t === 'credit' ? sum + frame.bytes : sum), 0)
      if (invoke.window + granted - sent > 0) {
        send({ t: 'delta', text })
        sent += text.length
      }
      await wait(0)
    }
  })
  askAndStop(t, agentId)
  assert.equal(await reason, 'slow_consumer')
  // What the system's buffers took, and one window.
  assert.ok(sent < 20_000_000, `${sent} bytes were let through`)
  assert.ok(credit > 0)
  const [entry] = await world.get(agentId, '/invocations')
  assert.equal(entry.status, 'cancelled')
})

test('a worker that floods without credit is closed', async (t) => {
  const agentId = await world.agent()
  const worker = await world.worker(agentId, ({ send }) => {
    send({ t: 'accept' })
    send({ t: 'start' })
  })
  askAndStop(t, agentId)
  await until(() => worker.frames.some(({ t }) => t === 'invoke'), 'not asked')
  const { id = '' } = worker.frames.find((frame) => frame.t === 'invoke') ?? {}
  let isClosed = false
  worker.closed.then(() => {
    isClosed = true
  })
  for (let n = 0; n < 2_000 && !isClosed; n++) {
    worker.send({ t: 'delta', id, text: 'x'.repeat(30_000) })
    await wait(0)
  }
  const { code } = await worker.closed
  assert.equal(code, 4400)
})

test('a slow client gets everything', async () => {
  const agentId = await world.agent()
  const pieces = 100
  const worker = await world.worker(agentId, async ({ invoke, send }) => {
    send({ t: 'accept' })
    for (let n = 0; n < pieces; n++) {
      const sent = n * 20_000
      const granted = () => worker.frames.reduce((sum, frame) => (frame.t === 'credit' ? sum + frame.bytes : sum), 0)
      while (invoke.window + granted() - sent <= 0) await wait(1)
      send({ t: 'delta', text: String(n % 10).repeat(20_000) })
    }
    send({ t: 'done' })
  })
  const reply = await world.stream(agentId, { input: 'x' })
  await reply.over
  assert.equal(reply.text(), Array.from({ length: pieces }, (_, n) => String(n % 10).repeat(20_000)).join(''))
  assert.equal(reply.last()?.event, 'done')
})

describe('an invocation', () => {
  test('that somebody cancels ends with 503 cancelled', async () => {
    const agentId = await world.agent()
    await world.worker(agentId, endless)
    const reply = await world.stream(agentId, { input: 'x' })
    const id = reply.headers.get('x-invocation-id')
    const cancel = (key: string) => world.app.call('POST', world.path(agentId, `/invocations/${id}/cancel`), { key })
    assert.equal((await cancel(world.tenant.reader)).status, 401)
    assert.equal((await cancel(world.tenant.developer)).status, 202)
    await reply.over
    assert.equal(reply.last()?.event, 'error')
    assert.equal(reply.last()?.data.statusCode, 503)
    assert.equal(reply.last()?.data.code, 'cancelled')
    assert.equal((await cancel(world.tenant.developer)).body.status, 'cancelled')
    const other = await world.agent()
    const elsewhere = world.path(other, `/invocations/${id}/cancel`)
    assert.equal((await world.app.call('POST', elsewhere, { key: world.tenant.developer })).status, 404)
  })

  test('ends with 401 key_revoked when its key is deleted', async () => {
    const agentId = await world.agent()
    await world.worker(agentId, endless)
    const key = await world.app.key(world.tenant.id, { agents: { execute: [agentId] } })
    const reply = await world.stream(agentId, { input: 'x' }, undefined, key)
    assert.equal(reply.status, 200)
    await world.app.call('DELETE', `/api/v1/apikeys/${key}`)
    await reply.over
    assert.equal(reply.last()?.data.code, 'key_revoked')
    assert.equal(reply.last()?.data.statusCode, 401)
  })

  test('is remembered without its content, unless the agent stores it', async () => {
    for (const [storeContent, input, output] of [
      [false, null, null],
      [true, 'x', 'x'],
    ] as const) {
      const agentId = await world.agent({ storeContent })
      await world.worker(agentId, echo)
      const reply = await world.invoke(agentId, { input: 'x', conversationId: 'c', metadata: { from: 'map' } })
      const history = await world.app.call('GET', world.path(agentId, '/invocations?status=succeeded&limit=5'), {
        key: world.tenant.developer,
      })
      assert.equal(history.headers['x-total-count'], '1')
      const [entry] = history.body
      assert.equal(entry.id, reply.body.invocationId)
      assert.equal(entry.input, input)
      assert.equal(entry.output, output)
      assert.equal(entry.conversationId, 'c')
      assert.equal(entry.inputBytes, 1)
      assert.equal(entry.outputBytes, 1)
      assert.deepEqual(entry.metadata, { from: 'map' })
      assert.match(entry.workerId, /^worker-/)
      assert.doesNotMatch(history.text, new RegExp(world.tenant.reader))
    }
  })

  test('of an agent with memory knows what was said before in its conversation', async () => {
    const agentId = await world.agent({ memory: 'platform' })
    await world.worker(agentId, ({ send, invoke }) => {
      send({ t: 'accept' })
      send({ t: 'delta', text: (invoke.messages ?? []).map(({ content }) => content).join('|') || 'nothing' })
      send({ t: 'done' })
    })
    const ask = async (input: string, conversationId: string) =>
      (await world.invoke(agentId, { input, conversationId })).body.text
    assert.equal(await ask('one', 'a'), 'nothing')
    assert.equal(await ask('two', 'a'), 'one|nothing')
    assert.equal(await ask('one', 'b'), 'nothing')
  })

  test('with an Idempotency-Key is done once', async () => {
    const agentId = await world.agent()
    let times = 0
    await world.worker(agentId, async ({ send, invoke }) => {
      send({ t: 'accept' })
      if (invoke.input === 'fail') return send({ t: 'error', code: 'failed' })
      times += 1
      await wait(100)
      send({ t: 'delta', text: `${times}` })
      send({ t: 'done' })
    })
    const ask = (key: string, input = 'x') => world.invoke(agentId, { input }, { 'idempotency-key': key })
    const both = await Promise.all([ask('k'), ask('k')])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
    const again = await ask('k')
    assert.equal(again.status, 200)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual(again.body, both.find(({ status }) => status === 200)?.body)
    assert.equal((await ask('k', 'other')).status, 409)
    assert.equal((await ask('f', 'fail')).status, 500)
    assert.equal((await ask('f', 'fail')).status, 500)
    assert.equal(times, 1)
  })
})
