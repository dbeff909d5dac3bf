import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { stays, until } from '../../server/testing/until.ts'
import { startFakePlatform } from '../testing/fake-platform.ts'
import { ConnectionRefused, ProviderError, Reject } from './errors.ts'
import type { Handler, Invocation } from './invocation.ts'
import { type ServeOptions, serveAgent } from './serve-agent.ts'

/** A worker with this handler, and the platform it serves. */
async function serving(
  t: TestContext,
  handler: Handler,
  {
    platform: settings,
    ...options
  }: Partial<ServeOptions> & { platform?: Parameters<typeof startFakePlatform>[0] } = {},
) {
  const platform = await startFakePlatform(settings)
  const stop = new AbortController()
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  const ended = serveAgent(
    { url: platform.url, apiKey: 'k', agentId: 'a', signal: stop.signal, log, ...options },
    handler,
  )
  t.after(async () => {
    stop.abort()
    await platform.close()
    await ended.catch(() => {})
  })
  return { platform, stop, ended, lines }
}

const echo: Handler = async function* ({ input }) {
  yield* input.split(' ')
}
/** Runs until it is aborted, and says when. */
function waiting(): { handler: Handler; aborted: Promise<string> } {
  const { promise, resolve } = Promise.withResolvers<string>()
  async function* handler({ signal }: Invocation) {
    yield 'first'
    await new Promise<void>((end) => signal.addEventListener('abort', () => end()))
    resolve(signal.reason.message)
    signal.throwIfAborted()
  }
  return { handler, aborted: promise }
}

test('a worker shows its key, says hello, takes work and streams what the handler yields', async (t) => {
  const { platform } = await serving(t, echo, { capacity: 3, version: 'v7' })
  const session = await platform.session()
  assert.equal(session.request.url, '/api/v1/agents/a/connect')
  assert.equal(session.request.headers['x-api-key'], 'k')
  assert.equal(session.request.headers['sec-websocket-protocol'], 'svc.agent.v1')
  const hello = await session.next('hello')
  assert.deepEqual([hello.protocol, hello.concurrency, hello.version], [1, 3, 'v7'])
  session.invoke('1', 'one two')
  assert.deepEqual(await session.next('done', '1'), { t: 'done', id: '1', finishReason: 'stop' })
  assert.deepEqual(session.names('1'), ['accept', 'delta', 'delta', 'done'])
  assert.equal(session.text('1'), 'onetwo')
})

test('a handler sees what was asked, and finish tells what is known of the answer', async (t) => {
  const seen: Invocation[] = []
  const { platform } = await serving(t, async (invocation) => {
    seen.push(invocation)
    invocation.start()
    invocation.start()
    invocation.progress()
    invocation.finish({ model: 'm' })
    invocation.finish({ usage: { inputTokens: 1 }, finishReason: 'length', artifacts: [{ type: 'mapView' }] })
    return 'whole'
  })
  const session = await platform.session()
  session.invoke('1', 'x', {
    conversationId: 'c',
    caller: 'w',
    context: { zoom: 3 },
    messages: [{ role: 'user', content: 'before' }],
  })
  assert.deepEqual(await session.next('done', '1'), {
    t: 'done',
    id: '1',
    finishReason: 'length',
    model: 'm',
    usage: { inputTokens: 1 },
    artifacts: [{ type: 'mapView' }],
  })
  assert.deepEqual(session.names('1'), ['accept', 'start', 'progress', 'delta', 'done'])
  const [invocation] = seen
  assert.deepEqual(
    [invocation?.conversationId, invocation?.caller, invocation?.context, invocation?.messages.length],
    ['c', 'w', { zoom: 3 }, 1],
  )
  assert.ok(Math.abs(Number(invocation?.deadline) - Date.now() - 60_000) < 30_000)
})

test('each way to fail has its code, and callers see only messages meant for them', async (t) => {
  const failures: Record<string, () => unknown> = {
    reject: () => new Reject('Ask something else.'),
    provider: () => new ProviderError('The model is away.', { status: 503, detail: 'org-1 has no credit' }),
    other: () => new Error('password=1234'),
    nothing: () => undefined,
  }
  const { platform, lines } = await serving(t, async function* ({ input }) {
    yield 'a'
    throw failures[input]?.()
  })
  const session = await platform.session()
  for (const input of Object.keys(failures)) session.invoke(input, input)
  const errors = await Promise.all(Object.keys(failures).map((id) => session.next('error', id)))
  assert.deepEqual(
    errors.map(({ code, message }) => [code, message]),
    [
      ['rejected', 'Ask something else.'],
      ['provider', 'The model is away.'],
      ['failed', 'The agent failed.'],
      ['failed', 'The agent failed.'],
    ],
  )
  assert.match(lines.join('\n'), /org-1 has no credit/)
  assert.match(lines.join('\n'), /password=1234/)
})

test('an answer that is no text, or facts that are no JSON, are the handler’s failure and hurt no other', async (t) => {
  const answers: Record<string, (invocation: Invocation) => unknown> = {
    number: () => 7,
    null: () => null,
    yields: () => [1, 2],
    bigint: ({ finish }) => finish({ usage: { inputTokens: 1n as unknown as number } }) ?? 'x',
    huge: ({ finish }) => finish({ artifacts: [{ text: 'x'.repeat(2_000_000) }] }) ?? 'x',
    fine: () => 'fine',
  }
  const { platform } = await serving(t, (async (invocation: Invocation) =>
    answers[invocation.input]?.(invocation)) as Handler)
  const session = await platform.session()
  for (const input of Object.keys(answers)) session.invoke(input, input)
  for (const id of Object.keys(answers).slice(0, -1)) assert.equal((await session.next('error', id)).code, 'failed')
  assert.equal((await session.next('done', 'fine')).t, 'done')
})

test('an emoji cut between two yields arrives whole', async (t) => {
  const { platform } = await serving(t, async function* () {
    yield 'a\ud83d'
    yield '\ude00b'
  })
  const session = await platform.session()
  session.invoke('1', '')
  await session.next('done', '1')
  const texts = session.frames.flatMap((frame) => (frame.t === 'delta' ? [frame.text] : []))
  assert.deepEqual(texts, ['a', '😀b'])
})

test('yield waits while the platform takes nothing, and goes on when it does', async (t) => {
  let yielded = 0
  const { platform } = await serving(t, async function* () {
    for (; yielded < 10; yielded++) yield 'x'.repeat(1_000)
  })
  const session = await platform.session()
  session.invoke('1', '', { window: 2_500 })
  await until(() => session.text('1').length >= 3_000)
  await stays(() => session.text('1').length === 3_000, 100)
  assert.equal(session.text('1').length, 3_000, 'the last frame may overdraw, no more')
  assert.equal(yielded, 3)
  session.send({ t: 'credit', id: '1', bytes: 400 })
  await stays(() => session.text('1').length === 3_000, 50)
  session.send({ t: 'credit', id: '1', bytes: 10_000 })
  await session.next('done', '1')
  assert.equal(session.text('1').length, 10_000)
})

test('cancel aborts the signal, also of a handler that waits for credit, and is answered when the handler has ended', async (t) => {
  let cleanedUp = 0
  const { handler, aborted } = waiting()
  const { platform } = await serving(t, async function* (invocation) {
    try {
      if (invocation.input === 'flood') for (;;) yield 'x'.repeat(1_000)
      yield* handler(invocation) as AsyncIterable<string>
    } finally {
      cleanedUp++
    }
  })
  const session = await platform.session()
  session.invoke('1', '')
  session.invoke('2', 'flood', { window: 1_000 })
  await session.next('delta', '1')
  await session.next('delta', '2')
  session.send({ t: 'cancel', id: '1', reason: 'client_disconnected' })
  session.send({ t: 'cancel', id: '2', reason: 'slow_consumer' })
  await session.next('cancelled', '1')
  await session.next('cancelled', '2')
  assert.match(await aborted, /client_disconnected/)
  assert.equal(cleanedUp, 2)
})

test('a worker takes no more than its capacity, and its place is free again after every kind of end', async (t) => {
  const { platform } = await serving(
    t,
    async function* ({ input, signal }) {
      if (input === 'throw') throw new Error('x')
      if (input === 'wait')
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      yield 'x'
    },
    { capacity: 1 },
  )
  const session = await platform.session()
  for (let round = 0; round < 20; round++) {
    session.invoke(`wait${round}`, 'wait')
    session.invoke(`over${round}`, 'x')
    assert.equal((await session.next('reject', `over${round}`)).code, 'busy')
    session.send({ t: 'cancel', id: `wait${round}`, reason: 'client_disconnected' })
    await session.next('cancelled', `wait${round}`)
    session.invoke(`throw${round}`, 'throw')
    await session.next('error', `throw${round}`)
  }
  session.invoke('last', 'x')
  await session.next('done', 'last')
})

test('a handler that ignores its signal loses its place after the grace, not for ever', {
  timeout: 100_000,
}, async (t) => {
  const { platform, lines } = await serving(t, ({ input }) => (input === 'stuck' ? new Promise(() => {}) : 'x'), {
    capacity: 1,
  })
  const session = await platform.session()
  session.invoke('1', 'stuck')
  await session.next('accept', '1')
  session.send({ t: 'cancel', id: '1', reason: 'timeout' })
  session.invoke('2', 'x')
  await session.next('reject', '2')
  await until(() => lines.some((line) => line.includes('ignores the signal')))
  session.invoke('3', 'x')
  await session.next('done', '3')
  assert.ok(!session.names('1').includes('cancelled'))
})

test('a lost connection aborts what came by it, and the worker connects again under its name', async (t) => {
  const { handler, aborted } = waiting()
  const { platform } = await serving(t, handler)
  const first = await platform.session()
  first.invoke('1', '')
  await first.next('delta', '1')
  first.socket.terminate()
  assert.match(await aborted, /connection_lost/)
  const second = await platform.session()
  assert.equal((await second.next('hello')).workerId, (await first.next('hello')).workerId)
  second.invoke('2', '')
  await second.next('delta', '2')
})

test('a platform that falls silent is left for a new connection', async (t) => {
  const { platform } = await serving(t, echo, { platform: { pingIntervalMs: 1_000 } })
  const first = await platform.session()
  for (let i = 0; i < 8; i++) {
    first.socket.ping()
    await sleep(400)
  }
  assert.equal(platform.sessions.length, 1, 'pings keep it')
  await first.closed
  await platform.session()
})

test('goaway: the new connection comes before the old one is left, and old work ends where it began', async (t) => {
  const release = Promise.withResolvers<void>()
  const { platform } = await serving(t, async function* () {
    yield 'a'
    await release.promise
    yield 'b'
  })
  const first = await platform.session()
  first.invoke('1', '')
  await first.next('delta', '1')
  first.send({ t: 'goaway', reconnectAfterMs: 30, drainMs: 10_000 })
  first.invoke('2', '')
  await first.next('accept', '2')
  const second = await platform.session()
  await first.next('drain')
  second.invoke('3', '')
  await second.next('delta', '3')
  assert.deepEqual(first.names('1'), ['accept', 'delta'])
  release.resolve()
  await Promise.all([first.next('done', '1'), first.next('done', '2'), second.next('done', '3')])
  assert.equal(await first.closed, 1000)
  assert.equal(platform.sessions.length, 2)
})

test('goaway with nobody to go to yet: the old connection serves on and the worker keeps looking', async (t) => {
  const { platform } = await serving(t, echo)
  const first = await platform.session()
  platform.refusal = { status: 503 }
  first.send({ t: 'goaway', reconnectAfterMs: 0, drainMs: 10_000 })
  await until(() => platform.attempts.length >= 3)
  first.invoke('1', 'still here')
  await first.next('done', '1')
  platform.refusal = undefined
  const second = await platform.session()
  await first.closed
  second.invoke('2', 'x')
  await second.next('done', '2')
})

test('stopping takes no new work, finishes what runs, says drain and closes with 1000', async (t) => {
  const release = Promise.withResolvers<void>()
  const { platform, stop, ended } = await serving(t, async function* () {
    await release.promise
    yield 'late'
  })
  const session = await platform.session()
  session.invoke('1', '')
  await session.next('accept', '1')
  stop.abort()
  await session.next('drain')
  session.invoke('2', '')
  assert.equal((await session.next('reject', '2')).code, 'busy')
  release.resolve()
  await session.next('done', '1')
  assert.equal(await session.closed, 1000)
  await ended
})

test('what takes longer than the drain is aborted', async (t) => {
  const { handler, aborted } = waiting()
  const { platform, stop, ended } = await serving(t, handler, { drainMs: 100 })
  const session = await platform.session()
  session.invoke('1', '')
  await session.next('delta', '1')
  stop.abort()
  await ended
  assert.match(await aborted, /stopped/)
})

test('a worker that is stopped while it connects, or before, ends', async (t) => {
  const { stop, ended } = await serving(t, echo, { url: 'http://127.0.0.1:9' })
  stop.abort()
  await ended
  await serveAgent(
    { url: 'http://127.0.0.1:9', apiKey: 'k', agentId: 'a', signal: AbortSignal.abort(), log() {} },
    echo,
  )
})

test('a refused key ends the worker with words that say why', async (t) => {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  for (const [status, words] of [
    [401, /API key was refused.*agents.*write.*wrong key/],
    [404, /no such agent/],
    [426, /refused this worker/],
  ] as const) {
    platform.refusal = { status, body: JSON.stringify({ detail: 'wrong key' }) }
    await assert.rejects(serveAgent({ url: platform.url, apiKey: 'k', agentId: 'a', log() {} }, echo), (error) => {
      assert.ok(error instanceof ConnectionRefused)
      assert.equal(error.status, status)
      assert.match(error.message, words)
      return true
    })
  }
  assert.equal(platform.attempts.length, 3)
  assert.equal(process.listenerCount('SIGTERM'), 0)
})

test('a platform that is full is asked again after the time it says', async (t) => {
  const { platform } = await serving(t, echo, {})
  const session = await platform.session()
  platform.refusal = { status: 429, headers: { 'retry-after': '1' } }
  session.socket.close(1012)
  await until(() => platform.attempts.length >= 2)
  const refusedAt = performance.now()
  platform.refusal = undefined
  await platform.session()
  assert.ok(performance.now() - refusedAt > 950)
})

test('frames nobody knows, broken ones and those for unknown invocations change nothing', async (t) => {
  const { platform } = await serving(t, echo)
  const session = await platform.session()
  for (const text of ['{"t":"later"}', '{', 'null', '7', '[]', '{"t":5}']) session.socket.send(text)
  session.socket.send(Buffer.from([0, 255]))
  session.send({ t: 'credit', id: 'unknown', bytes: 5 })
  session.send({ t: 'cancel', id: 'unknown', reason: 'admin' })
  session.invoke('1', 'x')
  session.invoke('1', 'again')
  await session.next('done', '1')
  assert.deepEqual(session.names('1'), ['accept', 'delta', 'done'])
})

test('settings that cannot work are refused at once', async () => {
  const good = { url: 'http://127.0.0.1:9', apiKey: 'k', agentId: 'a' }
  await assert.rejects(serveAgent({ ...good, url: undefined }, echo), /url/)
  await assert.rejects(serveAgent({ ...good, url: 'ftp://x' }, echo), /http/)
  await assert.rejects(serveAgent({ ...good, apiKey: '' }, echo), /apiKey/)
  await assert.rejects(serveAgent({ ...good, agentId: undefined }, echo), /agentId/)
  await assert.rejects(serveAgent({ ...good, capacity: 0 }, echo), /capacity/)
})
