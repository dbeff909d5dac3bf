import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { queueForLoop } from '../../kernel/concurrency/event-loop-queue.ts'
import { ApiError } from '../../kernel/errors.ts'
import { report } from '../../kernel/events.ts'
import { bodyBudget } from '../../kernel/json/json-budget.ts'
import type { JsonScanner } from '../../kernel/json/json-scanner.ts'
import { limits, overLimit } from '../../kernel/limits/limits.ts'
import type { Caller } from '../access/acl.ts'
import type { Authority } from '../access/authenticate.ts'
import { type CommonHeaders, createCommonHeaders, methods, preflightHeaders } from './answers/common-headers.ts'
import { sentBytes } from './answers/sent-bytes.ts'
import type { AuditLog } from './audit-log.ts'
import { answerImmediately } from './immediate-answers.ts'
import { forgetDeadline, setDeadline } from './input/body-deadline.ts'
import { parseJsonBody } from './input/json-body.ts'
import { pathOf } from './input/query-string.ts'
import { readBody } from './input/read-body.ts'
import { admission, callerOf, mount, type RouteConfig, releaseSignal, routeOf } from './mount.ts'
import type { DeclaredOperation, Operation } from './operation.ts'
import { problemAnswer, sendProblem } from './problem.ts'
import { requestIdOf } from './request-id.ts'

export type ServerOptions = {
  logger: FastifyBaseLogger
  trustProxy: boolean | string
  bodyLimit: number
  /** 0 for no limit. */
  requestsPerConnection?: number
  isStopping: () => boolean
  audit?: AuditLog
  /** HSTS includes subdomains. */
  hstsSubDomains?: boolean
  /** Called for each answer to an authenticated request. */
  countAnswer?: CountAnswer
}

/** `bytes` are those of the answer, as sent. */
export type CountAnswer = (applicationId: string, operation: string, status: number, bytes: number) => void

const maxUrlLength = limits.urlBytes.value
const maxHeaderBytes = limits.headerBytes.value

const nodeSettings = {
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  // Without this the empty body of each GET goes through all the states of a stream.
  optimizeEmptyRequests: true,
}

/** An HTTP server for these operations; everything else is answered with problem+json too. */
export async function createServer<S>(
  operations: readonly Operation<S>[],
  authority: Authority,
  services: S,
  options: ServerOptions,
): Promise<FastifyInstance> {
  const { logger, trustProxy, bodyLimit, isStopping, audit, hstsSubDomains = false, countAnswer } = options
  const commonHeaders = createCommonHeaders({ hstsSubDomains, isStopping })
  const noteAnswer = answerNoter(logger, countAnswer)
  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    sendProblem(request, reply, error, commonHeaders(request))
  const answerPreflight = preflightAnswerer(commonHeaders)
  const app = Fastify({
    loggerInstance: logger,
    // One line per request, written below.
    logController: new LogController({ disableRequestLogging: true }),
    // Lines carry the request id explicitly, because a child logger would cost every request.
    childLoggerFactory: (one) => one,
    trustProxy,
    bodyLimit,
    genReqId: requestIdOf,
    rewriteUrl(raw) {
      routeOddMethod(raw)
      return raw.url ?? ''
    },
    // Our own parser reads the query, because this one drops what it does not understand.
    routerOptions: { maxParamLength: maxUrlLength, querystringParser: () => ({}), ignoreTrailingSlash: true },
    http: nodeSettings,
    // Bodies have a deadline of their own, since a file may take longer.
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    maxRequestsPerSocket: options.requestsPerConnection ?? 0,
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply),
    clientErrorHandler: answerUnreadable,
  })
  const secretRoutes = new Set(operations.filter(({ secretPath }) => secretPath).map(routeOf))
  readJson(app)
  app.setErrorHandler(refuse)
  app.setNotFoundHandler((request, reply) => refuse(nothingHere(), request, reply))
  // Hooks with a callback: one that returned a promise would cost every request a turn of the event loop.
  app.addHook('onRequest', (request, reply, done) => {
    ignoreTypeOfNothing(request.raw)
    setDeadline(request.raw, (socket) => answerUnreadable(tooLate(), socket))
    // For unknown paths the body is not read.
    const fault = urlFault(request.raw.url ?? '') ?? headerFault(request.raw) ?? (request.is404 && nothingHere())
    if (fault || !isPreflight(request)) return done(fault || undefined)
    void answerPreflight(request, reply)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { id: requestId, method, url, raw, routeOptions } = request
    if (raw.complete) forgetDeadline(raw)
    releaseSignal(request)
    const path = loggedPath(url, routeOptions.url, secretRoutes)
    const operation = operationOf(routeOptions.config)?.id ?? 'none'
    const line = { requestId, method, path, status: reply.statusCode }
    noteAnswer(operation, line, { seconds: reply.elapsedTime / 1000, raw, caller: callerOf(request) })
    done()
  })
  app.options('*', answerPreflight)
  app.decorateRequest(admission, null)
  for (const operation of operations) mount(app, operation, { authority, services, commonHeaders, audit })
  refuseOtherMethods(app, operations)
  answerImmediately(app, operations, {
    authority,
    services,
    commonHeaders,
    trustsProxy: trustProxy !== false,
    onAnswered({ id }, { request: raw, caller, requestId, status, seconds }) {
      noteAnswer(id, { requestId, method: 'GET', path: pathOf(raw.url ?? ''), status }, { seconds, raw, caller })
    },
  })
  return app
}

type Line = { requestId: string; method: string; path: string | undefined; status: number }

type AnswerFacts = { seconds: number; raw: IncomingMessage; caller: Caller | undefined }

/** The event, the log line and the usage of an answered request. */
const answerNoter =
  (logger: FastifyBaseLogger, countAnswer: CountAnswer | undefined) =>
  (operation: string, line: Line, { seconds, raw, caller }: AnswerFacts): void => {
    report('request', { operation, status: line.status, seconds, raw })
    logger.info({ ...line, ms: Math.round(seconds * 10_000) / 10 }, 'request')
    const bytes = sentBytes(raw.socket)
    if (caller) countAnswer?.(caller.applicationId, operation, line.status, bytes)
  }

const nothingHere = (): ApiError =>
  new ApiError('not_found', 'There is nothing at this address. /api/docs lists all operations.')

const preflightAnswerer =
  (commonHeaders: CommonHeaders) =>
  (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    reply.headers(commonHeaders(request)).header('x-request-id', request.id)
    return reply.code(204).headers(preflightHeaders).send()
  }

/** A browser asks before it sends a request of another origin, and sends no key with that, also where OPTIONS is an operation. */
const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

/** A body that is not sent emits no event, so no parser may wait for its end. */
function ignoreTypeOfNothing({ headers, readableEnded }: IncomingMessage): void {
  if (readableEnded && headers['content-type'] !== undefined) delete headers['content-type']
}

/**
 * The query string may hold a key, and so may a path that is no operation's: neither is logged. Where the path of an
 * operation holds a credential, or hides what it holds behind percent signs, its pattern is.
 */
function loggedPath(url: string, route: string | undefined, secretRoutes: ReadonlySet<string>): string | undefined {
  if (route === undefined || route === '*') return undefined
  const path = pathOf(url)
  return secretRoutes.has(route) || path.includes('%') ? route : path
}

const operationOf = (config: object | undefined): DeclaredOperation | undefined =>
  (config as RouteConfig | undefined)?.operation

function readJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Operations read forms themselves, as streams.
  app.addContentTypeParser(/^multipart\/form-data(;|$)/i, async ({ routeOptions, raw }: FastifyRequest) => {
    if (!operationOf(routeOptions.config)?.multipart)
      throw new ApiError('unsupported_media_type', 'The body must be JSON, not a form.')
    forgetDeadline(raw)
  })
  app.addContentTypeParser(/^application\/([\w.-]+\+)?json(;|$)/, ({ routeOptions, raw }, _, done) => {
    const operation = operationOf(routeOptions.config)
    const budget = operation?.budget ?? (operation?.readsText ? undefined : bodyBudget)
    const limits = { bytes: routeOptions.bodyLimit, budget }
    readBody(raw, limits, (error, bytes, scanner) => {
      if (error || !bytes || operation?.readsText) return done(error, bytes)
      parseInTurn(bytes, (body) => parseBody(body, scanner, operation), done)
    })
  })
  app.addContentTypeParser(/^text\/csv(;|$)/i, ({ routeOptions, raw }, _, done) => {
    const isRead = operationOf(routeOptions.config)?.readsText?.includes('text/csv')
    if (isRead) return readBody(raw, { bytes: routeOptions.bodyLimit }, done)
    done(new ApiError('unsupported_media_type', 'The body must be JSON, not CSV.'))
  })
}

function parseBody(bytes: Buffer, scanner: JsonScanner | undefined, operation: DeclaredOperation | undefined): unknown {
  if (bytes.length === 0) return undefined
  const json = { text: bytes.toString(), mayOverflow: scanner?.mayOverflow ?? true }
  return parseJsonBody(json, operation?.columnsIn, operation?.repairsText)
}

/** Smaller bodies take less than a millisecond. */
const largeBytes = 32_768

/** Large bodies that come in the same moment are parsed one after the other, with a turn of the event loop between them. */
function parseInTurn(
  bytes: Buffer,
  parse: (bytes: Buffer) => unknown,
  done: (error: Error | null, body?: unknown) => void,
): void {
  const work = (): void => {
    let parsed: Parameters<typeof done>
    try {
      parsed = [null, parse(bytes)]
    } catch (error) {
      parsed = [error as Error]
    }
    done(...parsed)
  }
  if (bytes.length < largeBytes) work()
  else queueForLoop(work)
}

function urlFault(url: string): ApiError | undefined {
  if (url.length > maxUrlLength) {
    const detail = `The address is longer than ${maxUrlLength} bytes. Send the query in a body by POST.`
    return overLimit('urlBytes', maxUrlLength, detail)
  }
  const path = pathOf(url)
  if (!/;|%3b|%00/i.test(path)) return undefined
  return new ApiError('invalid_request', 'The path must not contain ; or NUL.')
}

/** Names and values lie in one list. */
function headerFault({ rawHeaders }: IncomingMessage): ApiError | undefined {
  const most = limits.headerCount.value
  if (rawHeaders.length <= 2 * most) return undefined
  return overLimit('headerCount', most, `The request has more than ${most} headers.`)
}

/** Methods that no address has, by the request. */
const oddMethods = new WeakMap<IncomingMessage, string>()

/** The router knows no route of QUERY, PROPFIND and the like: it looks for one of TRACE, which every address refuses. */
function routeOddMethod(raw: IncomingMessage): void {
  const { method = 'GET' } = raw
  if (method === 'OPTIONS' || (methods as readonly string[]).includes(method)) return
  oddMethods.set(raw, method)
  raw.method = 'TRACE'
}

/** A known address with the wrong method is 405, and Allow says which methods it has. */
function refuseOtherMethods(app: FastifyInstance, operations: readonly DeclaredOperation[]): void {
  for (const [url, group] of Map.groupBy(operations, routeOf)) {
    const allowed: string[] = group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const allow = [...new Set([...allowed, 'OPTIONS'])].join(', ')
    app.route({
      method: methods.filter((method) => !allowed.includes(method)),
      url,
      async onRequest(request) {
        const method = oddMethods.get(request.raw) ?? request.method
        const detail = `${method} is not allowed here. Allowed: ${allow}.`
        throw new ApiError('method_not_allowed', detail, { headers: { Allow: allow } })
      },
      handler: () => undefined,
    })
  }
}

const tooLate = (): Error =>
  Object.assign(new Error('The body did not arrive in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

/** Bytes that are not HTTP never become a request, so they are answered on the bare socket. */
function answerUnreadable(error: Error & { code?: string; rawPacket?: unknown }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const firstLine = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.indexOf('\r\n') : -1
  const problem =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? firstLine === -1 || firstLine > maxUrlLength
        ? overLimit('urlBytes', maxUrlLength, `The address is longer than ${maxUrlLength} bytes.`)
        : overLimit('headerBytes', maxHeaderBytes, `The headers are larger than ${maxHeaderBytes} bytes.`)
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? overLimit('bodyMs', limits.bodyMs.value, 'The request did not arrive in time.')
        : new ApiError('invalid_request', 'The bytes are not a valid HTTP request.')
  socket.end(problemAnswer(problem))
}
