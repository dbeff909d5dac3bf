import type { Finish, InvokeOptions, Message, Tools } from './protocol.ts'

/** One request to the agent, as its handler gets it. */
export type Invocation = {
  readonly id: string
  readonly input: string
  /** The earlier turns, oldest first. */
  readonly messages: readonly Message[]
  /** Chosen by the caller, so it is not unique: a handler that stores conversations must key them by `caller` too. */
  readonly conversationId: string | undefined
  /** An opaque, stable id of the caller: of the user, otherwise of the key. */
  readonly caller: string | undefined
  /** The state of the caller's map: bbox, center, zoom, datasetIds, selectedFeatureIds. */
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly options: Readonly<InvokeOptions>
  readonly metadata: Readonly<Record<string, string>>
  /** Whether the caller streams the answer or waits for all of it. */
  readonly mode: 'invoke' | 'stream'
  /** When the answer must be complete. */
  readonly deadline: Date
  readonly tools: Tools | undefined
  readonly traceparent: string | undefined
  /** Aborted when the answer is no longer wanted. Pass it to everything you call. */
  readonly signal: AbortSignal
  /** Starts the answer before its first text. Errors after this no longer have an HTTP status of their own. */
  start(): void
  /** Reports that the handler is still working, so that it does not time out as hung. */
  progress(): void
  /** Sets facts about the answer, sent to the caller when the handler returns. Later calls add to earlier ones. */
  finish(facts: Finish): void
}

export type Answer = AsyncIterable<string> | Iterable<string> | string
/** Answers an invocation: an async generator that yields text, or a function that returns all of it. */
export type Handler = (invocation: Invocation) => Answer | Promise<Answer>

/** Logs one line. */
export type Log = (line: string) => void
