import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import test from 'node:test'
import { ask, startUpstream, trickle } from '../../testing/ask.ts'
import { ProviderError, Reject } from '../errors.ts'
import { http } from './http.ts'

const answer =
  (type: string, body: string, size = 1) =>
  (response: ServerResponse) =>
    trickle(response, type, body, size)

test('the service is sent the invocation', async (t) => {
  const { url, requests } = await startUpstream(t, answer('text/plain', 'ok'))
  await ask(http({ url: `${url}/ask?x=1`, headers: { authorization: 'Bearer s' } }), {
    conversationId: 'c',
    caller: 'w',
    context: { zoom: 1 },
  })
  assert.equal(requests[0]?.url, '/ask?x=1')
  assert.equal(requests[0]?.headers.authorization, 'Bearer s')
  assert.deepEqual(requests[0]?.body, {
    invocationId: 'i',
    input: 'How far?',
    messages: [],
    conversationId: 'c',
    caller: 'w',
    context: { zoom: 1 },
    options: {},
    metadata: {},
    mode: 'stream',
  })
})

test('JSON is one answer with what is known of it', async (t) => {
  for (const name of ['text', 'output']) {
    const body = { [name]: 'Zwölf 😀', model: 'm', usage: { inputTokens: 1 }, finishReason: null }
    const { url } = await startUpstream(t, answer('application/json; charset=utf-8', JSON.stringify(body)))
    const { text, facts } = await ask(http({ url }))
    assert.equal(text, 'Zwölf 😀')
    assert.deepEqual(facts, { model: 'm', usage: { inputTokens: 1 } })
  }
})

test('plain text is passed on as it comes, never cut through a character', async (t) => {
  const { url } = await startUpstream(t, answer('text/plain', 'é😀\r\n€'))
  const { text, texts } = await ask(http({ url }))
  assert.equal(text, 'é😀\r\n€')
  assert.ok(texts.every((piece) => piece.isWellFormed() && !piece.includes('\ufffd')))
})

test('events are those of the platform', async (t) => {
  const body =
    'event: start\ndata: {"invocationId":"x"}\n\nevent: delta\ndata: {"text":"a\\n"}\n\nevent: delta\ndata: {"text":"b"}\n\nevent: done\ndata: {"finishReason":"length"}\n\n'
  const { url } = await startUpstream(t, answer('text/event-stream', body))
  const { texts, facts, signs } = await ask(http({ url }))
  assert.deepEqual(texts, ['a\n', 'b'])
  assert.deepEqual(facts, { finishReason: 'length' })
  assert.deepEqual(signs, ['start'])
})

test('nonsense, errors and streams without their end are failures', async (t) => {
  const answers: [string, string, typeof ProviderError | typeof Reject][] = [
    ['application/json', '[', ProviderError],
    ['application/json', '{"answer":1}', ProviderError],
    ['text/event-stream', 'event: delta\ndata: {"text":"a"}\n\n', ProviderError],
    ['text/event-stream', 'event: error\ndata: {"statusCode":500,"message":"secret"}\n\n', ProviderError],
    ['text/event-stream', 'event: error\ndata: {"statusCode":400,"message":"Ask otherwise."}\n\n', Reject],
  ]
  for (const [type, body, kind] of answers) {
    const { url } = await startUpstream(t, answer(type, body, 100))
    await assert.rejects(
      ask(http({ url })),
      (error) => error instanceof kind && !/secret/.test((error as Error).message),
    )
  }
})
