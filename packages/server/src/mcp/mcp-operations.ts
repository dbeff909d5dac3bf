import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type Caller, denied, scopeOf } from '../access/acl.ts'
import { toolTokenPrefix } from '../access/credentials.ts'
import { type Operation, operation } from '../http/operation.ts'
import { createCaller } from './call-operation.ts'
import { columnsOperation } from './dataset.ts'
import type { Services } from './tool.ts'
import type { ToolGrant } from './tool-token.ts'

type McpDependencies = {
  estimates(...given: [...Parameters<Services['estimates']>, AbortSignal]): ReturnType<Services['estimates']>
  /** Where the tools find the operations of datasets. */
  operations: readonly Operation[]
  version: () => string
  /** What a bearer token of an invocation grants, as long as the invocation runs. */
  readToken(token: string): Promise<ToolGrant | undefined>
}

const example = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

/** The datasets as tools for models, by the Model Context Protocol; without sessions, so any replica can answer. */
const rpcFailure = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()]),
  error: Type.Object({ code: Type.Integer(), message: Type.String() }),
})

export function mcpOperations(dependencies: McpDependencies): Operation[] {
  const { estimates } = dependencies
  const callerFor = createCaller([...dependencies.operations, ...columnsOperation(dependencies.operations)])
  return [
    operation({
      id: 'mcp.call',
      method: 'POST',
      path: '/api/v1/mcp',
      summary: 'Use datasets as tools (Model Context Protocol)',
      description:
        'Streamable HTTP without sessions. The tools only read, and reach what the key reaches; the bearer token of an invocation decides alone, with a key of its application or without one.',
      // The protocol wants Origin checked, lest a page that rebinds its name reaches a server by being near it. Here
      // nearness grants nothing, only a key in hand: so the key's allowedOrigins, checked with it, say which pages may.
      access: 'key',
      readToolToken: async (token) => (await dependencies.readToken(token))?.caller,
      // One message, not many: a thousand queries are a thousand requests.
      body: Type.Object({}, { additionalProperties: true, examples: [example] }),
      success: { status: 200, description: 'A JSON-RPC answer', schema: Type.Unknown() },
      failures: [404],
      ownFailure: rpcFailure,
      async handle({ request, caller, signal }, { body }) {
        const granted = await grantedCaller(request, caller, dependencies)
        // The protocol's library takes as much memory as a tenth of the server, and most servers are never asked.
        const { respond } = await import('./mcp-server.ts')
        const services = { estimates: queryableOnly((datasets) => estimates(datasets, signal), granted) }
        const called = callerFor({ request, signal }, granted)
        return respond({ request, signal }, body, called, { version: dependencies.version(), ...services })
      },
    }),
  ]
}

/** How many rows there are and where is told to those who may read them. */
function queryableOnly(estimates: Services['estimates'], caller: Caller): Services['estimates'] {
  const ids = scopeOf(caller, 'datasets', 'execute')?.ids ?? []
  return (datasets) => estimates(datasets.filter(({ id }) => ids === 'any' || ids.includes(id)))
}

/** A token belongs to one invocation of an agent of the worker's application. */
async function grantedCaller(request: FastifyRequest, caller: Caller, { readToken }: McpDependencies): Promise<Caller> {
  const { authorization } = request.headers
  const [, token] = /^Bearer (\S+)$/i.exec(authorization ?? '') ?? []
  if (!token?.startsWith(toolTokenPrefix)) return caller
  const grant = await readToken(token)
  const isOwn = caller.everyApplication || grant?.caller.applicationId === caller.applicationId
  if (!grant || !isOwn) throw denied('The tool token is not valid, or its invocation has ended.')
  return grant.caller
}
