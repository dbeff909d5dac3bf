import type { MachineShare } from '../../kernel/concurrency/machine-share.ts'
import { createTokenBuckets } from '../../kernel/concurrency/token-buckets.ts'
import { overLimit } from '../../kernel/limits/limits.ts'
import type { Caller } from './acl.ts'

/** Counts a request of this weight, or throws 429. */
export type LimitRate = (caller: Caller, weight: number) => void

/** So many times its rate may a key send at once. */
const burst = 2

/**
 * Rate limit of each key, and of each user of a token. `usual` is for all applications, 0 for no limit; an application may have
 * its own. Each worker of a machine allows its part. Master keys are the operator's, and have none.
 */
export function createRateLimit(usual: number, { count }: MachineShare, now?: () => number): LimitRate {
  const buckets = createTokenBuckets(now)
  return (caller, weight) => {
    const perSecond = caller.requestsPerSecond ?? usual
    if (perSecond === 0 || caller.type === 'master') return
    const key = caller.bearer ? `${caller.keyHash} ${caller.bearer.userId}` : caller.keyHash
    // A part that is less than one request would let none through.
    const part = { perSecond: perSecond / count, burst: Math.max((burst * perSecond) / count, weight, 1) }
    const seconds = buckets.take(key, part, weight)
    if (seconds === 0) return
    const detail = `This key may send ${perSecond} requests a second, its limit. Send fewer, or wait for the seconds in the header Retry-After.`
    throw overLimit('requestsPerSecond', perSecond, detail, { headers: { 'Retry-After': String(Math.ceil(seconds)) } })
  }
}
