import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { Tools } from '../src/protocol.ts'

type Called = { name: string; arguments: unknown }
type Result = { text: string; isError?: boolean; value?: object }

/** A platform's tools for one test: what was called, and with which token. */
export async function startTools(t: TestContext, answer: (called: Called) => Result | Promise<Result>) {
  const calls: Called[] = []
  const tokens = new Set<string | undefined>()
  const server = createServer(async (request, response) => {
    tokens.add(request.headers.authorization)
    const { id, method, params } = (await json(request)) as { id: number; method: string; params: Called }
    if (method === 'tools/call') calls.push(params)
    const result = method === 'tools/list' ? { tools: [tool] } : resultOf(await answer(params))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const mcpUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/mcp`
  const tools: Tools = { mcpUrl, token: 'tools.t', expiresAt: new Date(Date.now() + 60_000).toISOString() }
  return { tools, calls, tokens }
}

const tool = {
  name: 'list_datasets',
  description: 'Lists datasets.',
  inputSchema: { type: 'object', properties: { search: { type: 'string' } } },
}

const resultOf = ({ text, isError, value }: Result) => ({
  content: [{ type: 'text', text }],
  ...(isError && { isError }),
  ...(value && { structuredContent: value }),
})
