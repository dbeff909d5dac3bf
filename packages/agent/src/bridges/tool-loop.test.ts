import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import test, { describe } from 'node:test'
import { ask, startUpstream, trickle } from '../../testing/ask.ts'
import { startTools } from '../../testing/fake-tools.ts'
import { ProviderError } from '../errors.ts'
import type { Handler } from '../invocation.ts'
import { anthropic } from './anthropic.ts'
import { ollama } from './ollama.ts'
import { openAiCompatible } from './openai-compatible.ts'

type Call = { id: string; name: string; input: string }
type Says = { text?: string; calls?: readonly Call[]; reason?: string }
// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
type Body = any

/** How a provider writes a turn, and how it is shown the results. */
type Provider = {
  make(url: string, options?: object): Handler
  type: string
  write(says: Says): string
  /** The results that a request carries. */
  results(body: Body): string[]
  offered(body: Body): string[]
  mayCall(body: Body): boolean
}

const sse = (value: object | string) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const half = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)]

const openai: Provider = {
  make: (baseUrl, options) => openAiCompatible({ baseUrl, model: 'm', ...options }),
  type: 'text/event-stream',
  write({ text, calls = [], reason = calls.length > 0 ? 'tool_calls' : 'stop' }) {
    const delta = (value: object) => sse({ choices: [{ index: 0, delta: value, finish_reason: null }] })
    const pieces = calls.flatMap(({ id, name, input }, index) => [
      delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...half(input).map((part) => delta({ tool_calls: [{ index, function: { arguments: part } }] })),
    ])
    const end = sse({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })
    const usage = sse({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } })
    return [text ? delta({ content: text }) : '', ...pieces, end, usage, sse('[DONE]')].join('')
  },
  results: ({ messages }) => messages.filter(({ role }: Body) => role === 'tool').map(({ content }: Body) => content),
  offered: ({ tools = [] }) => tools.map((tool: Body) => tool.function.name),
  mayCall: ({ tools, tool_choice }) => tools !== undefined && tool_choice !== 'none',
}

const claude: Provider = {
  make: (baseUrl, options) => anthropic({ baseUrl, model: 'm', ...options }),
  type: 'text/event-stream',
  write({ text, calls = [], reason = calls.length > 0 ? 'tool_use' : 'end_turn' }) {
    const block = (index: number, content_block: object, deltas: object[]) => [
      sse({ type: 'content_block_start', index, content_block }),
      ...deltas.map((delta) => sse({ type: 'content_block_delta', index, delta })),
      sse({ type: 'content_block_stop', index }),
    ]
    return [
      sse({ type: 'message_start', message: { model: 'm', usage: { input_tokens: 10, output_tokens: 1 } } }),
      ...block(0, { type: 'text', text: '' }, text ? [{ type: 'text_delta', text }] : []),
      ...calls.flatMap(({ id, name, input }, index) =>
        block(
          index + 1,
          { type: 'tool_use', id, name, input: {} },
          half(input).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
        ),
      ),
      sse({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 2 } }),
      sse({ type: 'message_stop' }),
    ].join('')
  },
  results: ({ messages }) =>
    messages
      .flatMap(({ content }: Body) => (Array.isArray(content) ? content : []))
      .filter(({ type }: Body) => type === 'tool_result')
      .map(({ content }: Body) => content),
  offered: ({ tools = [] }) => tools.map(({ name }: Body) => name),
  mayCall: ({ tools, tool_choice }) => tools !== undefined && tool_choice?.type !== 'none',
}

const llama: Provider = {
  make: (baseUrl, options) => ollama({ baseUrl, model: 'm', ...options }),
  type: 'application/x-ndjson',
  write({ text = '', calls = [], reason = 'stop' }) {
    const line = (value: object) => `${JSON.stringify({ model: 'm', ...value })}\n`
    const tool_calls = calls.map(({ name, input }) => ({ function: { name, arguments: parsed(input) } }))
    return [
      line({ message: { role: 'assistant', content: text }, done: false }),
      ...tool_calls.map((call) =>
        line({ message: { role: 'assistant', content: '', tool_calls: [call] }, done: false }),
      ),
      line({ message: { content: '' }, done: true, done_reason: reason, prompt_eval_count: 10, eval_count: 2 }),
    ].join('')
  },
  results: ({ messages }) => messages.filter(({ role }: Body) => role === 'tool').map(({ content }: Body) => content),
  offered: ({ tools = [] }) => tools.map((tool: Body) => tool.function.name),
  mayCall: ({ tools }) => tools !== undefined,
}

/** Ollama's own parser hands on what it could read. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text || '{}')
  } catch {
    return text
  }
}

/** Answers one turn after the other, and the last one for ever. */
const inTurn = ({ type, write }: Provider, turns: readonly Says[]) => {
  let turn = 0
  return (response: ServerResponse) =>
    trickle(response, type, write(turns[Math.min(turn++, turns.length - 1)] ?? {}), 60)
}

const list = (input = '{"search":"parks"}', name = 'list_datasets', id = 'c1'): Call => ({ id, name, input })

for (const [name, provider] of Object.entries({ openai, anthropic: claude, ollama: llama })) {
  describe(`a model of ${name}`, () => {
    test('uses a tool, reads its result and answers; its tokens are those of all turns', async (t) => {
      const { tools, calls, tokens } = await startTools(t, () => ({ text: '{"datasets":[]}' }))
      const turns = [{ text: 'Let me see.', calls: [list()] }, { text: 'There are none.' }]
      const { url, requests } = await startUpstream(t, inTurn(provider, turns))
      const { text, facts, signs } = await ask(provider.make(url), { tools })
      assert.equal(text, 'Let me see.\n\nThere are none.')
      assert.deepEqual(calls, [{ name: 'list_datasets', arguments: { search: 'parks' } }])
      assert.deepEqual([...tokens], ['Bearer tools.t'])
      assert.deepEqual(facts, {
        ...(name === 'openai' ? {} : { model: 'm' }),
        finishReason: 'stop',
        usage: { inputTokens: 20, outputTokens: 4, totalTokens: 24 },
      })
      assert.ok(signs.includes('start'))
      assert.deepEqual(provider.offered(requests[0]?.body), ['list_datasets'])
      assert.deepEqual(provider.results(requests[1]?.body), ['{"datasets":[]}'])
    })

    test('uses several tools at once, and what it shows on the map is part of the answer', async (t) => {
      const view = { type: 'mapView', bbox: [0, 0, 1, 1] }
      const { tools, calls } = await startTools(t, () => ({ text: 'shown', value: view }))
      const both = { calls: [list('{}', 'list_datasets', 'a'), list('', 'list_datasets', 'b')] }
      const { url, requests } = await startUpstream(t, inTurn(provider, [both, { text: 'Look.' }]))
      const { text, facts } = await ask(provider.make(url), { tools })
      assert.deepEqual([text, calls.length, facts.artifacts], ['Look.', 2, [view, view]])
      assert.deepEqual(provider.results(requests[1]?.body), ['shown', 'shown'])
    })

    test('that asks for an unknown tool, or with broken arguments, is told so and can go on', async (t) => {
      const { tools, calls } = await startTools(t, () => ({ text: 'never' }))
      const wrong = ['{"search":', '[1]', '"text"', 'null'].map((input, index) =>
        list(input, 'list_datasets', `w${index}`),
      )
      const turns = [{ calls: [list('{}', 'drop_everything'), ...wrong] }, { text: 'Sorry.' }]
      const { url, requests } = await startUpstream(t, inTurn(provider, turns))
      assert.equal((await ask(provider.make(url), { tools })).text, 'Sorry.')
      assert.deepEqual(calls, [])
      const [unknown, ...broken] = provider.results(requests[1]?.body)
      assert.match(unknown ?? '', /no tool of this name.*list_datasets/)
      assert.deepEqual(broken, Array(4).fill('The arguments are not a JSON object.'))
    })

    test('that never stops asking for tools is made to answer, and fails if it does not', async (t) => {
      const { tools, calls } = await startTools(t, () => ({ text: 'again' }))
      const { url, requests } = await startUpstream(t, inTurn(provider, [{ calls: [list()] }]))
      await assert.rejects(ask(provider.make(url), { tools }), (error) => {
        assert.ok(error instanceof ProviderError)
        assert.match(error.message, /after 8 rounds/)
        return true
      })
      assert.deepEqual([calls.length, requests.length], [8, 9])
      assert.deepEqual(
        requests.map(({ body }) => provider.mayCall(body)),
        [...Array(8).fill(true), false],
      )
    })

    test('gets long results cut, and after many of them none', async (t) => {
      const { tools } = await startTools(t, () => ({ text: 'ä'.repeat(30_000) }))
      const many = { calls: Array.from({ length: 10 }, (_, index) => list('{}', 'list_datasets', `c${index}`)) }
      const { url, requests } = await startUpstream(
        t,
        inTurn(provider, [many, { calls: [list()] }, { text: 'Enough.' }]),
      )
      assert.equal((await ask(provider.make(url), { tools })).text, 'Enough.')
      const results = provider.results(requests[2]?.body)
      assert.match(results[0] ?? '', /^ä{16384}\n\[cut off: ask for less\]$/)
      assert.match(results[9] ?? '', /Only 8 tools/)
      assert.match(results[10] ?? '', /already too long/)
      assert.ok(Buffer.byteLength(results.join('')) < 300_000)
    })

    test('is told of a tool that fails, and of tools that are gone', async (t) => {
      const failing = await startTools(t, () => ({ text: 'arguments/search: must be a text', isError: true }))
      const { url, requests } = await startUpstream(t, inTurn(provider, [{ calls: [list()] }, { text: 'Oh.' }]))
      assert.equal((await ask(provider.make(url), { tools: failing.tools })).text, 'Oh.')
      assert.deepEqual(provider.results(requests[1]?.body), ['arguments/search: must be a text'])
      const nowhere = { ...failing.tools, mcpUrl: 'http://127.0.0.1:1/api/v1/mcp' }
      const other = await startUpstream(t, inTurn(provider, [{ text: 'Without.' }]))
      assert.equal((await ask(provider.make(other.url), { tools: nowhere })).text, 'Without.')
      assert.deepEqual(provider.offered(other.requests[0]?.body), [])
    })

    test('is asked without tools when there are none, when it must not use them, or when it knows none', async (t) => {
      const { tools } = await startTools(t, () => ({ text: 'never' }))
      for (const options of [undefined, { tools: false }]) {
        const { url, requests } = await startUpstream(t, inTurn(provider, [{ text: 'ok' }]))
        assert.equal((await ask(provider.make(url, options), options && { tools })).text, 'ok')
        assert.deepEqual(provider.offered(requests[0]?.body), [])
      }
      let tries = 0
      const { url, requests } = await startUpstream(t, (response) => {
        if (tries++ === 0) return response.writeHead(400).end('{"error":"m does not support tools"}')
        return inTurn(provider, [{ text: 'ok' }])(response)
      })
      assert.equal((await ask(provider.make(url), { tools })).text, 'ok')
      assert.deepEqual(
        requests.map(({ body }) => provider.offered(body).length),
        [1, 0],
      )
    })

    test('whose answer was cut off uses no tools', async (t) => {
      const { tools, calls } = await startTools(t, () => ({ text: 'never' }))
      const reason = name === 'anthropic' ? 'max_tokens' : 'length'
      const { url } = await startUpstream(t, inTurn(provider, [{ text: 'so f', calls: [list()], reason }]))
      const { text, facts } = await ask(provider.make(url), { tools })
      assert.deepEqual([text, facts.finishReason, calls], ['so f', 'length', []])
    })

    test('stops with its invocation, also while a tool is at work', async (t) => {
      const abort = new AbortController()
      const { tools } = await startTools(t, () => {
        abort.abort()
        return new Promise(() => {})
      })
      const { url, requests } = await startUpstream(t, inTurn(provider, [{ calls: [list()] }]))
      await assert.rejects(ask(provider.make(url), { tools, signal: abort.signal }), { name: 'AbortError' })
      assert.equal(requests.length, 1)
    })

    test('that sends calls of no known form, or without end, is a failure of the provider or no call', async (t) => {
      const { tools, calls } = await startTools(t, () => ({ text: 'never' }))
      const flood = { calls: Array.from({ length: 100 }, (_, index) => list('{}', 'list_datasets', `f${index}`)) }
      const { url } = await startUpstream(t, inTurn(provider, [flood]))
      await assert.rejects(ask(provider.make(url), { tools }), ProviderError)
      const long = await startUpstream(t, (response) =>
        response.writeHead(200).end(provider.write({ calls: [list(JSON.stringify({ search: 'x'.repeat(300_000) }))] })),
      )
      await assert.rejects(ask(provider.make(long.url), { tools }), ProviderError)
      assert.deepEqual(calls, [])
    })
  })
}

test('calls of a form that nobody expects are no calls', async (t) => {
  const { tools, calls } = await startTools(t, () => ({ text: 'never' }))
  for (const tool_calls of ['text', 5, {}, [null], [{ function: 7 }], [{ function: { name: {}, arguments: [] } }]]) {
    const odd = sse({ choices: [{ delta: { tool_calls } }] })
    let turn = 0
    const { url } = await startUpstream(t, (response) =>
      response.writeHead(200).end((turn++ === 0 ? odd : '') + openai.write({ text: 'fine' })),
    )
    assert.match((await ask(openai.make(url), { tools })).text, /fine$/)
  }
  assert.deepEqual(calls, [])
})
