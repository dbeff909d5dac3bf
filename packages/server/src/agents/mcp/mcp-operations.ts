import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type Caller, denied, reachesId, scopeOf } from '../../api/access/acl.ts'
import { toolTokenPrefix } from '../../api/access/credentials.ts'
import { freeObject } from '../../api/http/input/bounded-schemas.ts'
import { type Operation, operationUsing } from '../../api/http/operation.ts'
import type { CallOperation } from './call-operation.ts'
import type { ToolServices } from './tool.ts'
import type { ToolGrant } from './tool-token.ts'

export type McpServices = {
  readonly about: { readonly version: { readonly tag: string } }
  estimates(
    ...parameters: [...Parameters<ToolServices['estimates']>, AbortSignal, Caller]
  ): ReturnType<ToolServices['estimates']>
  /** The operations that tools use, with the rights of this caller. */
  callAs(from: { request: FastifyRequest; signal: AbortSignal }, caller: Caller): CallOperation
  /** The grant of a tool token, while its invocation runs. */
  readToolGrant(token: string): Promise<ToolGrant | undefined>
}

const example = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

/** The datasets as tools for models, by the Model Context Protocol; without sessions, so any replica can answer. */
const rpcFailure = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()]),
  error: Type.Object({ code: Type.Integer(), message: Type.String() }),
})

export const mcpOperations: readonly Operation<McpServices>[] = [
  operationUsing<McpServices>()({
    id: 'mcp.call',
    audit: { none: 'Its tools only read.' },
    method: 'POST',
    path: '/api/v1/mcp',
    summary: 'Use datasets as tools (Model Context Protocol)',
    description:
      'Streamable HTTP without sessions. The tools only read, and reach what the key reaches; the bearer token of an invocation decides alone, with a key of its application or without one.',
    // The protocol wants Origin checked, lest a page that rebinds its name reaches a server by being near it. Here
    // nearness grants nothing, only a key in hand: so the key's allowedOrigins, checked with it, say which pages may.
    access: 'key',
    readToolToken: async (token, services) => (await services.readToolGrant(token))?.caller,
    // One message, not many: a thousand queries are a thousand requests.
    body: freeObject('bodyBytes', { examples: [example] }),
    success: { status: 200, description: 'A JSON-RPC answer', schema: Type.Unknown() },
    failures: [404],
    ownFailure: { statuses: [400, 404], schema: rpcFailure },
    async handle({ request, caller, signal, services: { about, estimates, callAs, readToolGrant } }, { body }) {
      const granted = await grantedCaller(request, caller, readToolGrant)
      const { respond } = await loadServer()
      const services = { estimates: queryableOnly((datasets) => estimates(datasets, signal, granted), granted) }
      const called = callAs({ request, signal }, granted)
      return respond({ request, signal }, body, called, { version: about.version.tag, ...services })
    },
  }),
]

/**
 * Loaded with the first message: the protocol's library takes as much memory as a tenth of the server, and most servers are never
 * asked. Part by part, with turns of the event loop between them: all at once they stopped others for 180 ms of CPU, now for 120.
 */
async function loadServer(): Promise<typeof import('./mcp-server.ts')> {
  if (server) return server
  await import('@modelcontextprotocol/server')
  await nextTurn()
  server = await import('./mcp-server.ts')
  await nextTurn()
  return server
}
let server: typeof import('./mcp-server.ts') | undefined

/** Row counts and extents are shown to those who may read the rows. */
function queryableOnly(estimates: ToolServices['estimates'], caller: Caller): ToolServices['estimates'] {
  const scope = scopeOf(caller, 'datasets', 'execute')
  return (datasets) => estimates(datasets.filter(({ id }) => reachesId(scope, id)))
}

/** A token belongs to one invocation of an agent of the worker's application. */
async function grantedCaller(
  request: FastifyRequest,
  caller: Caller,
  readGrant: McpServices['readToolGrant'],
): Promise<Caller> {
  const { authorization } = request.headers
  const [, token] = /^Bearer (\S+)$/i.exec(authorization ?? '') ?? []
  if (!token?.startsWith(toolTokenPrefix)) return caller
  const grant = await readGrant(token)
  const isSameApplication = caller.everyApplication || grant?.caller.applicationId === caller.applicationId
  if (!grant || !isSameApplication) throw denied('The tool token is not valid, or its invocation has ended.')
  return grant.caller
}
