import { ApiError } from '../../errors.ts'
import { overLimit, limits as table } from '../../limits/limits.ts'

/** Limits of a tenant's query on the embedded database, whose session and memory all tenants share. */
export type EmbeddedLimits = {
  /** CPU time of the database's thread: on a busy machine a query may do as much as on a quiet one. */
  readonly cpuMs: number
  /** Elapsed time, for a machine so busy that the CPU time would keep everybody else waiting. */
  readonly elapsedMs: number
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
  cpuMs: 10_000,
  elapsedMs: 20_000,
  memoryBytes: 256 * mebibyte,
  temporaryBytes: 256 * mebibyte,
  answerBytes: table.answersHeldBytes.value,
  waiting: table.queriesWaiting.value,
  heavyMs: 2_000,
}

/** Why a query was stopped. */
export type StopReason = 'time' | 'memory' | 'files' | 'answer' | 'left'

const inMegabytes = (bytes: number): string => `${Math.round(bytes / mebibyte)} MB`
const orPostgres = 'or run the server on PostgreSQL'

export function limitError(
  stopped: StopReason,
  limits: EmbeddedLimits,
  { timeoutMs, heldBytes, cause }: { timeoutMs: number; heldBytes: number; cause?: unknown },
): ApiError {
  switch (stopped) {
    case 'time':
      return overLimit('queryTimeoutMs', Math.min(timeoutMs, limits.cpuMs), timeDetail(timeoutMs, limits), {
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

/** Whether the query asked for less time than it may have. */
export const hasShorterTimeout = (timeoutMs: number, { cpuMs }: EmbeddedLimits): boolean => timeoutMs < cpuMs

function timeDetail(timeoutMs: number, limits: EmbeddedLimits): string {
  const { cpuMs, elapsedMs } = limits
  if (hasShorterTimeout(timeoutMs, limits)) {
    return `The query took longer than its timeout of ${timeoutMs} ms and was stopped. Ask for less, or give a longer timeout (at most ${cpuMs} on the embedded database).`
  }
  return `The query took longer than ${cpuMs / 1000} s of CPU time, or ${elapsedMs / 1000} s in all, the limits of the embedded database, and was stopped. Ask for less, ${orPostgres}.`
}

const tooLarge = (what: string, cause: unknown): ApiError =>
  new ApiError(
    'too_large',
    `${what}, the limit of the embedded database, and was stopped. Filter, sort, group or collect fewer rows at once, ${orPostgres}.`,
    { cause },
  )

const answerTooLarge = ({ answerBytes }: EmbeddedLimits): ApiError =>
  new ApiError(
    'too_large',
    `The answer is larger than ${inMegabytes(answerBytes)}, the limit of the embedded database. Ask for it in parts with limit and offset, ${orPostgres}.`,
  )

const tooManyHeld = (heldBytes: number, { answerBytes }: EmbeddedLimits): ApiError =>
  overLimit(
    'answersHeldBytes',
    answerBytes,
    `The answers that this application is reading already take ${inMegabytes(heldBytes)} of the ${inMegabytes(answerBytes)} it may take. Read them to their end first.`,
    { headers: { 'Retry-After': '2' } },
  )
