import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'
import type { DeclaredOperation } from '../../api/http/operation.ts'
import { listen } from '../../kernel/events.ts'

type Open = { readonly span: Span; readonly active: Context }

/**
 * A span for each request, which continues the trace of its client. It begins in front of the framework, so that answers from
 * memory have one too, and ends with the event that metrics count. Neither the address nor a header is told: both may hold
 * credentials.
 */
export function traceRequests(
  { http, operations }: { http: FastifyInstance; operations: readonly DeclaredOperation[] },
  tracer: Tracer,
): () => void {
  const routes = new Map(operations.map(({ id, path }) => [id, path]))
  const open = new WeakMap<IncomingMessage, Open>()
  const { server } = http
  const usual = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const begun = begin(tracer, request)
    open.set(request, begun)
    // Where no answer is counted, as for a client that left while it sent its body.
    response.once('close', () => begun.span.end())
    context.with(begun.active, () => {
      for (const handle of usual) handle.call(server, request, response)
    })
  })
  // Events of a body come from the connection, which knows nothing of the request.
  http.addHook('preValidation', (request, _reply, done) => {
    const begun = open.get(request.raw)
    if (begun) context.with(begun.active, done)
    else done()
  })
  return listen('request', ({ raw, operation, status }) => {
    const begun = open.get(raw)
    if (begun) end(begun.span, raw.method ?? '', operation, routes.get(operation), status)
  })
}

function begin(tracer: Tracer, { headers, method = '' }: IncomingMessage): Open {
  const outer = propagation.extract(ROOT_CONTEXT, headers)
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }, outer)
  return { span, active: trace.setSpan(outer, span) }
}

function end(span: Span, method: string, operation: string, route: string | undefined, status: number): void {
  if (!span.isRecording()) return
  span.updateName(route ? `${method} ${route}` : method)
  span.setAttributes({ 'http.response.status_code': status, 'graticule.operation': operation })
  if (route) span.setAttribute('http.route', route)
  if (status >= 500) span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
