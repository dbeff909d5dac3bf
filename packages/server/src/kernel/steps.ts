/** Steps of background work that a tracer may record (`telemetry/`); free while there is none. */
export type StepRecorder = {
  /** Runs `work` as a trace of its own, linked to the trace context that caused it. */
  run<T>(name: string, fields: StepFields, cause: string | null, work: () => Promise<T>): Promise<T>
  /** The trace context of the current request, as a `traceparent` header. */
  traceparent(): string | null
}

export type StepFields = Readonly<Record<string, string | number>>

let recorder: StepRecorder | undefined

/** Sets the one recorder of the process; returns the function that removes it. */
export function recordSteps(given: StepRecorder): () => void {
  recorder = given
  return () => {
    if (recorder === given) recorder = undefined
  }
}

export const runStep: StepRecorder['run'] = (name, fields, cause, work) =>
  recorder ? recorder.run(name, fields, cause, work) : work()

/** To be stored with work that is done later. Null while nothing is recorded. */
export const currentTraceparent: StepRecorder['traceparent'] = () => recorder?.traceparent() ?? null
