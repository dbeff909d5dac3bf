// The OpenAPI document of /ogc: version 3.0, because the clients of these standards read no later one.
import type { TSchema } from 'typebox'
import { keyHeaders, keyParameter } from '../../api/access/credentials.ts'
import type { DeclaredOperation } from '../../api/http/operation.ts'
import { problemSchema, problemType } from '../../api/http/problem.ts'
import { headerParameters, parameters, pathParameters } from './api-parameters.ts'
import { mediaTypes } from './links.ts'

type Json = Record<string, unknown>

const problem = { $ref: '#/components/responses/Problem' }

/** `url` is the address of the landing page, without a slash at its end. */
export function apiDocument(operations: readonly DeclaredOperation[], url: string): Json {
  return {
    openapi: '3.0.3',
    info: {
      title: 'Graticule: OGC API',
      version: '1.0.0',
      description: 'The datasets of this server as features and tiles. The API for everything else is at /api/docs.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url }],
    tags: [{ name: 'ogc', description: 'Features and tiles by the standards of OGC API' }],
    paths: pathsOf(operations),
    components: {
      parameters: { ...parameters, ...pathParameters, ...headerParameters },
      responses: {
        Problem: {
          description: 'An error',
          content: { [problemType]: { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
      schemas: { Problem: plain(problemSchema) },
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: keyHeaders[0] },
        query: { type: 'apiKey', in: 'query', name: keyParameter },
        basic: { type: 'http', scheme: 'basic', description: 'The API key as password, any user name' },
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token, or an API key' },
      },
    },
  }
}

function pathsOf(operations: readonly DeclaredOperation[]): Json {
  const entries = Map.groupBy(operations, pathOf).entries()
  return Object.fromEntries(
    entries.map(([path, group]) => [
      path,
      Object.fromEntries(group.map((operation) => [operation.method.toLowerCase(), describe(operation)])),
    ]),
  )
}

/** Clients look for the paths of the standard: below the landing page, and with its names of parameters. */
const pathOf = ({ path }: DeclaredOperation): string =>
  path.replace(/^\/ogc/, '').replace('/collections/{id}', '/collections/{collectionId}') || '/'

const security = [{ header: [] }, { query: [] }, { basic: [] }, { bearer: [] }]

/** Resources differ in the forms that they have. */
function formParameter(query: DeclaredOperation['query']): Json {
  const forms: unknown = query && Reflect.get(query.properties.f ?? {}, 'enum')
  return { ...parameters.f, schema: { type: 'string', enum: forms } }
}

/** The headers that a request may have. */
const headersOf = ({ body, failures = [] }: DeclaredOperation): string[] => [
  ...(body ? ['Content-Crs'] : []),
  ...(failures.includes(412) ? ['If-Match'] : []),
]

/** The first of the media types that a body may have; all are JSON. */
const bodyOf = ({ body, readsText: [type = mediaTypes.json] = [] }: DeclaredOperation): Json =>
  body ? { requestBody: { required: true, content: { [type]: { schema: plain(body) } } } } : {}

/** Without what OpenAPI 3.0 does not know. */
function plain({ examples, ...schema }: TSchema & { examples?: readonly unknown[] }): Json {
  const { properties, ...rest } = JSON.parse(JSON.stringify(schema)) as Json & { properties?: Record<string, Json> }
  const members = Object.entries(properties ?? {}).map(([name, { const: only, ...member }]) => [
    name,
    only === undefined ? member : { ...member, enum: [only] },
  ])
  return { ...rest, properties: Object.fromEntries(members), ...(examples && { example: examples[0] }) }
}

/** Of an answer: its members are those that the standards name. */
function schemaOf(contentType: string): Json {
  if (/json/.test(contentType)) return { type: 'object' }
  return contentType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' }
}

const headerOf = (name: string): [string, Json] => [name, { schema: { type: 'string' } }]

function successOf({ success }: DeclaredOperation): Json {
  const { description, contentType = mediaTypes.json, headers = [], schema } = success
  return {
    description,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(headerOf)) }),
    ...(schema && { content: { [contentType]: { schema: schemaOf(contentType) } } }),
  }
}

function describe(operation: DeclaredOperation): Json {
  const { id, summary, description, access, success, query, method, failures = [] } = operation
  const inPath = [...pathOf(operation).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const names = [...inPath, ...Object.keys(query?.properties ?? {}), ...headersOf(operation)]
  const own = method === 'GET' ? [] : failures
  return {
    operationId: id,
    tags: ['ogc'],
    summary,
    ...(description && { description }),
    security: access === 'public' ? [] : security,
    parameters: names.map((name) =>
      name === 'f' ? formParameter(query) : { $ref: `#/components/parameters/${name}` },
    ),
    ...bodyOf(operation),
    responses: {
      [success.status]: successOf(operation),
      ...Object.fromEntries(own.map((status) => [status, problem])),
      400: problem,
      ...(access !== 'public' && { 401: problem }),
      ...(inPath.length > 0 && { 404: problem }),
      500: problem,
    },
  }
}
