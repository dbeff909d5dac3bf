/**
 * Answers from memory, sent before the framework sees the request: routing, hooks and reply objects would take as long as
 * everything else that such an answer needs. The key and the ACL are checked first, by the same functions as ever. Whatever
 * is not plainly a success in memory goes the usual way through `mount.ts`, which then also says what is wrong.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Scope } from '../access/acl.ts'
import { type Authority, authenticate } from '../access/authenticate.ts'
import type { CommonHeaders } from './common-headers.ts'
import { admit } from './mount.ts'
import type { Answer, Operation } from './operation.ts'
import { parseQueryString, pathOf, queryOf } from './query-string.ts'
import { requestIdOf } from './request-id.ts'
import { isWhole, writeWhole } from './send-answer.ts'

export type Surroundings<S> = {
  readonly authority: Authority
  readonly services: S
  readonly commonHeaders: CommonHeaders
  readonly trustsProxy: boolean
  /** Called once for each answer, when the connection has taken it. */
  onAnswered(operation: Operation<S>, answered: Answered): void
}

export type Answered = {
  readonly request: IncomingMessage
  readonly requestId: string
  readonly status: number
  readonly seconds: number
}

/** Puts the immediate answers of the operations that have some in front of the framework. */
export function answerImmediately<S>(
  app: FastifyInstance,
  operations: readonly Operation<S>[],
  surroundings: Surroundings<S>,
): void {
  // As in the router, words come before parameters: /tiles/basemap/… before /tiles/{id}/….
  const routes = operations
    .flatMap((operation) => immediateRoute(operation))
    .sort((a, b) => b.prefix.length - a.prefix.length)
  const { server } = app
  const usual = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[]
  const protocols = rememberProtocols(app, surroundings.trustsProxy)
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const begun = performance.now()
    if (isAnswered(request, response, begun)) return
    for (const handle of usual) handle.call(server, request, response)
  })

  function isAnswered(request: IncomingMessage, response: ServerResponse, begun: number): boolean {
    const { url = '' } = request
    const route = routes.find(({ prefix }) => url.startsWith(prefix))
    if (!route || url.length > maxUrlLength || !isPlainGet(request)) return false
    const protocol = protocols.of(request)
    const answer = protocol && readyAnswer(route, request, url, surroundings)
    if (!answer) return false
    const status = answer.status ?? route.operation.success.status
    const requestId = requestIdOf(request)
    const common = surroundings.commonHeaders({ protocol }, route.operation.isTile)
    writeWhole(response, { status, common, requestId, isHead: false }, answer.headers, answer.body)
    const done = (): void => {
      const seconds = (performance.now() - begun) / 1000
      surroundings.onAnswered(route.operation, { request, requestId, status, seconds })
    }
    if (isTaken(request.socket)) done()
    else response.once('close', done)
    return true
  }
}

const maxUrlLength = 2_000

/** The system has all bytes of the answer, as it has at once unless the client reads slowly. */
const isTaken = ({ writableLength }: Socket): boolean => writableLength === 0

const isPlainGet = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers['content-length'] === undefined && headers['transfer-encoding'] === undefined

type Route<S> = {
  readonly operation: Operation<S>
  readonly answerNow: NonNullable<Operation<S>['answerNow']>
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
  return [{ operation, answerNow, prefix: path.slice(0, path.indexOf('{')), pattern, names }]
}

function readyAnswer<S>(
  { operation, answerNow, pattern, names }: Route<S>,
  request: IncomingMessage,
  url: string,
  { authority, services }: Surroundings<S>,
): (Answer & { headers: Record<string, string>; body: Uint8Array | undefined }) | undefined {
  const matched = pattern.exec(pathOf(url))
  if (!matched) return undefined
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) params[name] = matched[index + 1] ?? ''
  try {
    const tree = parseQueryString(queryOf(url))
    const { headers, rawHeaders } = request
    const caller = operation.access === 'public' ? undefined : authenticate({ rawHeaders, query: tree }, authority)
    if (caller instanceof Promise) return unused(caller)
    const scope = caller && admit(operation, caller, { params, query: tree })
    const answer = answerNow({ services, scope: scope as Scope, tree, headers }, params)
    if (!answer || !isWhole(answer)) return undefined
    if (caller) authority.noteRequest?.(caller)
    return answer
  } catch {
    // The usual way comes to the same result, and explains it.
    return undefined
  }
}

/** The usual way asks for the same, and hears of the failure. */
function unused(loading: Promise<unknown>): undefined {
  loading.catch(() => {})
}

/** Only the framework knows which proxies are trusted: it is asked once for each connection and text of the header. */
function rememberProtocols(app: FastifyInstance, trustsProxy: boolean) {
  const known = new WeakMap<Socket, { readonly forwarded: string; readonly protocol: FastifyRequest['protocol'] }>()
  if (trustsProxy) {
    app.addHook('onRequest', (request, _reply, done) => {
      const { 'x-forwarded-proto': forwarded } = request.headers
      if (typeof forwarded === 'string') known.set(request.raw.socket, { forwarded, protocol: request.protocol })
      done()
    })
  }
  return {
    of({ headers, socket }: IncomingMessage): FastifyRequest['protocol'] | undefined {
      const { 'x-forwarded-proto': forwarded } = headers
      if (!trustsProxy || forwarded === undefined) return 'http'
      const before = known.get(socket)
      return before?.forwarded === forwarded ? before.protocol : undefined
    },
  }
}
