/**
 * Every limit that a request can be refused for: its value or setting, its code, and where it is counted. One table in parts by what is
 * limited, because a file holds 300 lines: a new limit goes into the file of its subject. The page docs/limits.md is generated from
 * the table, `overLimit` makes the answers, and limits.test.ts goes over each.
 */

import { ApiError, type ErrorCode, faulty } from '../errors.ts'
import { accessLimits } from './access-limits.ts'
import { agentLimits } from './agent-limits.ts'
import { dataLimits } from './data-limits.ts'
import { messageLimits } from './message-limits.ts'
import { requestLimits } from './request-limits.ts'

export const limits = {
  ...requestLimits,
  ...accessLimits,
  ...dataLimits,
  ...messageLimits,
  ...agentLimits,
} as const

export type LimitName = keyof typeof limits

/** Those whose excess is answered with an error. */
export type RefusingLimit = {
  [name in LimitName]: (typeof limits)[name]['code'] extends ErrorCode ? name : never
}[LimitName]

/** The limits that one application may have differently. */
export const applicationLimitNames = [
  'applicationConnections',
  'messagesPerMinute',
  'queriesAtOnce',
  'requestsPerSecond',
  'sessionsPerUser',
  'storageBytes',
  'unfinishedUploads',
  'uploadsPerHour',
] as const

/** Those of an application that differ from the installation's. */
export type ApplicationLimits = { readonly [name in (typeof applicationLimitNames)[number]]?: number }

/** The members of an answer that name the limit that was exceeded. */
export type ExceededLimit = { readonly limit: number; readonly limitName: LimitName }

type Options = {
  /** The place of the fault, in requests that are wrong whoever sends them. */
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly cause?: unknown
}

/** The answer to whoever is over a limit: its code, and the limit in `limit` and `limitName`. */
export function overLimit(name: RefusingLimit, limit: number, detail: string, options: Options = {}): ApiError {
  const { path, ...rest } = options
  const { code } = limits[name]
  const extensions: ExceededLimit = { limit, limitName: name }
  if (path === undefined) return new ApiError(code, detail, { ...rest, extensions })
  return faulty([{ path, code: 'invalid', message: detail }], code, extensions)
}
