// Runs a handler for one invocation.
import { createCredit } from './credit.ts'
import { ProviderError, Reject } from './errors.ts'
import type { Handler, Invocation, Log } from './invocation.ts'
import type { Finish, Invoke, OutputFrame, TerminalFrame } from './protocol.ts'
import { createTextPieces } from './text-pieces.ts'

export type RunningInvocation = {
  addCredit(bytes: number): void
  cancel(reason: string): void
  /** Resolves when the handler has ended and its last frame is sent. */
  readonly ended: Promise<void>
}

const progressIntervalMs = 1_000
const maxMessageLength = 1_000
const maxArtifactsLength = 256 * 1024

/** Sends the handler's text under flow control, then exactly one terminal frame. */
export function runInvocation(
  invoke: Invoke,
  handler: Handler,
  { send, log }: { send: (frame: OutputFrame) => void; log: Log },
): RunningInvocation {
  const { id } = invoke
  const abort = new AbortController()
  const credit = createCredit(invoke.window, abort.signal)
  const pieces = createTextPieces()
  let facts: Finish = {}

  const { start, progress } = signsOfLife(id, send)
  const invocation = describe(invoke, abort.signal, {
    start,
    progress,
    finish(more) {
      facts = { ...facts, ...more }
    },
  })

  async function sendPieces(texts: Iterable<string>): Promise<void> {
    for (const text of texts) {
      await credit.take(Buffer.byteLength(text))
      send({ t: 'delta', id, text })
    }
  }

  async function answer(): Promise<TerminalFrame> {
    try {
      for await (const text of textsOf(await handler(invocation))) await sendPieces(pieces.add(text))
      await sendPieces(pieces.end())
      abort.signal.throwIfAborted()
      return done(id, facts)
    } catch (error) {
      if (abort.signal.aborted) return { t: 'cancelled', id }
      return failure(id, error, log)
    }
  }

  return {
    addCredit: credit.add,
    cancel: (reason) => abort.abort(new DOMException(`The invocation was cancelled: ${reason}`, 'AbortError')),
    // In a microtask, so that the caller can register the invocation before its handler runs.
    ended: Promise.resolve().then(answer).then(send),
  }
}

function signsOfLife(id: string, send: (frame: OutputFrame) => void) {
  let hasStarted = false
  let lastProgress = Number.NEGATIVE_INFINITY
  return {
    start() {
      if (!hasStarted) send({ t: 'start', id })
      hasStarted = true
    },
    progress() {
      const now = performance.now()
      if (now - lastProgress < progressIntervalMs) return
      lastProgress = now
      send({ t: 'progress', id })
    },
  }
}

function describe(
  invoke: Invoke,
  signal: AbortSignal,
  actions: Pick<Invocation, 'start' | 'progress' | 'finish'>,
): Invocation {
  const { id, input, mode, conversationId, caller, context, tools, trace } = invoke
  return {
    id,
    input,
    mode,
    messages: invoke.messages ?? [],
    conversationId,
    caller,
    context,
    options: invoke.options ?? {},
    metadata: invoke.metadata ?? {},
    // Computed from the remaining time, because the platform's clock may differ.
    deadline: new Date(Date.now() + invoke.remainingMs),
    tools,
    traceparent: trace?.traceparent,
    signal,
    ...actions,
  }
}

async function* textsOf(answer: unknown): AsyncGenerator<string> {
  if (typeof answer === 'string') return yield answer
  if (!isIterable(answer)) throw new TypeError(`The handler answered with ${typeof answer} instead of text.`)
  for await (const text of answer) {
    if (typeof text !== 'string') throw new TypeError(`The handler yielded ${typeof text} instead of text.`)
    yield text
  }
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> =>
  typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)

function done(id: string, { finishReason = 'stop', model, usage, artifacts }: Finish): TerminalFrame {
  const facts = JSON.stringify({ finishReason, model, usage, artifacts })
  if (facts.length > maxArtifactsLength)
    throw new RangeError('The arguments of finish() are larger than 256 KiB, the limit.')
  return { t: 'done', id, ...JSON.parse(facts) }
}

/** The frame for an error. Only messages of Reject and ProviderError reach the caller; others may contain secrets. */
function failure(id: string, error: unknown, log: Log): TerminalFrame {
  if (error instanceof Reject) return errorFrame(id, 'rejected', error.message)
  log(`Invocation ${id} failed: ${describeError(error)}`)
  if (error instanceof ProviderError) return errorFrame(id, 'provider', error.message)
  return errorFrame(id, 'failed', 'The agent failed.')
}

const errorFrame = (id: string, code: 'rejected' | 'failed' | 'provider', message: string): TerminalFrame => ({
  t: 'error',
  id,
  code,
  message: message.slice(0, maxMessageLength).toWellFormed(),
})

function describeError(error: unknown): string {
  if (error instanceof ProviderError) return [error.message, error.detail ?? error.cause].filter(Boolean).join(' ')
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
