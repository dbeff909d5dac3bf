import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { after, before, type TestContext } from 'node:test'
import type * as server from '../../server/src/agents/protocol.ts'
import { type Tenant, type TestApp, testApp } from '../../server/testing/harness.ts'
import { until } from '../../server/testing/until.ts'
import { startUpstream } from '../testing/ask.ts'
import { isAlive, startCommand, startProgram } from '../testing/worker-process.ts'
import { type ServerSentEvent, serverSentEvents } from './bridges/server-sent-events.ts'
import type * as own from './protocol.ts'

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
const [, example = ''] = /```ts\n(.*?)\n```/s.exec(readme) ?? []

let app: TestApp
let tenant: Tenant
let url: string
before(async () => {
  app = await testApp()
  tenant = await app.tenant('agents')
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
})
after(() => app.close())

async function makeAgent(fields: object = {}): Promise<string> {
  const { body, text, status } = await app.call('POST', '/api/v1/agents', { key: tenant.developer, body: fields })
  assert.equal(status, 201, text)
  return body.id
}

function ask(agentId: string, how: 'invoke' | 'stream', input: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/api/v1/agents/${agentId}/${how}`, {
    method: 'POST',
    headers: { 'x-api-key': tenant.reader, 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
    ...(signal && { signal }),
  })
}

async function workers(agentId: string): Promise<number> {
  const { body } = await app.call('GET', `/api/v1/agents/${agentId}`, { key: tenant.developer })
  return body.workers
}
async function untilWorkers(agentId: string, count: number): Promise<void> {
  await until(async () => (await workers(agentId)) === count)
}

async function serve(t: TestContext, agentId: string, command: string) {
  const env = { GRATICULE_URL: url, GRATICULE_API_KEY: tenant.developer }
  const worker = startCommand(t, ['serve', '--agent', agentId, '--command', command], env)
  await untilWorkers(agentId, 1)
  return worker
}

const eventsOf = (response: Response): AsyncGenerator<ServerSentEvent> =>
  serverSentEvents((response.body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()))

test('the two descriptions of the protocol agree, as the compiler says', () => {
  const sent = (frame: own.WorkerFrame): server.WorkerFrame => frame
  const received = (frame: server.PlatformFrame): own.PlatformFrame => frame
  assert.deepEqual([sent({ t: 'drain' }).t, received({ t: 'credit', id: 'x', bytes: 1 }).t], ['drain', 'credit'])
})

test('a model that a worker asks uses the platform’s tools, at the address by which the worker reaches it', {
  timeout: 200_000,
}, async (t) => {
  const dataset = { type: 'sql', name: 'parks', source: 'SELECT 1 AS id' }
  const made = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body: dataset })
  assert.equal(made.status, 201, made.text)
  let turn = 0
  const call = { function: { name: 'list_datasets', arguments: {} } }
  const { url: model, requests } = await startUpstream(t, (response) => {
    const message = turn++ === 0 ? { content: '', tool_calls: [call] } : { content: 'Parks.' }
    response.end(`${JSON.stringify({ message, done: true, done_reason: 'stop' })}\n`)
  })
  const agentId = await makeAgent()
  const env = { GRATICULE_URL: url, GRATICULE_API_KEY: tenant.developer, OLLAMA_HOST: model }
  startCommand(t, ['serve', '--agent', agentId, '--ollama', 'm'], env)
  await untilWorkers(agentId, 1)
  // What this claims is only where the caller found the platform.
  const headers = { 'x-api-key': tenant.reader, 'content-type': 'application/json', host: 'localhost:1' }
  const path = `/api/v1/agents/${agentId}/invoke`
  const reply = await app.http.inject({ method: 'POST', url: path, headers, payload: { input: 'What is there?' } })
  assert.deepEqual([reply.statusCode, reply.json().text], [200, 'Parks.'])
  assert.match(requests[1]?.body.messages.at(-1).content, /"name":"parks"/)
})

test('the example of the README serves an agent of a real platform', { timeout: 200_000 }, async (t) => {
  const agentId = await makeAgent({ model: 'shouter' })
  const env = { GRATICULE_URL: url, GRATICULE_API_KEY: tenant.developer, AGENT_ID: agentId }
  const { child, exited } = startProgram(t, example, env)
  await untilWorkers(agentId, 1)
  const reply = await ask(agentId, 'invoke', 'hello world 😀')
  const { text, finishReason, model } = (await reply.json()) as Record<string, unknown>
  assert.deepEqual([reply.status, text, finishReason, model], [200, 'HELLO WORLD 😀 ', 'stop', 'shouter'])
  const events = await Array.fromAsync(eventsOf(await ask(agentId, 'stream', 'a b')))
  assert.deepEqual(
    events.map(({ event }) => event),
    ['start', 'delta', 'delta', 'done'],
  )
  child.kill('SIGTERM')
  assert.equal(await exited, 0)
  await untilWorkers(agentId, 0)
  assert.equal((await ask(agentId, 'invoke', 'x')).status, 503)
})

test('a command’s refusal and failure become 400 and 500', { timeout: 200_000 }, async (t) => {
  const agentId = await makeAgent()
  await serve(t, agentId, 'read what; if [ "$what" = bad ]; then echo "Not that." >&2; exit 65; fi; exit 1')
  const refused = await ask(agentId, 'invoke', 'bad\n')
  assert.equal(refused.status, 400)
  assert.match(await refused.text(), /Not that\./)
  assert.equal((await ask(agentId, 'invoke', 'other\n')).status, 500)
})

test('a megabyte flows through the windows, whole', { timeout: 200_000 }, async (t) => {
  const agentId = await makeAgent()
  await serve(t, agentId, 'yes 0123456789 | head -c 2000000')
  const reply = await ask(agentId, 'invoke', 'x')
  const { text } = (await reply.json()) as { text: string }
  assert.equal(text.length, 2_000_000)
  assert.ok(/^(?:0123456789\n)*0?1?2?3?4?5?6?7?8?9?\n?$/.test(text))
})

test('a client that leaves ends the command of its answer', { timeout: 200_000 }, async (t) => {
  const agentId = await makeAgent()
  await serve(t, agentId, 'echo $$; sleep 300')
  const abort = new AbortController()
  const events = eventsOf(await ask(agentId, 'stream', 'x', abort.signal))
  let pid = 0
  while (pid === 0) {
    const { value } = await events.next()
    if (value?.event === 'delta') pid = Number(JSON.parse(value.data).text)
  }
  assert.ok(process.kill(pid, 0))
  abort.abort()
  await until(() => !isAlive(pid))
  const inFlight = async () =>
    (await app.call('GET', `/api/v1/agents/${agentId}`, { key: tenant.developer })).body.inFlight
  await until(async () => (await inFlight()) === 0)
})

test('kill -9 of a worker ends its stream with an error 502', { timeout: 200_000 }, async (t) => {
  const agentId = await makeAgent()
  const { child } = await serve(t, agentId, 'echo a; sleep 2')
  const names: string[] = []
  let last = ''
  for await (const { event, data } of eventsOf(await ask(agentId, 'stream', 'x'))) {
    names.push(event)
    last = data
    if (event === 'delta') child.kill('SIGKILL')
  }
  assert.deepEqual(names, ['start', 'delta', 'error'])
  assert.equal(JSON.parse(last).statusCode, 502)
})

test('a key that may only execute is not let in as a worker', { timeout: 200_000 }, async (t) => {
  const agentId = await makeAgent()
  const env = { GRATICULE_URL: url, GRATICULE_API_KEY: tenant.reader }
  const { exited, output } = startCommand(t, ['serve', '--agent', agentId, '--command', 'cat'], env)
  assert.equal(await exited, 1)
  assert.match(output(), /The API key was refused/)
})

test('a worker whose key is deleted ends, and says why', { timeout: 200_000 }, async (t) => {
  const agentId = await makeAgent()
  const key = await app.key(tenant.id, { agents: { '*': '*' } })
  const env = { GRATICULE_URL: url, GRATICULE_API_KEY: key }
  const { exited, output } = startCommand(t, ['serve', '--agent', agentId, '--command', 'cat'], env)
  await untilWorkers(agentId, 1)
  const { status } = await app.call('DELETE', `/api/v1/apikeys/${key}`)
  assert.equal(status, 200)
  assert.equal(await exited, 1)
  assert.match(output(), /The API key was refused/)
})
