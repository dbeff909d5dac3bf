import { ApiError, type ErrorCode } from '../../kernel/errors.ts'
import type { ExceededLimit } from '../../kernel/limits/limits.ts'
import { type FinishReason, finishReasons, type Usage, usageFields, type WorkerFrame } from '../protocol.ts'
import type { Decline, RunEvent } from './offer.ts'

/** The last event of a successful answer. */
export type Ending = { finishReason: FinishReason; model: string; usage: Usage; artifacts?: unknown[] }

const maxMessageLength = 1_000
const maxArtifactsBytes = 262_144
const retryable: ReadonlySet<ErrorCode> = new Set([
  ...(['agent_busy', 'agent_unavailable', 'agent_disconnected', 'agent_timeout'] as const),
  ...(['provider_failed', 'shutting_down'] as const),
])

/** The failure of an invocation, as an answer or as the last event of a stream. */
export function failure(
  code: ErrorCode,
  message: string,
  invocationId: string,
  headers: Record<string, string> = {},
  exceeded?: ExceededLimit,
) {
  const detail = message.length > maxMessageLength ? message.slice(0, maxMessageLength).toWellFormed() : message
  return new ApiError(code, detail, {
    headers: { ...headers, 'x-invocation-id': invocationId },
    extensions: { invocationId, retryable: retryable.has(code), ...exceeded },
  })
}

/** The payload of an `error` event. */
export const errorPayload = ({ status, code, message, title, extensions }: ApiError): object => ({
  statusCode: status,
  status,
  code,
  title,
  message,
  detail: message,
  ...extensions,
})

const declines: Record<Decline | 'unbridged', [ErrorCode, string, Record<string, string>]> = {
  nobody: ['agent_unavailable', 'No process is serving this agent at the moment.', { 'Retry-After': '5' }],
  unbridged: [
    'agent_unavailable',
    'No process is serving this agent, and the platform’s own bridges to models are off (AGENT_BRIDGES).',
    { 'Retry-After': '5' },
  ],
  busy: [
    'agent_busy',
    'The agent already runs as many invocations as it can. Try again in a moment.',
    { 'Retry-After': '1' },
  ],
  crowded: [
    'agent_busy',
    'This application already runs as many invocations as it may. Try again in a moment.',
    { 'Retry-After': '1' },
  ],
  silent: ['agent_timeout', 'The agent did not accept the call in time.', {}],
}

export const declined = (why: Decline | 'unbridged', invocationId: string, exceeded?: ExceededLimit): ApiError => {
  const [code, message, headers] = declines[why]
  return failure(code, message, invocationId, headers, exceeded)
}

/** Whoever has the worker and is told to stop disconnects it; that is no fault of the agent's. */
export const lost = ({ isStopping }: Extract<RunEvent, { t: 'lost' }>, invocationId: string): ApiError =>
  isStopping
    ? failure('shutting_down', 'The server is stopping.', invocationId)
    : failure('agent_disconnected', 'The agent disconnected.', invocationId)

const workerErrors: Record<'rejected' | 'failed' | 'provider', [ErrorCode, string]> = {
  rejected: ['agent_rejected', 'The agent rejected the input.'],
  failed: ['agent_failed', 'The agent failed.'],
  provider: ['provider_failed', 'The model provider of the agent failed.'],
}

export const workerFailure = (
  { code, message }: { code: keyof typeof workerErrors; message?: string },
  invocationId: string,
): ApiError => {
  const [apiCode, fallback] = workerErrors[code]
  return failure(apiCode, firstLine(message) || fallback, invocationId)
}

/** Without the stack trace, which would tell clients about the source of the worker. */
const firstLine = (message = ''): string => message.split(/\n\s+at /, 1)[0]?.trim() ?? ''

type Done = Omit<Extract<WorkerFrame, { t: 'done' }>, 'id'>

/** The end of the answer from the frame `done`; undefined if the frame is not valid, which is a fault of the handler. */
export function readEnding({ finishReason = 'stop', model, usage = {}, artifacts }: Done, fallback: string | null) {
  if (typeof finishReason !== 'string' || !isObject(usage)) return undefined
  if (model !== undefined && model !== null && typeof model !== 'string') return undefined
  if (artifacts !== undefined && !areArtifacts(artifacts)) return undefined
  return {
    finishReason: finishReasons.find((reason) => reason === finishReason) ?? 'other',
    model: model || fallback || 'unknown',
    usage: readUsage(usage),
    ...(artifacts !== undefined && { artifacts }),
  } satisfies Ending
}

function readUsage(counts: Record<string, unknown>): Usage {
  const usage: Usage = {}
  for (const name of usageFields) {
    const value = counts[name]
    if (typeof value === 'number' && value >= 0) usage[name] = value
  }
  return usage
}

const areArtifacts = (value: unknown): value is unknown[] =>
  Array.isArray(value) && Buffer.byteLength(JSON.stringify(value)) <= maxArtifactsBytes && value.every(isObject)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
