import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import test from 'node:test'
import { ask, startUpstream, trickle } from '../../testing/ask.ts'
import { ProviderError } from '../errors.ts'
import { ollama } from './ollama.ts'

const part = (content: string, more: object = {}) =>
  `${JSON.stringify({ model: 'llama3.2', created_at: 'now', message: { role: 'assistant', content }, done: false, ...more })}\n`
const ending = (reason: string) => part('', { done: true, done_reason: reason, prompt_eval_count: 26, eval_count: 9 })
const stream = (body: string, size?: number) => (response: ServerResponse) =>
  trickle(response, 'application/x-ndjson', body, size)

test('answers with the text, the model, the finish reason and the tokens', async (t) => {
  const { url, requests } = await startUpstream(t, stream(part('žluťoučký ') + part('🐴\n') + ending('stop').trim()))
  const answer = await ask(ollama({ baseUrl: url, model: 'llama3.2', system: 'Be brief.' }), {
    options: { temperature: 1, maxOutputTokens: 5 },
  })
  assert.equal(answer.text, 'žluťoučký 🐴\n')
  assert.deepEqual(answer.facts, {
    model: 'llama3.2',
    finishReason: 'stop',
    usage: { inputTokens: 26, outputTokens: 9, totalTokens: 35 },
  })
  assert.equal(requests[0]?.url, '/api/chat')
  assert.deepEqual(requests[0]?.body, {
    model: 'llama3.2',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'How far?' },
    ],
    stream: true,
    options: { temperature: 1, num_predict: 5 },
  })
})

test('done reasons have the platform’s names', async (t) => {
  for (const [reason, name] of Object.entries({ length: 'length', load: 'other' })) {
    const { url } = await startUpstream(t, stream(ending(reason), 100))
    assert.equal((await ask(ollama({ baseUrl: url, model: 'm' }))).facts.finishReason, name)
  }
})

test('a model that is missing, an error in the stream and a stream that is cut are the provider’s failures', async (t) => {
  const answers: ((response: ServerResponse) => unknown)[] = [
    (response) => response.writeHead(404).end('{"error":"model \\"m\\" not found, try pulling it first"}'),
    stream(`${part('half')}{"error":"the runner has died"}\n`, 100),
    stream(part('half'), 100),
  ]
  for (const respond of answers) {
    const { url } = await startUpstream(t, respond)
    await assert.rejects(ask(ollama({ baseUrl: url, model: 'm' })), ProviderError)
  }
})
