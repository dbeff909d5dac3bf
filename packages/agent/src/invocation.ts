import type { Finish, InvokeOptions, Message, Tools } from './protocol.ts'

/** One question to the agent, and what its handler can do besides answering. */
export type Invocation = {
  readonly id: string
  readonly input: string
  /** The turns before this one, oldest first. */
  readonly messages: readonly Message[]
  /** Chosen by the caller, so another may choose the same: who remembers conversations keeps them by `caller` too. */
  readonly conversationId: string | undefined
  /** An opaque name of who asks, the same each time: the user, else the key. */
  readonly caller: string | undefined
  /** What the caller looks at: bbox, center, zoom, datasetIds, selectedFeatureIds. */
  readonly context: Readonly<Record<string, unknown>> | undefined
  readonly options: Readonly<InvokeOptions>
  readonly metadata: Readonly<Record<string, string>>
  /** Whether the caller reads along or waits for the whole answer. */
  readonly mode: 'invoke' | 'stream'
  /** When the answer must be complete. */
  readonly deadline: Date
  readonly tools: Tools | undefined
  readonly traceparent: string | undefined
  /** Aborted when nobody waits for the answer any more: pass it to whatever you call. */
  readonly signal: AbortSignal
  /** Promises an answer before its first word is there; errors after this no longer have an HTTP status. */
  start(): void
  /** Tells that work goes on, so that silence is not taken for a hang. */
  progress(): void
  /** Says more about the answer; told to the caller when the handler returns. Later calls add to earlier ones. */
  finish(facts: Finish): void
}

export type Answer = AsyncIterable<string> | Iterable<string> | string
/** Answers an invocation: an async generator that yields pieces of text, or a function that returns the whole. */
export type Handler = (invocation: Invocation) => Answer | Promise<Answer>

/** Says what happens to a worker, one line each. */
export type Log = (line: string) => void
