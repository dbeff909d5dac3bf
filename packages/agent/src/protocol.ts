/** The worker's side of the protocol `svc.agent.v1`: each WebSocket text frame is one JSON object. */
export const subprotocol = 'svc.agent.v1'

export type Message = { role: 'user' | 'assistant'; content: string }
export type InvokeOptions = { model?: string; temperature?: number; maxOutputTokens?: number }
/** The URL of the platform's MCP tools, and a token that is valid for this invocation only. */
export type Tools = { mcpUrl: string; token: string; expiresAt: string }

export type Invoke = {
  t: 'invoke'
  id: string
  mode: 'invoke' | 'stream'
  input: string
  messages?: Message[]
  conversationId?: string
  /** An opaque, stable id of the caller. Two callers may use the same `conversationId`. */
  caller?: string
  context?: Record<string, unknown>
  options?: InvokeOptions
  metadata?: Record<string, string>
  /** When the answer must be complete, in milliseconds since 1970 on the platform's clock. */
  deadline: number
  /** The time until the deadline, which does not depend on clocks. */
  remainingMs: number
  /** The initial credit: UTF-8 bytes of delta text that may be sent before the first `credit`. */
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

/** Token usage. `inputTokens` includes cached tokens, `outputTokens` reasoning tokens. */
export type Usage = {
  inputTokens?: number
  outputTokens?: number
  totalTokens?: number
  cachedInputTokens?: number
  reasoningTokens?: number
  costUsd?: number
}
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other'
/** Facts about a complete answer. */
export type Finish = { finishReason?: FinishReason; model?: string; usage?: Usage; artifacts?: readonly object[] }

/** The last frame of an invocation from the worker. */
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

/** Parses a frame; undefined if it is invalid or from a later version of the protocol. */
export function readPlatformFrame(text: string): PlatformFrame | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value?.t === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
