import { ApiError } from '../errors.ts'
import { overLimit, limits as table } from '../limits.ts'

/** Limits of a tenant's query on the embedded database, whose session and memory all tenants share. */
export type EmbeddedLimits = {
  readonly timeMs: number
  readonly memoryBytes: number
  /** Temporary files, for sorting, grouping and joining. */
  readonly temporaryBytes: number
  /** Spooled answers on disk, for each tenant. */
  readonly answerBytes: number
  /** Queued queries, for each tenant. */
  readonly waiting: number
  /** Of the session lately: a tenant that used more of it waits until the platform asks nothing for a moment. */
  readonly heavyMs: number
}

const mebibyte = 1024 * 1024

export const defaultLimits: EmbeddedLimits = {
  timeMs: 10_000,
  memoryBytes: 256 * mebibyte,
  temporaryBytes: 256 * mebibyte,
  answerBytes: table.answersHeldBytes.value,
  waiting: table.queriesWaiting.value,
  heavyMs: 2_000,
}

/** Why a query was stopped. */
export type Stopped = 'time' | 'memory' | 'files' | 'answer' | 'left'

const inMegabytes = (bytes: number): string => `${Math.round(bytes / mebibyte)} MB`
const elsewhere = 'or run the server on PostgreSQL'

export function limitError(
  stopped: Stopped,
  limits: EmbeddedLimits,
  { timeoutMs, heldBytes, cause }: { timeoutMs: number; heldBytes: number; cause?: unknown },
): ApiError {
  switch (stopped) {
    case 'time':
      return overLimit('queryTimeoutMs', Math.min(timeoutMs, limits.timeMs), timeDetail(timeoutMs, limits.timeMs), {
        cause,
      })
    case 'memory':
      return tooLarge(`The query needed more than ${inMegabytes(limits.memoryBytes)} of memory`, cause)
    case 'files':
      return tooLarge(`The query needed more than ${inMegabytes(limits.temporaryBytes)} of temporary files`, cause)
    case 'answer':
      return heldBytes > 0 ? tooManyHeld(heldBytes, limits) : answerTooLarge(limits)
    case 'left':
      return new ApiError('client_left', 'The client closed the connection.', { cause })
  }
}

function timeDetail(timeoutMs: number, limitMs: number): string {
  if (timeoutMs >= limitMs) {
    return `The query took longer than ${limitMs / 1000} s, the limit of the embedded database, and was stopped. Ask for less, ${elsewhere}.`
  }
  return `The query took longer than its timeout of ${timeoutMs} ms and was stopped. Ask for less, or give a longer timeout (at most ${limitMs} on the embedded database).`
}

const tooLarge = (what: string, cause: unknown): ApiError =>
  new ApiError(
    'too_large',
    `${what}, the limit of the embedded database, and was stopped. Filter, sort, group or collect fewer rows at once, ${elsewhere}.`,
    { cause },
  )

const answerTooLarge = ({ answerBytes }: EmbeddedLimits): ApiError =>
  new ApiError(
    'too_large',
    `The answer is larger than ${inMegabytes(answerBytes)}, the limit of the embedded database. Ask for it in parts with limit and offset, ${elsewhere}.`,
  )

const tooManyHeld = (heldBytes: number, { answerBytes }: EmbeddedLimits): ApiError =>
  overLimit(
    'answersHeldBytes',
    answerBytes,
    `The answers that this application is reading already take ${inMegabytes(heldBytes)} of the ${inMegabytes(answerBytes)} it may take. Read them to their end first.`,
    { headers: { 'Retry-After': '2' } },
  )
