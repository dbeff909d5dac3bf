import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { echo } from '../../../testing/agent-worker.ts'
import { type AgentWorld, agentWorld, until } from '../../../testing/agent-world.ts'

// One database is enough: providers and callers meet in memory; invoke.test.ts and ownership.test.ts write the history to both.

const secret = 'sk-not-to-be-seen'

let world: AgentWorld
before(async () => {
  world = await agentWorld({ AGENT_BRIDGES: 'on', AGENT_OUTPUT_BYTES: '100000000' })
})
after(() => world.close())

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
type Asked = { url: string; headers: IncomingHttpHeaders; body: any }

/** A model provider for one test: what it was asked, and how many of its answers were broken off by the other side. */
async function provider(t: TestContext, respond: (response: ServerResponse) => unknown) {
  const asked: Asked[] = []
  const state = { open: 0, left: 0 }
  const server = createServer(async (request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers, body: await json(request) })
    state.open++
    response.on('close', () => {
      state.open--
      if (!response.writableFinished) state.left++
    })
    await respond(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, state }
}

const sse = (...events: (object | string)[]): string =>
  events.map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`).join('')
const streams =
  (...parts: string[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of parts) response.write(part)
    response.end()
  }
const word = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
const openAiAnswer = [
  sse({ model: 'gpt-x-1', ...word('Grüße ') }, word('😀')),
  sse({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] }),
  sse({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }, '[DONE]'),
]

/** How each kind of provider answers, and how it is asked. */
const kinds = {
  openai: {
    answer: openAiAnswer,
    path: '/base/chat/completions',
    key: (headers: IncomingHttpHeaders) => headers.authorization === `Bearer ${secret}`,
    ending: {
      finishReason: 'length',
      model: 'gpt-x-1',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    },
  },
  anthropic: {
    answer: [
      sse({ type: 'message_start', message: { model: 'claude-x', usage: { input_tokens: 7, output_tokens: 1 } } }),
      sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße ' } }),
      sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '😀' } }),
      sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } }),
      sse({ type: 'message_stop' }),
    ],
    path: '/base/v1/messages',
    key: (headers: IncomingHttpHeaders) => headers['x-api-key'] === secret,
    ending: { finishReason: 'stop', model: 'claude-x', usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 } },
  },
  ollama: {
    answer: [
      `${JSON.stringify({ model: 'llama', message: { content: 'Grüße ' }, done: false })}\n`,
      `${JSON.stringify({ model: 'llama', message: { content: '😀' }, done: false })}\n`,
      `${JSON.stringify({ model: 'llama', message: { content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 4, eval_count: 2 })}\n`,
    ],
    path: '/base/api/chat',
    key: (headers: IncomingHttpHeaders) => headers.authorization === `Bearer ${secret}`,
    ending: { finishReason: 'stop', model: 'llama', usage: { inputTokens: 4, outputTokens: 2, totalTokens: 6 } },
  },
  http: {
    answer: [
      `event: delta\n${sse({ text: 'Grüße ' })}`,
      `event: delta\n${sse({ text: '😀' })}`,
      `event: done\n${sse({ finishReason: 'stop', model: 'own', usage: { inputTokens: 1 } })}`,
    ],
    path: '/base',
    key: (headers: IncomingHttpHeaders) => headers.authorization === `Bearer ${secret}`,
    ending: { finishReason: 'stop', model: 'own', usage: { inputTokens: 1 } },
  },
}

const settingsFor = (type: string, url: string) =>
  type === 'http' ? { url: `${url}/base` } : { baseURL: `${url}/base`, model: 'm', system: 'Be brief.' }
const agentOf = (type: string, url: string, more: object = {}) =>
  world.agent({ type, config: { ...settingsFor(type, url), ...more }, secrets: { apiKey: secret } })

describe('the platform answers for an agent', () => {
  for (const [type, { answer, path, key, ending }] of Object.entries(kinds)) {
    test(`of type ${type}: whole or as a stream, with usage and finish reason, and its secret shows nowhere`, async (t) => {
      const upstream = await provider(t, streams(...answer))
      const agentId = await agentOf(type, upstream.url)
      const whole = await world.invoke(agentId, { input: 'Hello?' })
      assert.equal(whole.status, 200, JSON.stringify(whole.body))
      const { invocationId, durationMs, ...rest } = whole.body
      assert.deepEqual(rest, { output: 'Grüße 😀', text: 'Grüße 😀', ...ending })
      const streamed = await world.stream(agentId, { input: 'Hello?' })
      await streamed.over
      assert.deepEqual([streamed.names()[0], streamed.text()], ['start', 'Grüße 😀'])
      const { durationMs: _, invocationId: __, ...done } = streamed.last()?.data ?? {}
      assert.deepEqual([streamed.last()?.event, done], ['done', ending])
      for (const request of upstream.asked) {
        assert.equal(request.url, path)
        assert.ok(key(request.headers))
        assert.ok(JSON.stringify(request.body).includes('Hello?'))
      }
      const kept = async () =>
        (await world.get(agentId, '/invocations')).find(({ id }: { id: string }) => id === invocationId)
      await until(async () => (await kept())?.status === 'succeeded', 'no history')
      assert.equal((await kept()).workerId, 'platform')
      for (const rest of ['', '/invocations', '/workers']) {
        assert.ok(!JSON.stringify(await world.get(agentId, rest)).includes(secret))
      }
      assert.ok(!JSON.stringify(whole.body).includes(secret))
    })
  }

  test('as many at once as config.concurrency says: then 429; and its record tells', async (t) => {
    const upstream = await provider(t, (response) => response.writeHead(200).write(openAiAnswer[0]))
    const agentId = await agentOf('openai', upstream.url, { concurrency: 2 })
    const idle = await world.get(agentId)
    assert.deepEqual([idle.status, idle.workers, idle.capacity, idle.inFlight], ['online', 0, 2, 0])
    assert.deepEqual(await world.get(agentId, '?fields=id,status,capacity'), {
      id: agentId,
      status: 'online',
      capacity: 2,
    })
    const leave = new AbortController()
    const first = await world.stream(agentId, { input: 'x' }, leave.signal)
    await world.stream(agentId, { input: 'x' }, leave.signal)
    assert.equal((await world.get(agentId)).inFlight, 2)
    const third = await world.invoke(agentId, { input: 'x' })
    assert.deepEqual([third.status, third.body.code], [429, 'agent_busy'])
    leave.abort()
    await until(async () => (await world.get(agentId)).inFlight === 0, 'its slots are not free again')
    assert.equal(first.status, 200)
  })

  test('a worker that connects for it is asked first', async (t) => {
    const upstream = await provider(t, streams(...openAiAnswer))
    const agentId = await agentOf('openai', upstream.url)
    const worker = await world.worker(agentId, echo)
    assert.equal((await world.invoke(agentId, { input: 'hello' })).body.text, 'hello')
    assert.equal(upstream.asked.length, 0)
    worker.kill()
    await until(async () => (await world.get(agentId)).workers === 0, 'the worker stays')
    assert.equal((await world.invoke(agentId, { input: 'hello' })).body.text, 'Grüße 😀')
  })

  test('a change of its settings counts from the next call on', async (t) => {
    const upstream = await provider(t, streams(...openAiAnswer))
    const agentId = await agentOf('openai', upstream.url)
    await world.invoke(agentId, { input: 'x' })
    const change = { config: { model: 'other' }, secrets: { apiKey: 'sk-two' } }
    await world.app.call('PATCH', world.path(agentId), { key: world.tenant.developer, body: change })
    await world.invoke(agentId, { input: 'x' })
    const seen = upstream.asked.map(({ headers, body }) => [headers.authorization, body.model])
    assert.deepEqual(seen, [
      [`Bearer ${secret}`, 'm'],
      ['Bearer sk-two', 'other'],
    ])
  })

  test('without a model, callers choose; and whoever does not is told', async (t) => {
    const upstream = await provider(t, streams(...openAiAnswer))
    const agentId = await world.agent({ type: 'openai', config: { baseURL: upstream.url } })
    const refused = await world.invoke(agentId, { input: 'x' })
    assert.deepEqual([refused.status, refused.body.code], [400, 'agent_rejected'])
    assert.match(refused.body.detail, /options\.model/)
    assert.equal((await world.invoke(agentId, { input: 'x', options: { model: 'mine' } })).status, 200)
    assert.deepEqual(
      upstream.asked.map(({ body, headers }) => [body.model, headers.authorization]),
      [['mine', undefined]],
    )
  })

  test('a client that does not read stops the provider, and gets all of it when it reads on', async (t) => {
    const text = 'x'.repeat(30_000)
    const count = 2_000
    let written = 0
    const upstream = await provider(t, async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (; written < count; written++) if (!response.write(sse(word(text)))) await once(response, 'drain')
      response.end(openAiAnswer.slice(1).join(''))
    })
    const agentId = await agentOf('openai', upstream.url)
    const response = await fetch(world.url + world.path(agentId, '/stream'), {
      method: 'POST',
      headers: { 'x-api-key': world.tenant.reader, 'content-type': 'application/json' },
      body: '{"input":"x"}',
    })
    const stands = async () => {
      const before = written
      await wait(200)
      return written === before
    }
    await until(stands, 'the provider goes on')
    assert.ok(written < count, 'it was taken whole')
    const events = (await response.text()).split('\n\n')
    assert.equal(events.join('').match(/x{2,}/g)?.join('').length, text.length * count)
    assert.ok(events.some((event) => event.startsWith('event: done')))
  })
})

describe('what goes wrong upstream', () => {
  const faults: [string, (response: ServerResponse) => unknown, number, string][] = [
    ['429', (response) => response.writeHead(429, { 'retry-after': '7' }).end('slow down'), 502, 'provider_failed'],
    ['500', (response) => response.writeHead(500).end(`{"error":"${secret}"}`), 502, 'provider_failed'],
    ['401', (response) => response.writeHead(401).end(`{"error":"bad key ${secret}"}`), 502, 'provider_failed'],
    ['a redirect', (response) => response.writeHead(302, { location: '/x' }).end(), 502, 'provider_failed'],
    ['no answer', (response) => response.destroy(), 502, 'provider_failed'],
    ['a long prompt', (response) => response.writeHead(400).end('context_length_exceeded'), 400, 'agent_rejected'],
    ['nonsense', streams('data: {"choi\n\n'), 502, 'provider_failed'],
    [
      'compression that nobody asked for',
      (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      502,
      'provider_failed',
    ],
  ]
  for (const [what, respond, status, code] of faults) {
    test(`${what} is ${status} ${code} before the first output`, async (t) => {
      const agentId = await agentOf('openai', (await provider(t, respond)).url)
      const whole = await world.invoke(agentId, { input: 'x' })
      assert.deepEqual([whole.status, whole.body.code], [status, code])
      assert.ok(!JSON.stringify(whole.body).includes(secret))
      const streamed = await world.stream(agentId, { input: 'x' })
      assert.equal(streamed.status, status)
    })
  }

  for (const [type, { answer }] of Object.entries(kinds)) {
    test(`a stream of ${type} that ends or breaks before its end is never taken for done`, async (t) => {
      const half = answer.slice(0, type === 'anthropic' ? 2 : 1).join('')
      const cuts = [
        streams(half),
        (response: ServerResponse) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write(half, () => setImmediate(() => response.destroy()))
        },
      ]
      for (const cut of cuts) {
        const agentId = await agentOf(type, (await provider(t, cut)).url)
        const streamed = await world.stream(agentId, { input: 'x' })
        await streamed.over
        const { statusCode, code } = streamed.last()?.data ?? {}
        assert.deepEqual([streamed.last()?.event, statusCode, code], ['error', 502, 'provider_failed'])
        assert.equal((await world.invoke(agentId, { input: 'x' })).status, 502)
      }
    })
  }

  test('silence is 504, and the provider is left', async (t) => {
    const upstream = await provider(t, () => {})
    const config = settingsFor('openai', upstream.url)
    // Long enough for a busy machine to reach the provider.
    const agentId = await world.agent({ type: 'openai', config, timeoutMs: 3_000 })
    const reply = await world.invoke(agentId, { input: 'x' })
    assert.deepEqual([reply.status, reply.body.code], [504, 'agent_timeout'])
    await until(() => upstream.state.left === 1, 'the provider still answers')
    await until(async () => (await world.get(agentId)).inFlight === 0, 'the slot is not free')
  })
})

test('a client that leaves ends the request to the provider', async (t) => {
  const upstream = await provider(t, (response) => response.writeHead(200).write(openAiAnswer[0]))
  const agentId = await agentOf('openai', upstream.url)
  const leave = new AbortController()
  const reply = await world.stream(agentId, { input: 'x' }, leave.signal)
  assert.deepEqual([reply.status, upstream.state], [200, { open: 1, left: 0 }])
  leave.abort()
  await until(() => upstream.state.left === 1, 'the provider still answers')
  await until(async () => (await world.get(agentId)).inFlight === 0, 'the slot is not free')
})

test('an agent that is deleted stops answering', async (t) => {
  const upstream = await provider(t, (response) => response.writeHead(200).write(openAiAnswer[0]))
  const agentId = await agentOf('openai', upstream.url)
  const reply = await world.stream(agentId, { input: 'x' })
  await world.app.call('DELETE', world.path(agentId), { key: world.tenant.developer })
  await reply.over
  assert.deepEqual([reply.last()?.event, reply.last()?.data.code], ['error', 'agent_disconnected'])
  await until(() => upstream.state.left === 1, 'the provider still answers')
})

describe('settings', () => {
  const wrong: [string, object, string][] = [
    ['openai', { config: { baseURL: 'file:///etc/passwd' } }, 'body/config/baseURL'],
    ['openai', { config: { baseURL: 'https://me:word@example.org' } }, 'body/config/baseURL'],
    ['openai', { config: { model: 7 } }, 'body/config/model'],
    ['anthropic', { config: { maxOutputTokens: 'many' } }, 'body/config/maxOutputTokens'],
    ['ollama', { config: { concurrency: 0 } }, 'body/config/concurrency'],
    ['http', { config: {} }, 'body/config/url'],
    ['http', { config: { url: 'https://example.org', headers: { a: 1 } } }, 'body/config/headers/a'],
    ['openai', { secrets: { apiKey: 'two\nlines' } }, 'body/secrets/apiKey'],
  ]
  for (const [type, fields, path] of wrong) {
    test(`${JSON.stringify(fields)} of ${type} is refused at ${path}, when made and when changed`, async () => {
      const call = (method: string, url: string, body: object) =>
        world.app.call(method, url, { key: world.tenant.developer, body })
      const made = await call('POST', '/api/v1/agents', { type, ...fields })
      assert.deepEqual([made.status, made.body.errors?.[0]?.path], [400, path], made.text)
      assert.ok(!made.text.includes('two\\nlines'))
      const agentId = await world.agent()
      const changed = await call('PATCH', world.path(agentId), { type, ...fields })
      assert.deepEqual([changed.status, changed.body.errors?.[0]?.path], [400, path], changed.text)
    })
  }

  test('a secret does not go along to another address or type', async () => {
    const agentId = await agentOf('openai', 'https://one.example.org')
    const patch = async (body: object) =>
      (await world.app.call('PATCH', world.path(agentId), { key: world.tenant.developer, body })).status
    assert.equal(await patch({ config: { baseURL: 'https://two.example.org' } }), 400)
    assert.equal(await patch({ config: { baseURL: null } }), 400)
    assert.equal(await patch({ type: 'http', config: { url: 'https://two.example.org' } }), 400)
    assert.equal(await patch({ config: { baseURL: 'https://one.example.org/v2' } }), 200)
    assert.equal(await patch({ type: 'remote' }), 200)
    assert.equal(await patch({ type: 'openai' }), 400)
    assert.equal(await patch({ type: 'openai', secrets: null }), 200)
    assert.equal(await patch({ config: { baseURL: 'https://two.example.org' } }), 200)
  })

  test('the types of workers have the settings that they want', async () => {
    await world.agent({ type: 'remote', config: { baseURL: 7, model: {} }, secrets: { any: ['thing'] } })
  })
})

describe('where the platform may reach', () => {
  test('metadata services and private networks are refused, and nothing is told about them', async () => {
    for (const baseURL of ['http://169.254.169.254', 'http://10.0.0.1:8080', 'http://[fd00::1]']) {
      const agentId = await world.agent({ type: 'openai', config: { baseURL, model: 'm' } })
      const reply = await world.invoke(agentId, { input: 'x' })
      assert.deepEqual([reply.status, reply.body.code], [502, 'provider_failed'])
      assert.match(reply.body.detail, /^The address is not allowed.*EGRESS_ALLOW/)
      assert.ok(!reply.body.detail.includes(new URL(baseURL).hostname))
    }
  })

  for (const isAllowed of [false, true]) {
    test(`a loopback address is ${isAllowed ? 'reached where EGRESS_ALLOW names it' : 'refused'}`, async (t) => {
      const upstream = await provider(t, streams(...openAiAnswer))
      const allow = isAllowed ? new URL(upstream.url).host : ''
      const strict = await agentWorld({ AGENT_BRIDGES: 'on', HOST: '0.0.0.0', EGRESS_ALLOW: allow })
      t.after(() => strict.close())
      const agentId = await strict.agent({ type: 'openai', config: settingsFor('openai', upstream.url) })
      const reply = await strict.invoke(agentId, { input: 'x' })
      assert.deepEqual([reply.status, upstream.asked.length], isAllowed ? [200, 1] : [502, 0])
    })
  }
})

test('as many at once for all agents of an application as the setting says: then 429; workers and others do not count', async (t) => {
  const tight = await agentWorld({ AGENT_BRIDGES: 'on', AGENT_BRIDGE_CALLS_PER_APPLICATION: '2' })
  t.after(() => tight.close())
  const slow = await provider(t, (response) => response.writeHead(200).write(openAiAnswer[0]))
  const quick = await provider(t, streams(...openAiAnswer))
  const fields = (url: string) => ({ type: 'openai', config: settingsFor('openai', url) })
  const [one, two] = [await tight.agent(fields(slow.url)), await tight.agent(fields(slow.url))]
  const third = await tight.agent(fields(quick.url))
  const [first, second] = [await tight.stream(one, { input: 'x' }), await tight.stream(two, { input: 'x' })]
  const refused = await tight.invoke(third, { input: 'x' })
  assert.deepEqual([refused.status, refused.body.code, refused.body.retryable], [429, 'agent_busy', true])
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.match(refused.body.detail, /application/)
  const { limit, limitName } = refused.body
  assert.deepEqual({ limit, limitName }, { limit: 2, limitName: 'bridgeCalls' })
  assert.equal(quick.asked.length, 0)

  const other = await tight.app.tenant('others')
  const body = fields(quick.url)
  const made = await tight.app.call('POST', '/api/v1/agents', { key: other.developer, body })
  const path = tight.path(made.body.id, '/invoke')
  const theirs = await tight.app.call('POST', path, { key: other.reader, body: { input: 'x' } })
  assert.equal(theirs.status, 200, theirs.text)
  await tight.worker(third, echo)
  assert.equal((await tight.invoke(third, { input: 'hello' })).body.text, 'hello')

  const cancel = (agentId: string, { headers }: typeof first) => {
    const path = tight.path(agentId, `/invocations/${headers.get('x-invocation-id')}/cancel`)
    const isDone = async () => (await tight.app.call('POST', path, { key: tight.tenant.developer })).status === 202
    return until(isDone, 'it is not known')
  }
  await cancel(one, first)
  const fourth = await tight.agent(fields(quick.url))
  await until(async () => (await tight.invoke(fourth, { input: 'x' })).status === 200, 'the place is not free again')
  await cancel(two, second)
})

test('with AGENT_BRIDGES off nobody is asked, which the answer says; and workers serve as ever', async (t) => {
  const off = await agentWorld()
  t.after(() => off.close())
  const upstream = await provider(t, streams(...openAiAnswer))
  const agentId = await off.agent({ type: 'openai', config: settingsFor('openai', upstream.url) })
  assert.equal((await off.get(agentId)).status, 'offline')
  for (const reply of [await off.invoke(agentId, { input: 'x' }), await off.invoke(agentId, { input: 'x' })]) {
    assert.deepEqual([reply.status, reply.body.code], [503, 'agent_unavailable'])
    assert.match(reply.body.detail, /AGENT_BRIDGES/)
    assert.equal(reply.headers.get('retry-after'), '5')
  }
  const remote = await off.invoke(await off.agent(), { input: 'x' })
  assert.doesNotMatch(remote.body.detail, /AGENT_BRIDGES/)
  await off.agent({ type: 'http', config: { whatever: 1 } })
  await off.worker(agentId, echo)
  assert.equal((await off.invoke(agentId, { input: 'hello' })).body.text, 'hello')
  assert.equal(upstream.asked.length, 0)
})

test('a server that stops ends what the provider does not, and leaves the provider', async (t) => {
  const short = await agentWorld({ AGENT_BRIDGES: 'on', AGENT_DRAIN_MS: '100' })
  const upstream = await provider(t, (response) => response.writeHead(200).write(openAiAnswer[0]))
  const agentId = await short.agent({ type: 'openai', config: settingsFor('openai', upstream.url) })
  const reply = await short.stream(agentId, { input: 'x' })
  await short.app.close()
  await reply.over
  assert.deepEqual([reply.last()?.event, reply.last()?.data.code], ['error', 'shutting_down'])
  await until(() => upstream.state.left === 1, 'the provider still answers')
})
