import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import test from 'node:test'
import { ask, startUpstream, trickle } from '../../testing/ask.ts'
import { ProviderError, Reject } from '../errors.ts'
import { anthropic } from './anthropic.ts'

const event = (type: string, value: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`
const opening = event('message_start', {
  message: {
    id: 'msg',
    model: 'claude-x-1',
    usage: { input_tokens: 3, cache_read_input_tokens: 20, cache_creation_input_tokens: 7, output_tokens: 1 },
  },
})
const text = (words: string) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } })
const ending = (reason: string) =>
  event('content_block_stop', { index: 0 }) +
  event('message_delta', {
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { input_tokens: null, output_tokens: 12 },
  }) +
  event('message_stop')
const stream = (body: string, size?: number) => (response: ServerResponse) =>
  trickle(response, 'text/event-stream', body, size)

test('answers with the text, the model, the finish reason and tokens that include the cached ones', async (t) => {
  const body = `${opening}${event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })}${event('ping')}${text('Bonjour ')}${text('été 😀')}${ending('end_turn')}`
  const { url, requests } = await startUpstream(t, stream(body))
  const bridge = anthropic({ baseUrl: url, apiKey: 'secret', model: 'claude-x', system: 'Be brief.' })
  const answer = await ask(bridge, {
    options: { temperature: 0 },
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
    ],
  })
  assert.equal(answer.text, 'Bonjour été 😀')
  assert.deepEqual(answer.facts, {
    model: 'claude-x-1',
    finishReason: 'stop',
    usage: { inputTokens: 30, outputTokens: 12, totalTokens: 42, cachedInputTokens: 20 },
  })
  const [request] = requests
  assert.equal(request?.url, '/v1/messages')
  assert.equal(request?.headers['x-api-key'], 'secret')
  assert.equal(request?.headers['anthropic-version'], '2023-06-01')
  assert.deepEqual(request?.body, {
    model: 'claude-x',
    max_tokens: 4_096,
    temperature: 0,
    system: 'Be brief.',
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'How far?' },
    ],
    stream: true,
  })
})

test('stop reasons have the platform’s names', async (t) => {
  const expected = {
    stop_sequence: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'content_filter',
    tool_use: 'tool_calls',
    pause_turn: 'other',
  }
  for (const [reason, name] of Object.entries(expected)) {
    const { url } = await startUpstream(t, stream(opening + ending(reason), 200))
    assert.equal((await ask(anthropic({ baseUrl: url, model: 'm' }))).facts.finishReason, name)
  }
})

test('thinking is not told, but promises an answer', async (t) => {
  const thought = event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } })
  const { url } = await startUpstream(t, stream(opening + thought + text('ok') + ending('end_turn'), 200))
  const { text: words, signs } = await ask(anthropic({ baseUrl: url, model: 'm' }))
  assert.equal(words, 'ok')
  assert.ok(signs.includes('start'))
})

test('an error in the stream has the status of its type', async (t) => {
  for (const [type, status] of [
    ['overloaded_error', 529],
    ['rate_limit_error', 429],
    ['api_error', 500],
  ] as const) {
    const { url } = await startUpstream(
      t,
      stream(opening + text('half') + event('error', { error: { type, message: 'no' } }), 200),
    )
    await assert.rejects(ask(anthropic({ baseUrl: url, model: 'm' })), { name: 'ProviderError', status })
  }
})

test('a stream without message_stop was cut', async (t) => {
  const { url } = await startUpstream(t, stream(opening + text('half'), 200))
  await assert.rejects(ask(anthropic({ baseUrl: url, model: 'm' })), ProviderError)
})

test('a prompt that is too long is the caller’s fault', async (t) => {
  const error = {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
  }
  const { url } = await startUpstream(t, (response) => response.writeHead(400).end(JSON.stringify(error)))
  await assert.rejects(ask(anthropic({ baseUrl: url, model: 'm' })), Reject)
})

test('without a model of the operator the caller chooses, and somebody must', async (t) => {
  const { url, requests } = await startUpstream(t, stream(opening + ending('end_turn'), 200))
  await ask(anthropic({ baseUrl: url }), { options: { model: 'theirs', maxOutputTokens: 7 } })
  assert.deepEqual([requests[0]?.body.model, requests[0]?.body.max_tokens], ['theirs', 7])
  await assert.rejects(ask(anthropic({ baseUrl: url })), /No model/)
})
