/**
 * Answers that take next to nothing, sent before the framework sees the request: routing, hooks and reply objects would take
 * as long as everything else. The key and the ACL are checked first, by the same functions as ever. Whatever is not plainly
 * a success goes the usual way through `mount.ts`, which then also says what is wrong.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { limits } from '../../kernel/limits/limits.ts'
import type { Caller, Scope } from '../access/acl.ts'
import { type Authority, authenticate } from '../access/authenticate.ts'
import type { CommonHeaders } from './answers/common-headers.ts'
import { answerFinisher, isWhole, type Ready, writeWhole } from './answers/send-answer.ts'
import { parseQueryString, pathOf, queryOf } from './input/query-string.ts'
import { admit, countedAlready, weightOf } from './mount.ts'
import type { Answer, Operation } from './operation.ts'
import { requestIdOf } from './request-id.ts'

export type ImmediateContext<S> = {
  readonly authority: Authority
  readonly services: S
  readonly commonHeaders: CommonHeaders
  readonly trustsProxy: boolean
  /** Called once for each answer, when the connection has taken it, and for a client that has left. */
  onAnswered(operation: Operation<S>, answered: AnsweredRequest): void
}

export type AnsweredRequest = {
  readonly request: IncomingMessage
  readonly caller: Caller | undefined
  readonly requestId: string
  readonly status: number
  readonly seconds: number
}

/** Puts the immediate answers of the operations that have some in front of the framework. */
export function answerImmediately<S>(
  app: FastifyInstance,
  operations: readonly Operation<S>[],
  immediateContext: ImmediateContext<S>,
): void {
  // As in the router, words come before parameters: /tiles/basemap/… before /tiles/{id}/….
  const routes = operations
    .flatMap((operation) => immediateRoute(operation))
    .sort((a, b) => b.prefix.length - a.prefix.length)
  const { server } = app
  const usual = server.listeners('request') as Handle[]
  const protocols = rememberProtocols(app, immediateContext.trustsProxy)
  server.removeAllListeners('request')
  const goUsualWay: Handle = (request, response) => {
    for (const handle of usual) handle.call(server, request, response)
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const begun = performance.now()
    const { url = '' } = request
    const route = routes.find(({ prefix }) => url.startsWith(prefix))
    const protocol = route && url.length <= maxUrlLength && isPlainGet(request) && protocols.of(request)
    let taken: Taken<S> | undefined
    const answered = (ready: Ready | undefined): void => {
      if (taken && request.socket.destroyed) noteLeft(taken)
      else if (ready && taken) write(taken, ready)
      else goUsualWay(request, response)
    }
    const { answer, caller } =
      (protocol && beginAnswer(route, { request, response }, url, immediateContext, answered)) || nothing
    if (!(route && protocol && answer)) return goUsualWay(request, response)
    taken = { operation: route.operation, request, response, caller, begun, protocol }
    if (answer !== 'later') write(taken, answer)
  })

  function write(taken: Taken<S>, { status, headers, body }: Ready): void {
    const { operation, request, response, protocol } = taken
    const requestId = requestIdOf(request)
    const common = immediateContext.commonHeaders({ protocol }, operation.isTile)
    writeWhole(response, { status, common, requestId, isHead: false }, headers, body)
    const done = (): void => note(taken, requestId, status)
    if (isTaken(request.socket)) done()
    else response.once('close', done)
  }

  const noteLeft = (taken: Taken<S>): void => note(taken, requestIdOf(taken.request), 499)

  function note({ operation, request, caller, begun }: Taken<S>, requestId: string, status: number): void {
    const seconds = (performance.now() - begun) / 1000
    immediateContext.onAnswered(operation, { request, caller, requestId, status, seconds })
  }
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** A request that may be answered here. */
type Taken<S> = {
  readonly operation: Operation<S>
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller | undefined
  readonly begun: number
  readonly protocol: FastifyRequest['protocol']
}

const maxUrlLength = 2_000

/** The system has all bytes of the answer, as it has at once unless the client reads slowly. */
const isTaken = ({ writableLength }: Socket): boolean => writableLength === 0

const isPlainGet = ({ method, headers, rawHeaders }: IncomingMessage): boolean =>
  method === 'GET' &&
  rawHeaders.length <= 2 * limits.headerCount.value &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined

type Route<S> = {
  readonly operation: Operation<S>
  readonly answerNow: NonNullable<Operation<S>['answerNow']>
  readonly finish: ReturnType<typeof answerFinisher>
  /** The path up to its first parameter. */
  readonly prefix: string
  readonly pattern: RegExp
  readonly names: readonly string[]
}

/** Parameters of the path that need decoding go the usual way. */
function immediateRoute<S>(operation: Operation<S>): Route<S>[] {
  const { answerNow, path } = operation
  if (!answerNow) return []
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '([\\w-]+)')}$`)
  const finish = answerFinisher(operation)
  return [{ operation, answerNow, finish, prefix: path.slice(0, path.indexOf('{')), pattern, names }]
}

type PendingAnswer = {
  readonly answer?: Ready | undefined | 'later'
  readonly caller?: Caller | undefined
}

/** Goes the usual way. */
const nothing: PendingAnswer = {}

function beginAnswer<S>(
  route: Route<S>,
  { request, response }: Pick<Taken<S>, 'request' | 'response'>,
  url: string,
  { authority, services }: ImmediateContext<S>,
  answered: (ready: Ready | undefined) => void,
): PendingAnswer {
  const { operation, answerNow, pattern, names } = route
  const matched = pattern.exec(pathOf(url))
  if (!matched) return nothing
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) params[name] = matched[index + 1] ?? ''
  try {
    const tree = parseQueryString(queryOf(url))
    const { rawHeaders } = request
    const caller = operation.access === 'public' ? undefined : authenticate({ rawHeaders, query: tree }, authority)
    if (caller instanceof Promise) return unused(caller)
    const scope = caller && (admit(operation, caller, { params, query: tree }) as Scope)
    const { headers } = request
    const answer = answerNow({ services, tree, headers, scope: scope as Scope }, params)
    if (!answer) return nothing
    if (caller) authority.limitRate?.(caller, weightOf(operation))
    if (caller) authority.holdConnection?.(caller, request.socket, response)
    const finish = (now: Answer | undefined) => finished(route, { headers, caller, authority }, now, answered)
    if (typeof answer !== 'function') return finish(answer)
    const isBegun = answer((later) => {
      const { answer: ready } = finish(later)
      if (!ready) countedAlready.add(request)
      if (ready !== 'later') answered(ready)
    })
    if (isBegun) return { answer: 'later', caller }
    countedAlready.add(request)
    return nothing
  } catch {
    // The usual way comes to the same result, and explains it.
    return nothing
  }
}

type Asking = Pick<IncomingMessage, 'headers'> & { readonly authority: Authority; readonly caller: Caller | undefined }

/** The answer with all headers, in its coding: at once, or later where it has to be compressed. */
function finished<S>(
  { finish }: Route<S>,
  { headers, caller, authority }: Asking,
  answer: Answer | undefined,
  answered: (ready: Ready | undefined) => void,
): PendingAnswer {
  if (!answer || !isWhole(answer)) return nothing
  if (caller) authority.noteRequest?.(caller)
  const ready = finish(answer, headers['accept-encoding'])
  if (!(ready instanceof Promise)) return { answer: ready, caller }
  ready.then(answered, () => answered(undefined))
  return { answer: 'later', caller }
}

/** The usual way asks for the same, and hears of the failure. */
function unused(loading: Promise<unknown>): PendingAnswer {
  loading.catch(() => {})
  return nothing
}

/** Only the framework knows which proxies are trusted: it is asked once for each connection and text of the header. */
function rememberProtocols(app: FastifyInstance, trustsProxy: boolean) {
  const connections = new WeakMap<
    Socket,
    { readonly forwarded: string; readonly protocol: FastifyRequest['protocol'] }
  >()
  if (trustsProxy) {
    app.addHook('onRequest', (request, _reply, done) => {
      const { 'x-forwarded-proto': forwarded } = request.headers
      if (typeof forwarded === 'string') connections.set(request.raw.socket, { forwarded, protocol: request.protocol })
      done()
    })
  }
  return {
    of({ headers, socket }: IncomingMessage): FastifyRequest['protocol'] | undefined {
      const { 'x-forwarded-proto': forwarded } = headers
      if (!trustsProxy || forwarded === undefined) return 'http'
      const before = connections.get(socket)
      return before?.forwarded === forwarded ? before.protocol : undefined
    },
  }
}
