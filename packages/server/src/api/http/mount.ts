/** The life of a request: authenticate → authorize → read the input → handle → audit → answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest, onResponseHookHandler } from 'fastify'
import { whenReady } from '../../kernel/concurrency/when-ready.ts'
import { isForeignKeyViolation } from '../../kernel/db/database-error.ts'
import { ApiError, FaultCollector, invalid } from '../../kernel/errors.ts'
import { authorize, bearerOf, type Caller, type Scope, withTrail } from '../access/acl.ts'
import type { Trail } from '../access/audit-trail.ts'
import { type Authority, authenticate } from '../access/authenticate.ts'
import { isUuid } from '../access/credentials.ts'
import type { CommonHeaders } from './answers/common-headers.ts'
import { answerSender } from './answers/send-answer.ts'
import { type AuditLog, identify, isAudited, trailOf } from './audit-log.ts'
import { noQuery, parseQueryString, type QueryTree, queryOf, readQuery, refuseUnknown } from './input/query-string.ts'
import { validator } from './input/validate.ts'
import type { Access, ContextOf, DeclaredOperation, Operation, RequestTarget } from './operation.ts'
import { openRequestSignal, type RequestSignal } from './request-signal.ts'

/** The config of a route; routes that only refuse have no operation. */
export type RouteConfig = { readonly operation?: DeclaredOperation }

type Admitted = {
  caller?: Caller
  scope?: Scope | undefined
  tree: QueryTree
  opened?: RequestSignal
  trail?: Trail | undefined
}

/** The property of a request that holds its caller and scope. */
export const admission = 'admission'

/** What the routes of a server have in common. */
export type MountContext<S> = {
  readonly authority: Authority
  readonly services: S
  readonly commonHeaders: CommonHeaders
  readonly audit?: AuditLog | undefined
}

/**
 * Makes the route of an operation. Nothing in it makes a promise of its own, so an answer from memory, such as a tile from the
 * cache, is sent in the same turn in which its request was read.
 */
export function mount<S>(app: FastifyInstance, operation: Operation<S>, mountContext: MountContext<S>): void {
  const { authority, services } = mountContext
  const audit = isAudited(operation) ? mountContext.audit : undefined
  const readBody = operation.body && !operation.readsText && validator(operation.body, 'body')
  const readInput = queryReader(operation)
  const sendAnswer = answerSender(operation, mountContext.commonHeaders)
  const paramsOf = paramsReader(operation)
  const beforeBody = bodyGuard(operation, mountContext)

  const bodyLimit = operation.bodyLimit ?? (operation.access === 'public' ? publicBodyLimit(app) : undefined)
  app.route({
    method: operation.method,
    url: routeOf(operation),
    ...(bodyLimit !== undefined && { bodyLimit }),
    config: { operation } satisfies RouteConfig,
    // Before the body is read, so that callers without access cost little.
    onRequest(request, reply, done) {
      const trail = audit && trailOf(operation, request)
      const admitted = admitRequest(operation, { request, response: reply.raw }, authority, services, trail)
      const checked = beforeBody ? Promise.resolve(admitted).then(() => beforeBody(request)) : admitted
      if (checked instanceof Promise) return checked
      done()
    },
    handler(request, reply) {
      const admitted = request.getDecorator<Admitted>(admission)
      const { tree, trail } = admitted
      const faults = new FaultCollector()
      const query = readInput(tree, faults)
      if (operation.multipart && !isForm(request)) throw notForm()
      const body = readBody && faults.attempt(() => readBody(rawBody(request.body)))
      const params = paramsOf(request)
      const context = new Context(request, admitted, authority, services) as ContextOf<Access, S>
      if (faults.size > 0 && operation.addFaults)
        return operation.addFaults(context, { params, body: request.body }, faults).then(() => faults.finish())
      faults.finish()
      if (trail && operation.access === 'public') noteApplication(trail, body)
      const fail = async (error: unknown): Promise<never> => {
        throw await explained(error, admitted, authority)
      }
      try {
        const sent = whenReady(operation.handle(context, { params, query, body }), (answer) => {
          if (!trail || !audit) return sendAnswer(reply, answer)
          return audit.finish(trail).then(() => sendAnswer(reply, answer))
        })
        return sent instanceof Promise ? sent.catch(fail) : sent
      } catch (error) {
        return fail(error)
      }
    },
    ...(audit && { onResponse: refusalNoter(audit) }),
  })
}

/** What the operation checks before the body is read. */
function bodyGuard<S>(
  { beforeBody }: Operation<S>,
  { authority, services }: MountContext<S>,
): ((request: FastifyRequest) => Promise<void>) | undefined {
  if (!beforeBody) return undefined
  return async (request) => {
    const admitted = request.getDecorator<Admitted>(admission)
    const context = new Context(request, admitted, authority, services) as ContextOf<Access, S>
    try {
      await beforeBody(context, request.params as Record<string, string>)
    } catch (error) {
      throw await explained(error, admitted, authority)
    }
  }
}

/** Whatever refused the request, an ACL, a schema, a handler or a limit, its status tells. */
const refusalNoter =
  (audit: AuditLog): onResponseHookHandler =>
  (request, { statusCode }, done) => {
    const { trail } = request.getDecorator<Admitted>(admission)
    if (trail && statusCode >= 400) audit.note(trail, statusCode)
    done()
  }

/** Without a key, the body says which application is meant. */
function noteApplication(trail: Trail, body: unknown): void {
  const { applicationId } = (body ?? {}) as { applicationId?: unknown }
  if (typeof applicationId === 'string' && isUuid(applicationId)) trail.applicationId = applicationId.toLowerCase()
}

/** The router calls the rest of a path `*`; handlers get it by its name. */
function paramsReader({ path, isRestOfPath }: DeclaredOperation): (request: FastifyRequest) => Record<string, string> {
  const [, rest] = (isRestOfPath && /\{(\w+)\}$/.exec(path)) || []
  if (rest === undefined) return ({ params }) => params as Record<string, string>
  return ({ params }) => {
    const { '*': value = '', ...others } = params as Record<string, string>
    return { ...others, [rest]: value }
  }
}

const noParameters = { properties: {} }

function queryReader(
  operation: DeclaredOperation,
): (tree: QueryTree, faults: FaultCollector) => Record<string, unknown> {
  const { query, ownParameters } = operation
  const validate = query && validator(query, 'query')
  const mayBeEmpty = !query?.required?.length
  return (tree, faults) => {
    if (tree === noQuery && mayBeEmpty) return {}
    if (!ownParameters) faults.attempt(() => refuseUnknown(tree, query ?? noParameters))
    if (!(query && validate)) return {}
    const values = readQuery(query, tree, faults)
    return faults.attempt(() => validate(values)) ?? {}
  }
}

function rawBody(body: unknown): unknown {
  if (body === undefined) throw invalid('body', 'is required, as JSON')
  return body
}

/** The context of a handler. A class, because a getter in an object literal costs every request two microseconds. */
class Context<S> {
  readonly services: S
  readonly request: FastifyRequest
  readonly tree: QueryTree
  readonly caller: Caller | undefined
  readonly scope: Scope | undefined
  readonly trail: Trail | undefined
  readonly #admitted: Admitted
  readonly #authority: Authority

  constructor(request: FastifyRequest, admitted: Admitted, authority: Authority, services: S) {
    this.services = services
    this.request = request
    this.tree = admitted.tree
    this.caller = admitted.caller
    this.scope = admitted.scope
    this.trail = admitted.trail
    this.#admitted = admitted
    this.#authority = authority
  }

  get signal(): AbortSignal {
    this.#admitted.opened ??= openCallerSignal(this.request.raw.socket, this.caller, this.#authority)
    return this.#admitted.opened.signal
  }
}

/** Requests that came here after something quicker was tried: the limits of rates have them. */
export const countedAlready = new WeakSet<IncomingMessage>()

const tileWeight = 0.2

export const weightOf = ({ weight, isTile }: Pick<DeclaredOperation, 'weight' | 'isTile'>): number =>
  weight ?? (isTile ? tileWeight : 1)

/** Nothing for requests that were refused before a caller was known, and for public operations. */
export const callerOf = (request: FastifyRequest): Caller | undefined =>
  request.getDecorator<Admitted | null>(admission)?.caller

/** Aborted when the client disconnects or the caller's credential is revoked. */
const openCallerSignal = (
  socket: Socket,
  caller: Caller | undefined,
  { revocation }: Pick<Authority, 'revocation'>,
): RequestSignal => openRequestSignal(socket, caller && ((end) => revocation.watch(caller, end)))

/** The request is answered: removes its listeners from the connection. */
export const releaseSignal = (request: FastifyRequest): void =>
  request.getDecorator<Admitted | null>(admission)?.opened?.release()

/**
 * A request that fails because its caller was revoked meanwhile, such as a query of an application whose role is gone, is
 * answered 401 and not 500. A database that is unreachable or slow is no sign of that, and is not asked once more.
 */
async function explained(error: unknown, { caller, opened }: Admitted, { revocation }: Authority): Promise<unknown> {
  if (opened?.signal.aborted) return opened.signal.reason
  if (!caller || !mayBeRevoked(error)) return error
  return (await revocation.check(caller).catch(() => undefined)) ?? error
}

/** A foreign key violation may mean that the application itself was deleted. */
const mayBeRevoked = (error: unknown): boolean =>
  !(error instanceof ApiError) ||
  error.code === 'internal' ||
  error.code === 'upstream_failed' ||
  isForeignKeyViolation(error.cause)

/** Small: without a key, bodies hold only a name, a password or a token. */
const publicBodyLimit = ({ initialConfig }: FastifyInstance): number =>
  Math.min(16_384, initialConfig.bodyLimit ?? Number.POSITIVE_INFINITY)

const isForm = ({ headers }: FastifyRequest): boolean =>
  /^multipart\/form-data(;|$)/i.test(headers['content-type'] ?? '')

const notForm = (): ApiError => new ApiError('unsupported_media_type', 'Send the body as multipart/form-data.')

/** The path in the router's notation. */
export function routeOf({
  path,
  idPattern,
  isRestOfPath,
}: Pick<DeclaredOperation, 'path' | 'idPattern' | 'isRestOfPath'>): string {
  if (isRestOfPath) return path.replace(/\{\w+\}$/, '*')
  return path.replace(/\{(\w+)\}/g, (_, name) => (name === 'id' && idPattern ? `:id(${idPattern})` : `:${name}`))
}

/** Keeps caller and scope with the request, or throws. */
function admitRequest<S>(
  operation: Operation<S>,
  { request, response }: { request: FastifyRequest; response: ServerResponse },
  authority: Authority,
  services: S,
  trail: Trail | undefined,
): void | Promise<void> {
  // Kept before the ACL is asked, so that a refused request still counts as one of its application.
  const keep = (one: Admitted): void => request.setDecorator<Admitted>(admission, one)
  if (trail) keep({ tree: noQuery, trail })
  const tree = parseQueryString(queryOf(request.raw.url ?? ''))
  if (operation.access === 'public') return keep({ tree, trail })
  const credentials = { rawHeaders: request.raw.rawHeaders, query: tree }
  const { readToolToken } = operation
  const authenticated = authenticate(
    credentials,
    authority,
    readToolToken && ((token) => readToolToken(token, services)),
  )
  return whenReady(authenticated, (caller) => {
    const admitted: Admitted = { caller, tree, scope: undefined, trail }
    keep(admitted)
    if (!countedAlready.has(request.raw)) authority.limitRate?.(caller, weightOf(operation))
    authority.holdConnection?.(caller, request.raw.socket, response)
    authority.noteRequest?.(caller)
    if (trail) identify(trail, caller)
    const scope = admit(operation, caller, { params: request.params as Record<string, string>, query: tree })
    admitted.scope = scope && trail ? withTrail(scope, trail) : scope
  })
}

/**
 * Authorization: everything that an operation demands of a caller, or 401: an access token, a master key, and the ACL for
 * class, level and id. Requests and the tools of models both pass through here. Returns the scope, if there is one.
 */
export function admit(
  { access, bearer }: Pick<DeclaredOperation, 'access' | 'bearer'>,
  caller: Caller,
  address: RequestTarget,
): Scope | undefined {
  if (bearer) bearerOf(caller)
  if (typeof access !== 'object') return undefined
  const level = typeof access.level === 'function' ? access.level(address) : access.level
  const id = access.id ? access.id(address, caller) : address.params.id
  return authorize(caller, { ...access, level }, id)
}
