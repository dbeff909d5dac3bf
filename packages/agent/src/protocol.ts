/** The frames of `svc.agent.v1` as a worker sees them: one JSON object in one WebSocket text frame. */
export const subprotocol = 'svc.agent.v1'

export type Message = { role: 'user' | 'assistant'; content: string }
export type InvokeOptions = { model?: string; temperature?: number; maxOutputTokens?: number }
/** Where the platform's tools are (MCP), and the token that opens them for this invocation only. */
export type Tools = { mcpUrl: string; token: string; expiresAt: string }

export type Invoke = {
  t: 'invoke'
  id: string
  mode: 'invoke' | 'stream'
  input: string
  messages?: Message[]
  conversationId?: string
  /** An opaque name of who asks, the same each time; two callers may use the same `conversationId`. */
  caller?: string
  context?: Record<string, unknown>
  options?: InvokeOptions
  metadata?: Record<string, string>
  /** When the answer must be complete, in milliseconds since 1970 by the platform's clock. */
  deadline: number
  /** The same without clocks: so many milliseconds from now. */
  remainingMs: number
  /** So many UTF-8 bytes of delta text may be sent before the first `credit`. */
  window: number
  trace?: { traceparent: string }
  tools?: Tools
}

export type PlatformFrame =
  | { t: 'welcome'; connectionId: string; pingIntervalMs: number }
  | Invoke
  | { t: 'credit'; id: string; bytes: number }
  | { t: 'cancel'; id: string; reason: string }
  | { t: 'goaway'; reconnectAfterMs: number; drainMs: number }

/** The tokens an answer cost. `inputTokens` includes the cached ones, `outputTokens` the reasoning. */
export type Usage = {
  inputTokens?: number
  outputTokens?: number
  totalTokens?: number
  cachedInputTokens?: number
  reasoningTokens?: number
  costUsd?: number
}
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other'
/** What is known of an answer when it is complete. */
export type Finish = { finishReason?: FinishReason; model?: string; usage?: Usage; artifacts?: readonly object[] }

/** What ends an invocation on the side of the worker. */
export type TerminalFrame =
  | ({ t: 'done'; id: string } & Finish)
  | { t: 'error'; id: string; code: 'rejected' | 'failed' | 'provider'; message: string }
  | { t: 'cancelled'; id: string }

export type OutputFrame =
  | { t: 'start'; id: string }
  | { t: 'delta'; id: string; text: string }
  | { t: 'progress'; id: string }
  | TerminalFrame

export type WorkerFrame =
  | { t: 'hello'; protocol: 1; workerId: string; concurrency: number; version?: string; sdk: string }
  | { t: 'accept'; id: string }
  | { t: 'reject'; id: string; code: 'busy' | 'invalid_input'; message: string }
  | { t: 'drain' }
  | OutputFrame

/** The frame, or undefined for what is none or of a later protocol. */
export function readPlatformFrame(text: string): PlatformFrame | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value?.t === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
