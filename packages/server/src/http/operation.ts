import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import { type AclClass, type AclLevel, authorize, type Caller, denied, type Scope } from '../access/acl.ts'
import { type Authority, authenticate, type ReadToolToken } from '../access/authenticate.ts'
import type { Bearer } from '../access/bearers.ts'
import { isRevoked } from '../access/revocation.ts'
import { isForeignKeyViolation } from '../db/database-error.ts'
import { ApiError, FaultCollector, invalid } from '../errors.ts'
import { type Body, codingOf, heldTag, mayCompress, sendCompressed } from './compressed-answer.ts'
import { parseQueryString, type QueryTree, queryOf, readQuery, refuseUnknown } from './query-string.ts'
import { openRequestSignal, type RequestSignal } from './request-signal.ts'
import { validator } from './validate.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The address of a request, before its body is read. */
export type Address = { params: Readonly<Record<string, string>>; query: QueryTree }

/** Who may call: anybody, any key, or a key whose ACL grants the level on the class and on the id in the address. */
export type Access =
  | 'public'
  | 'key'
  | {
      class: AclClass
      /** A function where one address has two meanings. */
      level: AclLevel | ((address: Address) => AclLevel)
      /** Only master keys, whatever the ACL says. */
      master?: boolean
      /** The id that the ACL is asked for; the path's `id` unless said otherwise. */
      id?: (address: Address, caller: Caller) => string | undefined
    }

type ContextOf<A extends Access> = {
  request: FastifyRequest
  tree: QueryTree
  /**
   * Aborted when the client leaves or its credential is revoked, also when it was before the handler began. Whoever waits
   * for anything but the platform's own rows passes it on. It is made when it is first read, so read it late.
   */
  readonly signal: AbortSignal
} & (A extends 'public' ? object : A extends 'key' ? { caller: Caller } : { caller: Caller; scope: Scope })

/**
 * What the client gets. A body is sent as JSON unless it is a stream or bytes; `json` is JSON already. `isKept` says that
 * the body is the same object in every such answer.
 */
export type Answer = {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  json?: string
  isKept?: boolean
}

type Declaration<A extends Access, Q extends TObject, B extends TSchema> = {
  /** `styles.list`: the name in OpenAPI and in the client. */
  id: string
  method: Method
  /** `/api/v1/styles/{id}` */
  path: string
  /** Only addresses whose `id` looks like this (a regular expression); another operation may have the rest. */
  idPattern?: string
  summary: string
  description?: string
  access: A
  query?: Q
  /** A record can have parameters of its own besides; the handler refuses those that neither has. */
  ownParameters?: boolean
  body?: B
  bodyLimit?: number
  /** The form that is sent instead of a JSON body; the operation itself reads it from the request. */
  multipart?: TObject
  /** The property of the body whose keys are columns of somebody's data, which may have any name. */
  columnsIn?: string
  /** Texts in the body that cannot be stored are repaired, not refused: somebody typed or pasted them. */
  repairsText?: boolean
  /** Needs an access token too: the operation is about the user who asks. */
  bearer?: boolean
  /** Admits the tool token of an invocation in place of a key. */
  readToolToken?: ReadToolToken
  /** The path holds a credential: it is kept out of the log. */
  secretPath?: boolean
  /** The successful answer. */
  success: { status: number; description: string; schema?: TSchema; contentType?: string; headers?: readonly string[] }
  /** Statuses beyond those that every operation can answer. */
  failures?: readonly number[]
  /** What a 400 or 404 may be instead of a problem, in JSON: an error of a protocol inside of HTTP. */
  ownFailure?: TSchema
  handle(
    context: ContextOf<A>,
    input: { params: Readonly<Record<string, string>>; query: Static<Q>; body: Static<B> },
  ): Promise<Answer>
}

/** An endpoint as data: routes, checks, OpenAPI and the contract tests all read it. */
export type Operation = Declaration<Access, TObject, TSchema>

/** Gives `handle` the types of what the declaration promises. */
export function operation<const A extends Access, Q extends TObject, B extends TSchema>(
  declaration: Declaration<A, Q, B>,
): Operation {
  return declaration as unknown as Operation
}

/** What a route says of itself; those that only refuse have no operation. */
export type RouteConfig = { readonly operation?: Operation }

type Admitted = { caller?: Caller; scope?: Scope; tree: QueryTree; opened?: RequestSignal }

/** Where a request keeps what it was admitted with. */
export const admission = 'admission'

/** The life of a request: authenticate → authorize → read the input → handle → answer. */
export function mount(app: FastifyInstance, operation: Operation, authority: Authority): void {
  const readBody = operation.body && validator(operation.body, 'body')
  const readInput = queryReader(operation)
  const isCompressed = mayCompress(operation)

  app.route({
    method: operation.method,
    url: routeOf(operation),
    bodyLimit: operation.bodyLimit ?? (operation.access === 'public' ? publicBodyLimit(app) : undefined),
    config: { operation } satisfies RouteConfig,
    // Before the body is read: whoever may not call cannot make the server work.
    async onRequest(request) {
      request.setDecorator<Admitted>(admission, await admitRequest(operation, request, authority))
    },
    async handler(request, reply) {
      const admitted = request.getDecorator<Admitted>(admission)
      const { tree } = admitted
      const faults = new FaultCollector()
      const query = readInput(tree, faults)
      if (operation.multipart && !isForm(request)) throw notForm()
      const body = readBody && faults.attempt(() => readBody(given(request.body)))
      faults.finish()
      const params = request.params as Record<string, string>
      const context = new Context(request, admitted, authority) as ContextOf<Access>
      try {
        return send(reply, await operation.handle(context, { params, query, body }), operation, isCompressed)
      } catch (error) {
        throw await explained(error, admitted, authority)
      }
    },
  })
}

const noParameters = { properties: {} }

function queryReader(operation: Operation): (tree: QueryTree, faults: FaultCollector) => Record<string, unknown> {
  const { query, ownParameters } = operation
  const validate = query && validator(query, 'query')
  return (tree, faults) => {
    if (!ownParameters) faults.attempt(() => refuseUnknown(tree, query ?? noParameters))
    if (!(query && validate)) return {}
    const values = readQuery(query, tree, faults)
    return faults.attempt(() => validate(values)) ?? {}
  }
}

function given(body: unknown): unknown {
  if (body === undefined) throw invalid('body', 'is required, as JSON')
  return body
}

/** What a handler is given. A class, because a getter in an object literal costs every request two microseconds. */
class Context {
  readonly request: FastifyRequest
  readonly tree: QueryTree
  readonly caller: Caller | undefined
  readonly scope: Scope | undefined
  readonly #admitted: Admitted
  readonly #authority: Authority

  constructor(request: FastifyRequest, admitted: Admitted, authority: Authority) {
    this.request = request
    this.tree = admitted.tree
    this.caller = admitted.caller
    this.scope = admitted.scope
    this.#admitted = admitted
    this.#authority = authority
  }

  get signal(): AbortSignal {
    const { caller } = this
    this.#admitted.opened ??= openRequestSignal(
      this.request.raw.socket,
      caller && ((end) => this.#authority.revocation.watch(caller, end)),
    )
    return this.#admitted.opened.signal
  }
}

/** The request is answered: the connection may serve the next one. */
export const releaseSignal = (request: FastifyRequest): void =>
  request.getDecorator<Admitted | null>(admission)?.opened?.release()

/**
 * What fails because the caller was revoked meanwhile, such as a query of an application whose role is gone, is no fault
 * of ours. That the database cannot be reached, or takes too long, is no sign of it and not worth asking it once more.
 */
async function explained(error: unknown, { caller, opened }: Admitted, { revocation }: Authority): Promise<unknown> {
  if (opened?.signal.aborted) return opened.signal.reason
  if (!caller || !mayBeRevoked(error)) return error
  return (await revocation.check(caller).catch(() => undefined)) ?? error
}

/** A missing parent may be the application itself, whatever the client was told of it. */
const mayBeRevoked = (error: unknown): boolean =>
  !(error instanceof ApiError) ||
  error.code === 'internal' ||
  error.code === 'upstream_failed' ||
  isForeignKeyViolation(error.cause)

/** Whoever has no key yet has little to say: a name, a password, a token. */
const publicBodyLimit = ({ initialConfig }: FastifyInstance): number =>
  Math.min(16_384, initialConfig.bodyLimit ?? Number.POSITIVE_INFINITY)

const isForm = ({ headers }: FastifyRequest): boolean =>
  /^multipart\/form-data(;|$)/i.test(headers['content-type'] ?? '')

const notForm = (): ApiError => new ApiError('unsupported_media_type', 'Send the body as multipart/form-data.')

/** The path in the router's notation. */
export function routeOf({ path, idPattern }: Pick<Operation, 'path' | 'idPattern'>): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => (name === 'id' && idPattern ? `:id(${idPattern})` : `:${name}`))
}

/** The user who asks, or 401. */
export function bearerOf({ bearer }: Caller): Bearer {
  if (!bearer) throw denied('An access token is required: send it as Authorization: Bearer TOKEN.')
  return bearer
}

async function admitRequest(operation: Operation, request: FastifyRequest, authority: Authority): Promise<Admitted> {
  const tree = parseQueryString(queryOf(request.raw.url ?? ''))
  if (operation.access === 'public') return { tree }
  const credentials = { rawHeaders: request.raw.rawHeaders, query: tree }
  const caller = await authenticate(credentials, authority, operation.readToolToken)
  const scope = admit(operation, caller, { params: request.params as Record<string, string>, query: tree })
  return scope ? { caller, tree, scope } : { caller, tree }
}

/**
 * Everything that an operation demands of a caller, or 401: an access token, a master key, and the ACL for class, level
 * and id. The one way in, for requests and for the tools of models. The scope, where the operation has one.
 */
export function admit(
  { access, bearer }: Pick<Operation, 'access' | 'bearer'>,
  caller: Caller,
  address: Address,
): Scope | undefined {
  if (bearer) bearerOf(caller)
  if (typeof access !== 'object') return undefined
  const level = typeof access.level === 'function' ? access.level(address) : access.level
  const id = access.id ? access.id(address, caller) : address.params.id
  return authorize(caller, { ...access, level }, id)
}

function send(
  reply: FastifyReply,
  answer: Answer,
  { access, success }: Operation,
  isCompressed: boolean,
): FastifyReply | Promise<FastifyReply> {
  if (access !== 'public') {
    reply.header('cache-control', 'private, no-cache')
    reply.header('vary', 'x-api-key, x-svc-api-key, authorization, authentication')
  }
  reply.code(answer.status ?? success.status)
  for (const [name, value] of Object.entries(answer.headers ?? {})) reply.header(name, value)
  if (answer.status === 304 && answer.headers?.etag) reply.header('etag', heldTag(reply, answer.headers.etag))
  const body = reply.request.method === 'HEAD' ? withoutRows(bodyOf(reply, answer)) : bodyOf(reply, answer)
  if (body === undefined) return reply.send()
  const coding = isCompressed ? codingOf(reply, body) : 'identity'
  if (body instanceof Readable) cutWhenRevoked(reply, body)
  return coding === 'identity' ? reply.send(body) : sendCompressed(reply, body, coding, answer.isKept)
}

/** The body as it is sent; what is JSON says so. */
function bodyOf(reply: FastifyReply, { body, json }: Answer): Body | undefined {
  if (json === undefined && (body === undefined || isRaw(body))) return body
  reply.type(jsonType)
  return json ?? JSON.stringify(body)
}

/** HEAD has the headers of a stream, and nothing is read for it. */
function withoutRows(body: Body | undefined): Body | undefined {
  if (!(body instanceof Readable)) return body
  body.destroy()
  return Readable.from([], { objectMode: false })
}

/** With a reset: what waits in the system's buffers would still go to a reader who may no longer read it. */
function cutWhenRevoked({ raw, request }: FastifyReply, body: Readable): void {
  const { socket } = request.raw
  body.once('error', (error) => {
    if (isRevoked(error) && raw.headersSent && socket instanceof Socket) socket.resetAndDestroy()
  })
}

const jsonType = 'application/json; charset=utf-8'

const isRaw = (body: unknown): body is Uint8Array | Readable => body instanceof Uint8Array || body instanceof Readable
