import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { documentBudget } from '../kernel/json/json-budget.ts'
import { scanJson } from '../kernel/json/json-scanner.ts'
import type { Invoke } from './bridges/bridge-package.ts'

/**
 * The frames between the platform and the workers that serve an agent: one JSON object in one WebSocket text frame.
 * What has an unknown `t` or the unknown `id` of an invocation is ignored by both sides.
 */
export const subprotocol = 'svc.agent.v1'

const id = Type.String({ minLength: 1, maxLength: 64 })
const message = Type.String()
const concurrency = Type.Integer({ minimum: 1, maximum: 1_000 })
const frame = <Name extends string, Fields extends Record<string, TSchema>>(name: Name, fields: Fields) =>
  Type.Object({ t: Type.Literal(name), ...fields })

/** What a worker sends. */
const workerFrames = {
  /** First, within 5 s. `workerId` names the process and stays the same when it connects again. */
  hello: frame('hello', {
    protocol: Type.Literal(1),
    workerId: Type.String({ minLength: 1, maxLength: 128 }),
    concurrency,
    version: Type.Optional(Type.String({ maxLength: 128 })),
    sdk: Type.Optional(Type.String({ maxLength: 128 })),
  }),
  /** Within 5 s after `invoke`: `accept` or `reject`. */
  accept: frame('accept', { id }),
  reject: frame('reject', {
    id,
    code: Type.Union([Type.Literal('busy'), Type.Literal('invalid_input')]),
    message: Type.Optional(message),
  }),
  /** Says that an answer will come, before its first delta: the client gets its headers. Optional. */
  start: frame('start', { id }),
  delta: frame('delta', { id, text: Type.String() }),
  /** Still at work: begins the wait for the next output anew. */
  progress: frame('progress', { id }),
  /** `finishReason`: stop, length, content_filter, tool_calls, other. `usage`: see `usageFields`. */
  done: frame('done', {
    id,
    finishReason: Type.Optional(Type.Unknown()),
    model: Type.Optional(Type.Unknown()),
    usage: Type.Optional(Type.Unknown()),
    artifacts: Type.Optional(Type.Unknown()),
  }),
  /** `rejected`: the input is wrong (400); `failed`: the handler is (500); `provider`: whom it asked is (502). */
  error: frame('error', {
    id,
    code: Type.Union([Type.Literal('rejected'), Type.Literal('failed'), Type.Literal('provider')]),
    message: Type.Optional(message),
  }),
  /** The answer to `cancel`, when the handler has ended. `done` and `error` answer it too. */
  cancelled: frame('cancelled', { id }),
  /** From now on this many invocations at once. */
  status: frame('status', { concurrency }),
  /** No new work, please. The worker finishes what it has and closes with 1000. */
  drain: frame('drain', {}),
}

export type WorkerFrame = {
  [Name in keyof typeof workerFrames]: Static<(typeof workerFrames)[Name]>
}[keyof typeof workerFrames]
export type Hello = Static<typeof workerFrames.hello>

/** What both sides mean by an invocation. */
export type { Invoke, InvokeOptions, Message, Tools } from './bridges/bridge-package.ts'

export const cancelReasons = [
  'client_disconnected',
  'timeout',
  'slow_consumer',
  'admin',
  'ack_timeout',
  'key_revoked',
  'output_limit',
  'shutting_down',
] as const
/** Read it as text: there may be more reasons one day. */
export type CancelReason = (typeof cancelReasons)[number]

/** What the platform sends. */
export type PlatformFrame =
  | {
      t: 'welcome'
      connectionId: string
      agentId: string
      /** A WebSocket ping comes at least so often: after three silent intervals the worker connects anew. */
      pingIntervalMs: number
      limits: {
        /** The largest frame a worker may send. */
        maxFrameBytes: number
        windowBytes: number
        /** The largest whole answer. */
        maxOutputBytes: number
      }
    }
  | Invoke
  /** So many more UTF-8 bytes of delta text may be sent. */
  | { t: 'credit'; id: string; bytes: number }
  /** Stop: answer `cancelled` (or any terminal) within 5 s, or the slot is taken back without it. */
  | { t: 'cancel'; id: string; reason: CancelReason }
  /**
   * This replica is about to end. After `reconnectAfterMs` open a new connection with the same `workerId`; when it is
   * welcomed, send `drain` on this one and finish its work here. New work may still come until then.
   */
  | { t: 'goaway'; reconnectAfterMs: number; drainMs: number }

/** Why the platform closes a socket. */
export const closeCodes = {
  normal: 1000,
  tooBig: 1009,
  restart: 1012,
  protocol: 4400,
  keyRevoked: 4401,
  agentDeleted: 4404,
  helloTimeout: 4408,
  superseded: 4409,
  limits: 4429,
} as const

/** What `usage` may hold, each a number that is not negative; anything else is left out. */
export const usageFields = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cachedInputTokens',
  'reasoningTokens',
  'costUsd',
] as const
export type Usage = { [Name in (typeof usageFields)[number]]?: number }

export const finishReasons = ['stop', 'length', 'content_filter', 'tool_calls', 'other'] as const
export type FinishReason = (typeof finishReasons)[number]

const checks = new Map(Object.entries(workerFrames).map(([name, schema]) => [name, Compile(schema as TSchema)]))

/**
 * The frame; `unknown` for one of a later protocol, which is ignored; `broken` for one that breaks this protocol, or has more
 * values than a document may have.
 */
export function readWorkerFrame(bytes: Buffer): WorkerFrame | 'unknown' | 'broken' {
  const value = parse(bytes)
  if (typeof value !== 'object' || value === null || !('t' in value) || typeof value.t !== 'string') return 'broken'
  const check = checks.get(value.t)
  if (!check) return 'unknown'
  return check.Check(value) ? (value as WorkerFrame) : 'broken'
}

/** Shorter frames are parsed in less than a millisecond, whatever they hold. */
const longFrame = 16_384

function parse(bytes: Buffer): unknown {
  try {
    if (bytes.length > longFrame) scanJson(bytes, documentBudget)
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
