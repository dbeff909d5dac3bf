/** Steps of background work that a tracer may record (`telemetry/`); free while there is none. */
export type TraceRecorder = {
  /** Runs `work` as a trace of its own, linked to the trace context that caused it. */
  run<T>(name: string, fields: SpanAttributes, cause: string | null, work: () => Promise<T>): Promise<T>
  /** The trace context of the current request, as a `traceparent` header. */
  traceparent(): string | null
}

export type SpanAttributes = Readonly<Record<string, string | number>>

let recorder: TraceRecorder | undefined

/** Sets the one recorder of the process; returns the function that removes it. */
export function recordTraces(next: TraceRecorder): () => void {
  recorder = next
  return () => {
    if (recorder === next) recorder = undefined
  }
}

export const runTraced: TraceRecorder['run'] = (name, fields, cause, work) =>
  recorder ? recorder.run(name, fields, cause, work) : work()

/** To be stored with work that is done later. Null while nothing is recorded. */
export const currentTraceparent: TraceRecorder['traceparent'] = () => recorder?.traceparent() ?? null
