import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Compile } from 'typebox/compile'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'

let app: TestApp
let url: string
let own: Tenant
let parks: string
const clients: Client[] = []

before(async () => {
  app = await testApp()
  own = await app.tenant('own')
  const source = `SELECT i AS id, 'park ' || i AS name, i * 1.5 AS area, ST_Point(i / 100.0, 50, 4326) AS geom
    FROM generate_series(:least, 30) i`
  const parameters = [{ name: 'least', type: 'integer', default: 1 }]
  const metadata = { tags: ['gazetteer'], parameters }
  const body = { type: 'sql', name: 'parks', source, metadata }
  const reply = await app.call('POST', '/api/v1/datasets', { key: own.developer, body })
  assert.equal(reply.status, 201, reply.text)
  parks = reply.body.id
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}/api/v1/mcp`
})
after(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await app.close()
})

type Mode = 'legacy' | 'auto' | { pin: string }

async function connect(mode: Mode): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { 'x-api-key': own.public } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  clients.push(client)
  return client
}

async function use(client: Client, name: string, input: object) {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: { ...input } })
  const [first] = content
  return { isError: isError === true, text: first?.type === 'text' ? first.text : '', structuredContent }
}

const current = '2026-07-28'
const earlier = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
const meta = {
  'io.modelcontextprotocol/protocolVersion': current,
  'io.modelcontextprotocol/clientInfo': { name: 'by hand', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

async function post(message: object, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': own.public, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...message }),
  })
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was answered
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as any }
}

describe('the protocol', () => {
  for (const [mode, version] of [
    [{ pin: current }, current],
    ['auto', current],
    ['legacy', '2025-11-25'],
  ] as const) {
    test(`a client that wants ${JSON.stringify(mode)} speaks ${version}, is told how to use the tools, and uses them`, async () => {
      const client = await connect(mode)
      assert.equal(client.getNegotiatedProtocolVersion(), version)
      assert.match(client.getInstructions() ?? '', /list_datasets/)
      assert.equal(client.getServerVersion()?.name, 'graticule')
      const { tools } = await client.listTools()
      assert.equal(tools.length, 8)
      const { structuredContent } = await use(client, 'list_datasets', {})
      const { datasets } = structuredContent as { datasets: { name: string }[] }
      assert.deepEqual(
        datasets.map(({ name }) => name),
        ['parks'],
      )
    })
  }

  for (const version of earlier) {
    test(`a client of ${version} is answered in ${version}, without a session`, async () => {
      const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'by hand', version: '1' } }
      const { status, body } = await post({ method: 'initialize', params })
      assert.deepEqual([status, body.result.protocolVersion], [200, version])
      const listed = await post({ method: 'tools/list' }, { 'mcp-protocol-version': version })
      assert.equal(listed.body.result.tools.length, 8)
    })
  }

  test('a version that there is not is answered with those that there are', async () => {
    const params = { protocolVersion: '2031-01-01', capabilities: {}, clientInfo: { name: 'by hand', version: '1' } }
    const agreed = await post({ method: 'initialize', params })
    assert.equal(agreed.body.result.protocolVersion, '2025-11-25')
    const later = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' }
    const message = { method: 'tools/list', params: { _meta: later } }
    const refused = await post(message, { 'mcp-protocol-version': '2031-01-01', 'mcp-method': 'tools/list' })
    assert.deepEqual([refused.status, refused.body.id], [400, 7])
    assert.deepEqual(refused.body.error.data.supported, [current])
  })

  test('headers that contradict the message are refused, and so is what is not offered', async () => {
    const headers = { 'mcp-protocol-version': current, 'mcp-method': 'tools/list' }
    const listed = await post({ method: 'tools/list', params: { _meta: meta } }, headers)
    assert.equal(listed.status, 200, JSON.stringify(listed.body))
    const contradicting = await post({ method: 'server/discover', params: { _meta: meta } }, headers)
    assert.deepEqual([contradicting.status, contradicting.body.id], [400, 7])
    for (const method of ['subscriptions/listen', 'resources/list']) {
      const { status, body } = await post({ method, params: { _meta: meta } }, { ...headers, 'mcp-method': method })
      assert.deepEqual([status, body.id, body.error.code], [404, 7, -32601], method)
    }
  })
})

describe('a page', () => {
  for (const mode of ['legacy', 'auto'] as const) {
    test(`in a browser may send all that a client of mode ${mode} sends, with the key as Bearer`, async () => {
      const sent = new Set<string>()
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      const watched: typeof fetch = (input, init) => {
        for (const name of new Headers(init?.headers).keys()) sent.add(name)
        return fetch(input, init)
      }
      const requestInit = { headers: { authorization: `Bearer ${own.public}` } }
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit, fetch: watched }))
      clients.push(client)
      assert.ok(!(await use(client, 'list_datasets', {})).isError)
      const asked = { origin: 'https://page.example.org', 'access-control-request-method': 'POST' }
      const preflight = await fetch(url, { method: 'OPTIONS', headers: asked })
      const allowed = new Set(preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(/, */))
      assert.ok(sent.has('mcp-protocol-version') && sent.has('authorization'))
      assert.deepEqual(
        [...sent].filter((name) => !allowed.has(name)),
        [],
      )
      assert.equal(preflight.headers.get('access-control-allow-origin'), '*')
      assert.match(preflight.headers.get('access-control-expose-headers') ?? '', /mcp-session-id/i)
    })
  }
})

describe('a tool', () => {
  test('returns what its output schema declares, as structured content and as text', async () => {
    const client = await connect('auto')
    const { tools } = await client.listTools()
    const at = { datasetId: parks, point: [0.02, 50], distanceMeters: 1_000 }
    const inputs: Record<string, object> = {
      list_datasets: { limit: 1 },
      describe_dataset: { datasetId: parks, valuesOf: ['name'] },
      query_dataset: { datasetId: parks, limit: 2, geometry: 'full' },
      summarize_dataset: { datasetId: parks, measures: [{ function: 'sum', attribute: 'area' }] },
      find_nearby: at,
      spatial_join: { datasetId: parks, toDatasetId: parks, distanceMeters: 1_000, limit: 1 },
      geocode: { text: 'park' },
      show_on_map: { datasetId: parks, bbox: [0, 0, 1, 1], where: { id: 1 } },
    }
    for (const { name, outputSchema } of tools) {
      const { isError, text, structuredContent } = await use(client, name, inputs[name] ?? {})
      assert.ok(!isError, `${name}: ${text}`)
      assert.ok(outputSchema, name)
      assert.ok(Object.keys(outputSchema.properties ?? {}).length > 0, name)
      assert.ok(Compile(outputSchema as never).Check(structuredContent), `${name}: ${text}`)
      assert.deepEqual(JSON.parse(text), structuredContent)
    }
  })

  const mistakes: [tool: string, input: object, message: RegExp][] = [
    ['query_dataset', { where: { nope: 1 } }, /^arguments\/where\/nope: /],
    ['query_dataset', { where: { $or: [{ id: { $gt: 'x' } }] } }, /^arguments\/where\/\$or\/0\/id\/\$gt: /],
    ['query_dataset', { where: { id: 1 }, bbox: [0, 9, 1, 2] }, /^arguments\/bbox: /],
    ['query_dataset', { near: { point: [999, 0], distanceMeters: 1 } }, /^arguments\/near\/point: /],
    ['query_dataset', { attributes: ['id', 'nope'] }, /^arguments\/attributes(\/1)?: .*nope/],
    ['query_dataset', { order: ['-nope'] }, /^arguments\/order(\/0)?: .*nope/],
    ['query_dataset', { parameters: { least: 'x' } }, /^arguments\/parameters\/least: /],
    ['query_dataset', { limit: 0 }, /^arguments\/limit: /],
    ['describe_dataset', { valuesOf: ['id', 'nope'] }, /^arguments\/valuesOf\/1: .*nope/],
    ['summarize_dataset', { measures: [{ function: 'sum', attribute: 'name' }] }, /^arguments\/measures(\/0)?: /],
    ['summarize_dataset', { measures: [{ function: 'count' }], groupBy: ['nope'] }, /^arguments\/groupBy(\/0)?: /],
    ['find_nearby', { point: [999, 0], distanceMeters: 1 }, /^arguments\/point: /],
    ['find_nearby', { point: [0, 0], distanceMeters: 1, where: { nope: 1 } }, /^arguments\/where\/nope: /],
  ]
  for (const [name, input, message] of mistakes) {
    test(`${name} tells a mistake in ${JSON.stringify(input)} by the place that the caller wrote`, async () => {
      const { isError, text } = await use(await connect('auto'), name, { datasetId: parks, ...input })
      assert.ok(isError)
      assert.match(text, message)
    })
  }

  test('spatial_join tells which of the two datasets an attribute is missing from', async () => {
    const client = await connect('auto')
    const join = { datasetId: parks, toDatasetId: parks, distanceMeters: 10 }
    for (const place of ['attributes', 'toAttributes']) {
      const { text } = await use(client, 'spatial_join', { ...join, [place]: ['nope'] })
      assert.match(text, new RegExp(`^arguments/${place}(/0)?: .*nope`))
    }
  })
})
