import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { FastifyRequest } from 'fastify'
import { ApiError, invalid } from '../errors.ts'
import type { Answer } from '../http/operation.ts'
import type { CallOperation } from './call-operation.ts'
import { queryDataset, summarizeDataset } from './dataset-tools.ts'
import { describeDataset } from './describe-dataset.ts'
import { geocode } from './geocode.ts'
import { listDatasets } from './list-datasets.ts'
import { showOnMap } from './show-on-map.ts'
import { findNearby, spatialJoin } from './spatial-join.ts'
import type { Services, Tool } from './tool.ts'

/** Always in this order: whoever shows them to a model can count on its cache. */
const tools: readonly Tool[] = [
  ...[listDatasets, describeDataset, queryDataset, summarizeDataset],
  ...[findNearby, spatialJoin, geocode, showOnMap],
]
const maxResultLength = 64 * 1024

/** Answers one message of the protocol. */
export async function respond(
  { request, signal }: { request: FastifyRequest; signal: AbortSignal },
  body: unknown,
  call: CallOperation,
  { version, ...services }: Services & { version: string },
): Promise<Answer> {
  const server = createMcpServer({ request, signal }, call, version, services)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    const asked = new Request('http://localhost/api/v1/mcp', { method: 'POST', headers: transportHeaders(request) })
    const response = await transport.handleRequest(asked, { parsedBody: body })
    const text = await response.text()
    // A tool that ended because its caller left or was revoked has nothing to say.
    signal.throwIfAborted()
    if (!response.ok) throw refusal(text)
    return text === '' ? { status: response.status } : { status: response.status, json: text }
  } finally {
    await server.close()
  }
}

/** Programs that ask for anything get JSON, which is all there is. */
function transportHeaders({ headers }: FastifyRequest): Record<string, string> {
  const { 'mcp-protocol-version': version } = headers
  return {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    ...(typeof version === 'string' && { 'mcp-protocol-version': version }),
  }
}

function refusal(text: string): ApiError {
  const { error } = JSON.parse(text) as { error?: { message?: string } }
  return invalid('body', error?.message ?? 'is not a message of the Model Context Protocol')
}

function createMcpServer(
  { request, signal }: { request: FastifyRequest; signal: AbortSignal },
  call: CallOperation,
  version: string,
  services: Services,
): Server {
  const server = new Server({ name: 'graticule', version }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, title, description, input }) => ({
      name,
      title,
      description,
      inputSchema: JSON.parse(JSON.stringify(input)),
      annotations: { readOnlyHint: true, openWorldHint: false },
    })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const chosen = tools.find(({ name }) => name === params.name)
    if (!chosen) return failed(`There is no tool ${params.name.slice(0, 80)}.`)
    try {
      const result = await chosen.run(call, params.arguments, services)
      const text = JSON.stringify(result)
      return text.length > maxResultLength ? failed('The result is too long: ask for less.') : succeeded(text)
    } catch (error) {
      if (signal.aborted) return failed('The request has ended.')
      if (error instanceof ApiError) return failed(error.message)
      request.log.error({ requestId: request.id, err: error }, 'tool failed')
      return failed('Something went wrong on our side.')
    }
  })
  return server
}

const succeeded = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })
const failed = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] })
