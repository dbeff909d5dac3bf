import { type MachineShare, partOf, wholeMachine } from '../concurrency/machine-share.ts'
import { createTokenBuckets } from '../concurrency/token-buckets.ts'

const perSecond = 10
const most = 50

/** Rate limit for connects of each key: workers that all reconnect at once must not flood the server. */
export function createConnectRateLimit(share: MachineShare = wholeMachine) {
  const buckets = createTokenBuckets()
  const rate = { perSecond: perSecond / share.count, burst: partOf(most, share) }
  return (keyHash: string): boolean => buckets.take(keyHash, rate) === 0
}
