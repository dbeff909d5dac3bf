const perSecond = 10
const burst = 50
const capacity = 10_000

/** How often a key may connect: a storm of workers must not become one of connections. */
export function createUpgradeRate(now: () => number = () => performance.now()) {
  const buckets = new Map<string, { left: number; at: number }>()
  return (keyHash: string): boolean => {
    const bucket = buckets.get(keyHash) ?? { left: burst, at: now() }
    bucket.left = Math.min(burst, bucket.left + ((now() - bucket.at) / 1_000) * perSecond)
    bucket.at = now()
    if (buckets.size >= capacity) buckets.delete(buckets.keys().next().value ?? '')
    buckets.set(keyHash, bucket)
    if (bucket.left < 1) return false
    bucket.left -= 1
    return true
  }
}
