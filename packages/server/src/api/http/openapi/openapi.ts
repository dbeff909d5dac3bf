import type { TObject, TSchema } from 'typebox'
import { limits } from '../../../kernel/limits/limits.ts'
import { keyHeaders, keyParameter } from '../../access/credentials.ts'
import { boundedBy, maxAddressText } from '../input/bounded-schemas.ts'
import type { DeclaredOperation } from '../operation.ts'
import { problemSchema, problemType } from '../problem.ts'
import { tagDescriptions } from './tag-descriptions.ts'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 document of these operations. It needs no running server. */
export function openApi(operations: readonly DeclaredOperation[], version: string): Json {
  const schemas: Json = { Problem: plain(problemSchema) }
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    paths[operation.path] ??= {}
    const path = paths[operation.path] as Record<string, Json>
    const method = operation.method.toLowerCase()
    const entry = describe(operation, schemas)
    path[method] = path[method] ? merge(path[method], entry) : entry
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Graticule',
      version,
      description: 'A multi-tenant back end for maps and data-driven web applications.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name, description: tagDescriptions[name] })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        headerApiKey: { type: 'apiKey', in: 'header', name: keyHeaders[0] },
        headerSvcApiKey: { type: 'apiKey', in: 'header', name: keyHeaders[1] },
        queryApiKey: { type: 'apiKey', in: 'query', name: keyParameter },
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token, or an API key' },
      },
      responses: Object.fromEntries(
        Object.entries(failures).map(([status, text]) => [`Problem${status}`, problem(text)]),
      ),
    },
  }
}

const failures: Record<number, string> = {
  400: 'The request is not valid',
  401: 'The key is missing, not valid, or does not grant this',
  404: 'Not found, or not visible to the key',
  405: 'The address has no such method',
  408: 'The body did not arrive in time',
  409: 'The change conflicts with what exists',
  412: 'The record has changed since the revision in If-Match',
  413: 'Too large',
  415: 'The body has the wrong content type',
  416: 'The range is outside of the file',
  426: 'The request is not a WebSocket upgrade',
  429: 'Too many requests at once; Retry-After says when to try again',
  500: 'An internal error',
  502: 'A source, another server or an agent that the answer needs failed',
  503: 'Temporarily unavailable; Retry-After says when to try again',
  504: 'The operation took longer than its timeout',
}

const problem = (description: string): Json => ({
  description,
  content: { [problemType]: { schema: { $ref: '#/components/schemas/Problem' } } },
})

const tagOf = ({ id }: DeclaredOperation): string => id.split('.', 1)[0] ?? id

function describe(operation: DeclaredOperation, schemas: Json): Json {
  const { id, summary, description, query, body, method, multipart, readsText = [] } = operation
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    ...(description && { description }),
    ...accessOf(operation),
    parameters: [...pathParameters(operation), ...queryParameters(query), ...conditions(operation)],
    ...(body && {
      requestBody: {
        required: true,
        content: {
          [method === 'PATCH' ? 'application/merge-patch+json' : 'application/json']: bodyOf(operation, body, schemas),
          ...(method === 'PATCH' && { 'application/json': bodyOf(operation, body, schemas) }),
          ...Object.fromEntries(
            readsText
              .filter((type) => !isJson(type))
              .map((type) => [type, { schema: { type: 'string', ...boundedBy('bodyBytes') } }]),
          ),
        },
      },
    }),
    ...(multipart && {
      requestBody: { required: true, content: { 'multipart/form-data': formOf(multipart, schemas) } },
    }),
    responses: responsesOf(operation, schemas),
  }
}

/** GeoJSON is sent as JSON too, and the same as either: a generator makes a type of each, or a program that cannot choose between them. */
const isJson = (mediaType: string): boolean => mediaType.endsWith('+json')

/** Both header names are accepted, the query parameter, and an access token: any one satisfies, unless a token must be. */
function accessOf({ access, bearer: isTokenNeeded }: DeclaredOperation): Json {
  if (access === 'public') return { security: [] }
  const token = { bearer: [] }
  const keys = [{ headerApiKey: [] }, { headerSvcApiKey: [] }, { queryApiKey: [] }]
  const security = [...keys.map((key) => (isTokenNeeded ? { ...key, ...token } : key)), token]
  if (access === 'key') return { security, 'x-access': 'any key' }
  const level = typeof access.level === 'function' ? 'execute or read' : access.level
  return { security, 'x-access': `${access.class} ${level}${access.master ? ', master keys only' : ''}` }
}

function pathParameters({ path }: DeclaredOperation): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', maxLength: maxAddressText },
  }))
}

function queryParameters(query: TObject | undefined): Json[] {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => {
    const { description, ...rest } = plain(schema)
    const style = rest.type === 'object' ? { style: 'deepObject', explode: true } : {}
    const list = rest.type === 'array' ? { style: 'form', explode: false } : {}
    const isRequired = query?.required?.includes(name) ?? false
    return {
      name,
      in: 'query',
      required: isRequired,
      ...(description ? { description } : {}),
      ...style,
      ...list,
      schema: rest,
    }
  })
}

function conditions({ success, failures = [] }: DeclaredOperation): Json[] {
  const header = (name: string) => ({
    name,
    in: 'header',
    required: false,
    schema: { type: 'string', maxLength: limits.headerBytes.value },
  })
  if (failures.includes(412)) return [header('If-Match')]
  return success.headers?.includes('ETag') && success.status === 200 ? [header('If-None-Match')] : []
}

/** Without problem+json for statuses that have no body. */
function otherResponse(status: number, ownFailure: DeclaredOperation['ownFailure']): Json {
  if (status === 204) return { description: 'There is nothing here' }
  if (status === 304) return { description: 'Not changed since If-None-Match' }
  if (!ownFailure?.statuses.includes(status)) return { $ref: `#/components/responses/Problem${status}` }
  const { description, content } = problem(failures[status] ?? '')
  return { description, content: { ...(content as Json), 'application/json': { schema: plain(ownFailure.schema) } } }
}

/**
 * A stream of events has no schema of the whole, which a client would wait for the end of. `x-item-schema` has that of an event,
 * as OpenAPI 3.2 has it in `itemSchema`.
 */
const isStream = (contentType: string | undefined): boolean => contentType === 'text/event-stream'

const binary = { type: 'string', contentEncoding: 'binary' }

function responsesOf(operation: DeclaredOperation, schemas: Json): Json {
  const { success, access, body, multipart, path, ownFailure, failures: own = [] } = operation
  const headers = Object.fromEntries((success.headers ?? []).map((name) => [name, { schema: { type: 'string' } }]))
  // Every operation refuses query parameters that it does not have.
  const statuses = new Set([...own, 400, 500, 503])
  if (access !== 'public') statuses.add(401)
  if (path.includes('{')) statuses.add(404)
  if (body || multipart) statuses.add(413).add(415)
  const succeeded = {
    description: success.description,
    ...(success.headers && { headers }),
    ...(success.schema && {
      content: {
        [success.contentType ?? 'application/json']: isStream(success.contentType)
          ? { 'x-item-schema': plain(success.schema) }
          : { schema: reference(success.schema, schemas) },
        ...Object.fromEntries((success.fileTypes ?? []).map((type) => [type, { schema: binary }])),
      },
    }),
  }
  return {
    [success.status]: succeeded,
    ...(success.otherStatus !== undefined && { [success.otherStatus]: succeeded }),
    ...(conditions(operation)[0]?.name === 'If-None-Match' && { 304: { description: 'Not changed since' } }),
    ...Object.fromEntries([...statuses].sort().map((status) => [status, otherResponse(status, ownFailure)])),
  }
}

/** The id of an operation as the beginning of a type's name: `datasets.insertRows` is DatasetsInsertRows. */
export const typeNameOf = (id: string): string =>
  id.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Under a name of its own, where it has no title: generators would give each media type of one body the same made-up name. */
function bodyOf({ id }: DeclaredOperation, body: TSchema, schemas: Json): Json {
  const { schema, ...example } = contentOf(body, schemas)
  if (Object.hasOwn(schema as Json, '$ref')) return { schema, ...example }
  const name = `${typeNameOf(id)}Body`
  schemas[name] ??= withoutNulls(oneOrMany(schema as Json))
  return { schema: { $ref: `#/components/schemas/${name}` }, ...example }
}

/**
 * Objects are sent as JSON text in a form, and numbers or texts as text: generators send either as a file. `x-json-schema` says what the JSON
 * holds, `x-text-of` what the text may stand for.
 */
function formOf(form: TSchema, schemas: Json): Json {
  const content = contentOf(form, schemas)
  const { $ref } = content.schema as { $ref: string }
  const { properties } = schemas[$ref.split('/').at(-1) ?? ''] as { properties: Record<string, Json> }
  for (const [name, { description, examples: _, ...schema }] of Object.entries(properties)) {
    const text = { type: 'string', ...boundedBy('bodyBytes'), description }
    if (schema.type === 'object')
      properties[name] = { ...text, contentMediaType: 'application/json', 'x-json-schema': schema }
    else if (schema.anyOf) properties[name] = { ...text, 'x-text-of': schema }
  }
  return content
}

/** Either an object or a list of such is of two types: generators make programs of a choice between them that no compiler takes. */
function oneOrMany({ anyOf, ...rest }: Json): Json {
  if (!Array.isArray(anyOf)) return rest
  const [one, many] = ['object', 'array'].map((type) => anyOf.find((part) => part.type === type))
  return one && many && anyOf.length === 2
    ? { ...one, ...many, ...rest, type: ['object', 'array'] }
    : { anyOf, ...rest }
}

/** Without fields that can only be null, which no generator has a type for: nobody sends them. */
function withoutNulls({ properties, ...rest }: Json): Json {
  if (!properties) return rest
  const sent = Object.entries(properties as Record<string, Json>).filter(([, { type }]) => type !== 'null')
  return { ...rest, properties: Object.fromEntries(sent) }
}

function contentOf(schema: TSchema, schemas: Json): Json {
  const [example] = ('examples' in schema ? schema.examples : []) as unknown[]
  return { schema: reference(schema, schemas), example }
}

/** Schemas with a title become components, so that generated clients have names for them. */
function reference(schema: TSchema, schemas: Json): Json {
  const { title, ...rest } = plain(schema)
  if (rest.type === 'array' && 'items' in rest) return { ...rest, items: reference(rest.items as TSchema, schemas) }
  if (Array.isArray(rest.anyOf)) return choice({ ...rest, anyOf: rest.anyOf.map((part) => reference(part, schemas)) })
  if (typeof title !== 'string') return rest
  schemas[title] ??= rest
  return { $ref: `#/components/schemas/${title}` }
}

/** Named records exclude each other: of `anyOf` a generator makes one record that demands the fields of all. */
function choice({ anyOf, ...rest }: Json & { anyOf: Json[] }): Json {
  return anyOf.every((part) => '$ref' in part) ? { ...rest, oneOf: anyOf } : { ...rest, anyOf }
}

/** Without TypeBox's own symbols. */
const plain = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema))

/** Two operations at one address, told apart by the form of the id, are one entry: either body, either answer. */
function merge(first: Json, second: Json): Json {
  const responses = { ...(second.responses as Json), ...(first.responses as Json) }
  const isOpen = { 'application/json': { schema: boundedBy('bodyBytes') } }
  const success = responses['200'] as Json
  return {
    ...first,
    summary: `${first.summary}; ${String(second.summary).toLowerCase()} for an application’s id`,
    ...(first.requestBody ? { requestBody: { required: true, content: isOpen } } : {}),
    responses: { ...responses, 200: { ...success, content: isOpen } },
  }
}
