import { type MachineShare, partOf, wholeMachine } from '../concurrency/machine-share.ts'

const perSecond = 10
const most = 50
const maxBuckets = 10_000

/** Rate limit for connects, a token bucket for each key: workers that all reconnect at once must not flood the server. */
export function createConnectRateLimit(
  share: MachineShare = wholeMachine,
  now: () => number = () => performance.now(),
) {
  const burst = partOf(most, share)
  const tokensPerMs = perSecond / share.count / 1_000
  const buckets = new Map<string, { tokens: number; at: number }>()
  return (keyHash: string): boolean => {
    const bucket = buckets.get(keyHash) ?? { tokens: burst, at: now() }
    bucket.tokens = Math.min(burst, bucket.tokens + (now() - bucket.at) * tokensPerMs)
    bucket.at = now()
    if (buckets.size >= maxBuckets) buckets.delete(buckets.keys().next().value ?? '')
    buckets.set(keyHash, bucket)
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}
