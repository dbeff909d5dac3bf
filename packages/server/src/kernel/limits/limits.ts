/**
 * Every limit that a request can be refused for: its value or setting, its code, and where it is counted. The page
 * docs/limits.md is generated from this table, `overLimit` makes the answers, and limits.test.ts goes over each.
 */

import { ApiError, type ErrorCode, faulty } from '../errors.ts'
import { dataLimits } from './data-limits.ts'
import type { Limit } from './limit.ts'
import { requestLimits } from './request-limits.ts'

export const limits = {
  ...requestLimits,
  connections: {
    what: 'Open connections of clients',
    setting: 'MAX_CONNECTIONS',
    code: 'unavailable',
    countedIn: 'machine',
    countedFor: 'everybody',
  },
  applicationConnections: {
    what: 'Open connections; at most three quarters of all',
    setting: 'CONNECTIONS_PER_APPLICATION',
    code: 'busy',
    countedIn: 'machine',
    countedFor: 'application',
    isPerApplication: true,
  },
  requestsPerConnection: {
    what: 'Requests over a connection',
    setting: 'REQUESTS_PER_CONNECTION',
    countedIn: 'process',
    code: { instead: 'the last answer says `Connection: close`' },
    countedFor: 'connection',
  },
  requestsPerSecond: {
    what: 'Requests of a key; a tile counts a fifth, a query of a dataset four',
    unit: 'per second',
    setting: 'REQUESTS_PER_SECOND',
    code: 'rate_limited',
    countedIn: 'machine',
    countedFor: 'key',
    isPerApplication: true,
  },
  loginFailures: {
    what: 'Failed logins of an account from an address; of an account in all, 50',
    value: 10,
    unit: 'per 15 min',
    code: 'rate_limited',
    countedIn: 'installation',
    countedFor: 'address',
  },
  addressFailures: {
    what: 'Failed logins of an application from an address; of all, 5 000',
    value: 100,
    unit: 'per 15 min',
    code: 'rate_limited',
    countedIn: 'installation',
    countedFor: 'address',
  },
  signups: {
    what: 'Sign-ups of an application from an address; of all, 50 times as many',
    setting: 'SIGNUPS_PER_HOUR',
    unit: 'per hour',
    code: 'rate_limited',
    countedIn: 'installation',
    countedFor: 'address',
  },
  resetMails: {
    what: 'Mails to replace a forgotten password',
    value: 3,
    unit: 'per hour',
    code: { instead: 'no mail, and the same answer' },
    countedIn: 'installation',
    countedFor: 'user',
  },
  sessionsPerUser: {
    what: 'Sessions, each with its refresh token',
    setting: 'SESSIONS_PER_USER',
    code: { instead: 'the oldest ends' },
    countedIn: 'installation',
    countedFor: 'user',
    isPerApplication: true,
  },
  passwordsWaiting: {
    what: 'Passwords that wait to be checked; of one application at most as many as are left for others',
    value: 500,
    code: 'busy',
    countedIn: 'process',
    countedFor: 'everybody',
  },
  ...dataLimits,
  messagesPerMinute: {
    what: 'Messages to contact points',
    setting: 'MESSAGES_PER_MINUTE',
    unit: 'per minute',
    code: 'rate_limited',
    countedIn: 'installation',
    countedFor: 'application',
    isPerApplication: true,
  },
  messagesWaiting: {
    what: 'Messages to contact points that wait to be sent',
    value: 10_000,
    code: 'busy',
    countedIn: 'installation',
    countedFor: 'application',
  },
  contactPointBindings: {
    what: 'Datasets whose changes a contact point is told of',
    value: 20,
    code: 'invalid_request',
    countedIn: 'request',
  },
  bindings: {
    what: 'Datasets whose changes its contact points are told of, all added up',
    value: 1_000,
    code: 'conflict',
    countedIn: 'installation',
    countedFor: 'application',
  },
  agentInputBytes: {
    what: 'Input of an agent',
    setting: 'AGENT_INPUT_BYTES',
    unit: 'bytes',
    code: 'input_too_large',
    countedIn: 'request',
  },
  agentInvocations: {
    what: 'Invocations of an agent that has `maxConcurrency`',
    value: 0,
    code: 'agent_busy',
    countedIn: 'installation',
    countedFor: 'agent',
  },
  bridgeCalls: {
    what: 'Invocations that the server’s bridges answer',
    setting: 'AGENT_BRIDGE_CALLS_PER_APPLICATION',
    code: 'agent_busy',
    countedIn: 'machine',
    countedFor: 'application',
  },
  workerConnects: {
    what: 'Workers that connect with a key; five times as many at once',
    value: 10,
    unit: 'per second',
    code: 'busy',
    countedIn: 'machine',
    countedFor: 'key',
  },
  agentWorkers: {
    what: 'Workers of an agent',
    setting: 'AGENT_WORKERS',
    code: 'busy',
    countedIn: 'installation',
    countedFor: 'agent',
  },
  applicationWorkers: {
    what: 'Workers of all agents',
    setting: 'AGENT_WORKERS_PER_APPLICATION',
    code: 'busy',
    countedIn: 'machine',
    countedFor: 'application',
  },
} as const satisfies Record<string, Limit>

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
