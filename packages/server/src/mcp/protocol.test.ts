import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Tenant, type TestApp, testApp } from '../testing/harness.ts'

let app: TestApp
let url: string
let own: Tenant
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
  const { isError, content } = await client.callTool({ name, arguments: { ...input } })
  const [first] = content
  return { isError: isError === true, text: first?.type === 'text' ? first.text : '' }
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
      const { text } = await use(client, 'list_datasets', {})
      const { datasets }: { datasets: { name: string }[] } = JSON.parse(text)
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
