import { type Attributes, context, propagation, type Span, SpanKind, type Tracer } from '@opentelemetry/api'
import type { Egress } from '../../kernel/egress/guard.ts'
import { inSpan } from './span.ts'

/**
 * A span for each call to another server, which gets the trace context. Of the address only host and port are told: paths and
 * queries of webhooks hold credentials.
 */
export function traceEgress(egress: Egress, tracer: Tracer): Egress {
  const call = <R extends { status: number }>(url: string, method: string, send: () => Promise<R>): Promise<R> =>
    inSpan(tracer, method, { kind: SpanKind.CLIENT, attributes: addressOf(url, method) }, async (span) =>
      noteStatus(span, await send()),
    )
  return {
    ...egress,
    fetch: (url, request = {}) =>
      call(url, request.method ?? 'GET', () =>
        egress.fetch(url, { ...request, headers: withContext(request.headers) }),
      ),
    stream: (url, request) =>
      call(url, request.method ?? 'GET', () =>
        egress.stream(url, { ...request, headers: withContext(request.headers) }),
      ),
  }
}

function addressOf(url: string, method: string): Attributes {
  const { protocol, hostname, port } = URL.parse(url) ?? {}
  const named = hostname && { 'server.address': hostname, 'url.scheme': protocol?.slice(0, -1) }
  return { 'http.request.method': method, ...named, ...(port && { 'server.port': Number(port) }) }
}

function noteStatus<R extends { status: number }>(span: Span, response: R): R {
  span.setAttribute('http.response.status_code', response.status)
  if (response.status >= 400) span.setAttribute('error.type', String(response.status))
  return response
}

/** A header that the tenant has set stays. */
function withContext(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  const hasTraceparent = Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent')
  return hasTraceparent ? { ...headers } : { ...carrier, ...headers }
}
