import {
  type Attributes,
  context,
  type Link,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { ApiError } from '../../kernel/errors.ts'

export type SpanOptions = { readonly kind?: SpanKind; readonly attributes?: Attributes; readonly links?: Link[] }

/** Runs `work` inside a span, which ends with it. */
export async function inSpan<T>(
  tracer: Tracer,
  name: string,
  { kind = SpanKind.INTERNAL, attributes = {}, links = [] }: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, { kind, attributes, links })
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(span))
  } catch (error) {
    markFailed(span, error)
    throw error
  } finally {
    span.end()
  }
}

/** By the kind of the error alone: its message and stack may hold what a tenant or a server wrote. */
export function markFailed(span: Span, error: unknown): void {
  span.setAttribute('error.type', kindOf(error))
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function kindOf(error: unknown): string {
  if (error instanceof ApiError) return error.code
  return error instanceof Error ? error.name : 'unknown'
}
