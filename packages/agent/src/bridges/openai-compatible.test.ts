import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import test from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { until } from '../../../server/testing/until.ts'
import { ask, invocationOf, startUpstream, trickle } from '../../testing/ask.ts'
import { ProviderError, Reject } from '../errors.ts'
import { openAiCompatible } from './openai-compatible.ts'

const chunk = (value: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'gpt-x-1', ...value })}\n\n`
const delta = (content: string) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
const finish = (reason: string) => chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })
const counts = chunk({
  choices: [],
  usage: {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
})
const last = 'data: [DONE]\n\n'
const stream = (text: string, size?: number) => (response: ServerResponse) =>
  trickle(response, 'text/event-stream', text, size)

test('asks for a stream with usage, and answers with its text, model, finish reason and tokens', async (t) => {
  const { url, requests } = await startUpstream(
    t,
    stream(`: hello\n\n${delta('')}${delta('Grüße 😀')}${delta('\r\n\n')}${finish('stop')}${counts}${last}`),
  )
  const bridge = openAiCompatible({ baseUrl: `${url}/v1/`, apiKey: 'secret', model: 'gpt-x', system: 'Be brief.' })
  const answer = await ask(bridge, {
    messages: [{ role: 'assistant', content: 'Hello.' }],
    context: { zoom: 4 },
    options: { model: 'expensive', temperature: 0.5, maxOutputTokens: 9 },
  })
  assert.equal(answer.text, 'Grüße 😀\r\n\n')
  assert.deepEqual(answer.facts, {
    model: 'gpt-x-1',
    finishReason: 'stop',
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4, reasoningTokens: 2 },
  })
  const [request] = requests
  assert.equal(request?.url, '/v1/chat/completions')
  assert.equal(request?.headers.authorization, 'Bearer secret')
  assert.deepEqual(request?.body, {
    model: 'gpt-x',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'How far?\n\n<context>{"zoom":4}</context>' },
    ],
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.5,
    max_tokens: 9,
  })
})

test('finish reasons have the platform’s names', async (t) => {
  const expected = {
    stop: 'stop',
    length: 'length',
    content_filter: 'content_filter',
    function_call: 'tool_calls',
    new: 'other',
  }
  for (const [reason, name] of Object.entries(expected)) {
    const { url } = await startUpstream(t, stream(finish(reason) + last, 50))
    assert.equal((await ask(openAiCompatible({ baseUrl: url, model: 'm' }))).facts.finishReason, name)
  }
})

test('a model that thinks aloud promises its answer early and shows that it is alive', async (t) => {
  const thought = chunk({ choices: [{ delta: { reasoning_content: 'hm' } }] })
  const { url } = await startUpstream(t, stream(thought + delta('ok') + finish('stop') + last, 50))
  const { text, signs } = await ask(openAiCompatible({ baseUrl: url, model: 'm' }))
  assert.equal(text, 'ok')
  assert.deepEqual(signs.slice(0, 2), ['start', 'progress'])
})

test('a stream that ends or breaks without its end is the provider’s failure', async (t) => {
  const endings: ((response: ServerResponse) => unknown)[] = [
    stream(delta('half'), 50),
    stream(`${delta('half')}data: {"choices":[{"delta":{"con`, 50),
    async (response) => {
      response.writeHead(200).write(delta('half'))
      await setTimeout(50)
      response.destroy()
    },
    stream('data: {"error":{"message":"overloaded","code":503}}\n\n'),
    stream('data: nonsense\n\n'),
    stream('<html>', 50),
  ]
  for (const respond of endings) {
    const { url } = await startUpstream(t, respond)
    await assert.rejects(ask(openAiCompatible({ baseUrl: url, model: 'm' })), ProviderError)
  }
})

test('an upstream error tells its status and when to try again, and keeps its secrets', async (t) => {
  const answers: [number, Record<string, string>, number | undefined][] = [
    [429, { 'retry-after': '20' }, 20_000],
    [429, { 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
    [500, {}, undefined],
    [401, {}, undefined],
    [400, {}, undefined],
    [307, { location: 'http://127.0.0.1:9/' }, undefined],
  ]
  for (const [status, headers, retryAfterMs] of answers) {
    const { url } = await startUpstream(t, (response) =>
      response.writeHead(status, headers).end(JSON.stringify({ error: { message: 'key sk-123 of org-1' } })),
    )
    await assert.rejects(ask(openAiCompatible({ baseUrl: url, model: 'm' })), (error) => {
      assert.ok(error instanceof ProviderError)
      assert.equal(error.status, status)
      assert.equal(error.retryAfterMs, retryAfterMs)
      assert.doesNotMatch(error.message, /sk-123|org-1/)
      assert.match(error.detail ?? '', /sk-123/)
      return true
    })
  }
})

test('input that is too long or not allowed is the caller’s fault', async (t) => {
  for (const code of ['context_length_exceeded', 'invalid_prompt']) {
    const { url } = await startUpstream(t, (response) =>
      response.writeHead(400).end(JSON.stringify({ error: { code } })),
    )
    await assert.rejects(ask(openAiCompatible({ baseUrl: url, model: 'm' })), Reject)
  }
})

test('nobody there is the provider’s failure', async () => {
  await assert.rejects(ask(openAiCompatible({ baseUrl: 'http://127.0.0.1:9', model: 'm' })), /cannot be reached/)
})

test('cancel ends the request, before the first word and after', async (t) => {
  for (const begins of [false, true]) {
    const gone = Promise.withResolvers<void>()
    const { url, requests } = await startUpstream(t, (response) => {
      if (begins) response.writeHead(200).write(delta('a'))
      response.on('close', () => gone.resolve())
    })
    const abort = new AbortController()
    const { invocation } = invocationOf({ signal: abort.signal })
    const answer = (openAiCompatible({ baseUrl: url, model: 'm' })(invocation) as AsyncIterable<string>)[
      Symbol.asyncIterator
    ]()
    if (begins) assert.deepEqual(await answer.next(), { value: 'a', done: false })
    const next = answer.next()
    await until(() => requests.length > 0)
    abort.abort()
    await assert.rejects(next, { name: 'AbortError' })
    await gone.promise
  }
})

test('an answer nobody reads on ends the request', async (t) => {
  const gone = Promise.withResolvers<void>()
  const { url } = await startUpstream(t, (response) => {
    response.writeHead(200).write(delta('a'))
    response.on('close', () => gone.resolve())
  })
  const { invocation } = invocationOf()
  for await (const _ of openAiCompatible({ baseUrl: url, model: 'm' })(invocation) as AsyncIterable<string>) break
  await gone.promise
})
