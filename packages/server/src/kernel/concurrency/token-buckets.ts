/** Rate limits as token buckets, one for each key: a rate, and a burst that may come at once. */
export type TokenBuckets = {
  /** Takes `cost` tokens. Returns 0, or how many seconds it takes until there are as many. */
  take(key: string, rate: Rate, cost?: number): number
}

export type Rate = { readonly perSecond: number; readonly burst: number }

type Bucket = { tokens: number; at: number }

/** The oldest bucket makes room for a new one; its key may then burst again. */
const maxBuckets = 10_000

export function createTokenBuckets(now: () => number = () => performance.now()): TokenBuckets {
  const buckets = new Map<string, Bucket>()

  function bucketOf(key: string, burst: number): Bucket {
    const existing = buckets.get(key)
    if (existing) return existing
    if (buckets.size >= maxBuckets) buckets.delete(buckets.keys().next().value ?? '')
    const bucket = { tokens: burst, at: now() }
    buckets.set(key, bucket)
    return bucket
  }

  return {
    take(key, { perSecond, burst }, cost = 1) {
      const bucket = bucketOf(key, burst)
      const at = now()
      bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.at) * perSecond) / 1_000)
      bucket.at = at
      if (bucket.tokens < cost) return (cost - bucket.tokens) / perSecond
      bucket.tokens -= cost
      return 0
    },
  }
}
