import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after, before, type TestContext, test } from 'node:test'
import { type AgentWorld, agentWorld, until } from '../../testing/agent-world.ts'
import { runningQueries } from '../../testing/processes/running-queries.ts'

// One database is enough: models, agents and callers meet in memory; invoke.test.ts and ownership.test.ts write the history to
// both.

let world: AgentWorld
const ids: Record<string, string> = {}
before(async () => {
  world = await agentWorld({ AGENT_BRIDGES: 'on' })
  for (const name of ['parks', 'secrets']) {
    const source = `SELECT i AS id, '${name} ' || i AS name, ST_Point(i, 50, 4326) AS geom FROM generate_series(1, 3) i`
    const body = { type: 'sql', name, source }
    const reply = await world.app.call('POST', '/api/v1/datasets', { key: world.tenant.developer, body })
    assert.equal(reply.status, 201, reply.text)
    ids[name] = reply.body.id
  }
})
after(() => world.close())

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
type Body = any

/** A model behind the chat completions API that uses one tool and then repeats what it was told. */
async function startModel(t: TestContext, name: string, input: object) {
  const bodies: Body[] = []
  const server = createServer(async (request, response) => {
    const body: Body = await json(request)
    bodies.push(body)
    const told = body.messages.at(-1)
    if (told.role === 'tool') say(response, { content: told.content })
    else say(response, { tool_calls: [{ index: 0, id: 'c', function: { name, arguments: JSON.stringify(input) } }] })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies }
}

function say(response: ServerResponse, delta: object): void {
  const events = [{ choices: [{ delta, finish_reason: null }] }, { choices: [{ delta: {}, finish_reason: 'stop' }] }]
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end([...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''))
}

const agentOf = (url: string, more: object = {}, config: object = {}) =>
  world.agent({ type: 'openai', config: { baseURL: url, model: 'm', ...config }, ...more })

test('a model that the platform asks uses the datasets that both its caller and its agent may see', async (t) => {
  const { url, bodies } = await startModel(t, 'list_datasets', {})
  const seen = async (agentId: string, key = world.tenant.reader): Promise<string[]> => {
    const { status, body } = await world.invoke(agentId, { input: 'What is there?' }, { 'x-api-key': key })
    assert.equal(status, 200, JSON.stringify(body))
    return JSON.parse(body.text).datasets.map(({ name }: { name: string }) => name)
  }
  assert.deepEqual(await seen(await agentOf(url)), ['parks', 'secrets'])
  assert.equal(bodies[0].tools.length, 8)
  const narrow = await agentOf(url, { datasetIds: [ids.parks] })
  assert.deepEqual(await seen(narrow), ['parks'])
  const blind = await world.app.key(world.tenant.id, {
    agents: { execute: '*' },
    datasets: { read: [String(ids.secrets)] },
  })
  assert.deepEqual(await seen(await agentOf(url), blind), ['secrets'])
  const { body } = await world.invoke(narrow, { input: 'What is there?' }, { 'x-api-key': blind })
  assert.match(body.text, /does not grant read/)
})

test('a streamed answer has what the tools told, and the view that a model made for the map', async (t) => {
  const view = { bbox: [0, 49, 4, 51], datasetId: ids.parks }
  const { url } = await startModel(t, 'show_on_map', view)
  const streamed = await world.stream(await agentOf(url), { input: 'Show me the parks.' })
  await streamed.over
  assert.deepEqual([streamed.names()[0], streamed.last()?.event], ['start', 'done'])
  assert.deepEqual(streamed.last()?.data.artifacts, [{ type: 'mapView', ...view }])
  assert.deepEqual(JSON.parse(streamed.text()), { type: 'mapView', ...view })
})

test('an agent whose config says so gets no tools', async (t) => {
  const { url, bodies } = await startModel(t, 'list_datasets', {})
  const agentId = await agentOf(url, {}, { tools: false })
  await world.invoke(agentId, { input: 'What is there?' })
  assert.equal(bodies[0].tools, undefined)
  const wrong = await world.app.call('POST', '/api/v1/agents', {
    key: world.tenant.developer,
    body: { type: 'openai', config: { tools: 'no' } },
  })
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /body\/config\/tools/)
})

test('a client that leaves while a tool is at work ends its query', async (t) => {
  const { app, tenant } = world
  // The embedded database does one thing at a time: nobody could look while it is at work.
  if (app.db.kind === 'embedded') return
  const source = 'SELECT count(*) AS n FROM generate_series(1, 100000) a, generate_series(1, 1000000) b'
  const body = { type: 'sql', name: 'slow', source }
  const made = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
  assert.equal(made.status, 201, made.text)
  const { url } = await startModel(t, 'query_dataset', { datasetId: made.body.id })
  const agentId = await agentOf(url)
  const leave = new AbortController()
  const left = world.stream(agentId, { input: 'Count.' }, leave.signal)
  await until(async () => (await runningQueries(app.admin)) > 0, 'the tool is not used')
  leave.abort()
  await left.then((stream) => stream.over).catch(() => {})
  await until(async () => (await runningQueries(app.admin)) === 0, 'the query goes on', 25_000)
})
