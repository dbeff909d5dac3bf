import { type MachineShare, partOf, wholeMachine } from '../../kernel/concurrency/machine-share.ts'
import { createTokenBuckets } from '../../kernel/concurrency/token-buckets.ts'
import { limits } from '../../kernel/limits/limits.ts'

const perSecond = limits.workerConnects.value
const most = 5 * perSecond

/** Rate limit for connects of each key: workers that all reconnect at once must not flood the server. */
export function createConnectRateLimit(share: MachineShare = wholeMachine) {
  const buckets = createTokenBuckets()
  const rate = { perSecond: perSecond / share.count, burst: partOf(most, share) }
  return (keyHash: string): boolean => buckets.take(keyHash, rate) === 0
}
