import type { Attributes, Span, SpanContext } from '@opentelemetry/api'
import { randomHex } from '../../api/access/secrets/random-hex.ts'
import type { Agent } from '../agent.ts'
import type { InvocationRecord } from '../history/history.ts'
import type { AgentCall } from './call.ts'

/** The trace context of an invocation (W3C Trace Context, OpenTelemetry). */
export type Trace = {
  readonly traceId: string
  /** For the worker, so that its spans are children of this invocation. */
  readonly traceparent: string
  end?(entry: InvocationRecord): void
}

/** `traceparent` is the caller's header. */
export type Tracing = { begin(traceparent: unknown, agent: Agent, call: AgentCall): Trace }

type Parent = Pick<SpanContext, 'traceId' | 'spanId' | 'traceFlags'>

/** Without a recording SDK: continues the caller's trace, or begins one. */
const unrecorded: Tracing = {
  begin(traceparent) {
    const parent = readParent(traceparent)
    return traceOf({
      traceId: parent?.traceId ?? randomHex(32),
      spanId: randomHex(16),
      traceFlags: parent?.traceFlags ?? 0,
    })
  },
}

/** The global under which OpenTelemetry's API keeps its registered SDK. */
const registered = Symbol.for('opentelemetry.js.api.1')

/** A span for each invocation, where the process was started with an OpenTelemetry SDK. */
export async function openTracing(): Promise<Tracing> {
  const { [registered]: api } = globalThis as { [registered]?: { trace?: unknown } }
  if (!api?.trace) return unrecorded
  const { context, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api')
  const tracer = trace.getTracer('graticule')
  return {
    begin(traceparent, agent, call) {
      const parent = readParent(traceparent)
      const active = context.active()
      const isInside = trace.getSpan(active) !== undefined
      const outer = parent && !isInside ? trace.setSpanContext(active, { ...parent, isRemote: true }) : active
      const attributes = requestAttributes(agent, call)
      const span = tracer.startSpan(`invoke_agent ${agent.name}`.trim(), { kind: SpanKind.CLIENT, attributes }, outer)
      return {
        ...traceOf(span.spanContext()),
        end: (entry) => endSpan(span, entry, SpanStatusCode.ERROR),
      }
    },
  }
}

const traceOf = ({ traceId, spanId, traceFlags }: Parent): Trace => ({
  traceId,
  traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
})

function readParent(traceparent: unknown): Parent | undefined {
  if (typeof traceparent !== 'string') return undefined
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? []
  return traceId && spanId && flags ? { traceId, spanId, traceFlags: Number.parseInt(flags, 16) } : undefined
}

const requestAttributes = ({ id, applicationId, name, model }: Agent, { conversationId }: AgentCall): Attributes => ({
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.id': id,
  'graticule.application.id': applicationId,
  ...(name && { 'gen_ai.agent.name': name }),
  ...(model && { 'gen_ai.request.model': model }),
  ...(conversationId !== undefined && { 'gen_ai.conversation.id': conversationId }),
})

function endSpan(span: Span, entry: InvocationRecord, isError: number): void {
  const { id, status, errorCode, model, finishReason, ttfbMs } = entry
  const { inputTokens, outputTokens } = (entry.usage ?? {}) as { inputTokens?: number; outputTokens?: number }
  span.setAttributes({
    'graticule.invocation.id': id,
    ...(model && { 'gen_ai.response.model': model }),
    ...(finishReason && { 'gen_ai.response.finish_reasons': [finishReason] }),
    ...(inputTokens !== undefined && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens !== undefined && { 'gen_ai.usage.output_tokens': outputTokens }),
    ...(ttfbMs !== null && { 'graticule.first_output_ms': ttfbMs }),
  })
  if (status !== 'succeeded') {
    span.setAttribute('error.type', errorCode ?? status)
    if (status === 'failed') span.setStatus({ code: isError, ...(errorCode && { message: errorCode }) })
  }
  span.end()
}
