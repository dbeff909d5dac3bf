/** What a limit of `limits.ts` says: its value or setting, its code, and where it is counted. */

import type { ErrorCode } from '../errors.ts'
import type { Config } from '../settings/config.ts'

/**
 * Where a limit is counted. `request`: each request alone. `process`: each worker. `machine`: all workers of a machine, each of
 * which has a part. `installation`: all replicas together.
 */
export type CountedIn = 'request' | 'process' | 'machine' | 'installation'

/** Whose requests are counted together. */
export type CountedFor = 'application' | 'key' | 'user' | 'agent' | 'address' | 'connection' | 'everybody'

export type Limit = {
  readonly what: string
  readonly unit?: 'bytes' | 'ms' | 'per second' | 'per minute' | 'per 15 min' | 'per hour'
  /** Of the answer; or what happens instead of a refusal. */
  readonly code: ErrorCode | { readonly instead: string }
  readonly countedIn: CountedIn
  /** Absent where each request counts alone. */
  readonly countedFor?: CountedFor
  /** An operator may give an application another value, in `limits` of its record. */
  readonly isPerApplication?: true
} & (
  | { readonly value: number }
  | {
      /** Its default is the limit's. */
      readonly setting: keyof Config
    }
)
