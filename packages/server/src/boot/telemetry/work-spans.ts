import { context, propagation, ROOT_CONTEXT, type Span, type Tracer, trace } from '@opentelemetry/api'
import { listen } from '../../kernel/events.ts'
import { recordTraces } from '../../kernel/tracing.ts'
import { inSpan } from './span.ts'

/** Jobs as traces of their own, linked to the request that caused them; their stages, and those of making a tile. */
export function traceWork(tracer: Tracer): () => void {
  const stages = new WeakMap<Span, Span>()
  const endStage = (job: Span): void => stages.get(job)?.end()
  const stops = [
    recordTraces({
      traceparent,
      run: (name, attributes, cause, work) =>
        context.with(ROOT_CONTEXT, () =>
          inSpan(tracer, name, { attributes, links: linksTo(cause) }, (job) => work().finally(() => endStage(job))),
        ),
    }),
    listen('uploadStage', ({ stage }) => {
      const job = trace.getActiveSpan()
      if (!job) return
      endStage(job)
      stages.set(job, tracer.startSpan(`upload ${stage}`))
    }),
    listen('tileMade', ({ querySeconds, encodeSeconds, compressSeconds }) => {
      if (!trace.getActiveSpan()?.isRecording()) return
      const taken = { query: querySeconds, encode: encodeSeconds, compress: compressSeconds }
      noteStages(tracer, taken)
    }),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Stages that have just ended, one after the other. */
function noteStages(tracer: Tracer, taken: Readonly<Record<string, number>>): void {
  let endedAt = Date.now()
  for (const [stage, seconds] of Object.entries(taken).reverse()) {
    const startTime = endedAt - seconds * 1000
    tracer.startSpan(`tile ${stage}`, { startTime }).end(endedAt)
    endedAt = startTime
  }
}

function traceparent(): string | null {
  const carrier: { traceparent?: string } = {}
  propagation.inject(context.active(), carrier)
  return carrier.traceparent ?? null
}

function linksTo(cause: string | null) {
  const linked = cause && trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent: cause }))
  return linked ? [{ context: linked }] : []
}
