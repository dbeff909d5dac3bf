import { LRUCache } from 'lru-cache'

/**
 * A loading cache, single-flight, of what providers publish about themselves. A provider that fails is asked again after `retryMs` at the
 * earliest, whoever waits, and what it said before counts until `staleMs`: requests cost it and us a bounded number of fetches.
 */
export type PublishedCache<V> = {
  /** `maxAgeMs`: a value that is older is loaded again; by default `ttlMs`. */
  get(key: string, load: () => Promise<V>, maxAgeMs?: number): Promise<V>
}

type CacheOptions = {
  readonly ttlMs: number
  readonly staleMs: number
  readonly retryMs: number
  readonly max: number
}

type Dated<V> = { readonly value: V; readonly at: number }
type Entry<V> = { loading: Promise<V>; readonly askedAt: number; hasFailed: boolean; last: Dated<V> | undefined }

export function createPublishedCache<V>({ ttlMs, staleMs, retryMs, max }: CacheOptions): PublishedCache<V> {
  const entries = new LRUCache<string, Entry<V>>({ max })

  function load(key: string, from: () => Promise<V>, previous: Dated<V> | undefined): Promise<V> {
    const askedAt = performance.now()
    const settle = (value: V): V => {
      entry.last = { value, at: askedAt }
      return value
    }
    const fail = (error: unknown): V => {
      entry.hasFailed = true
      if (!previous || askedAt - previous.at >= staleMs) throw error
      entry.last = previous
      return previous.value
    }
    const entry: Entry<V> = { loading: from().then(settle, fail), askedAt, hasFailed: false, last: undefined }
    // Whoever waits gets the error from the promise; without a handler of its own it would end the process if nobody does.
    entry.loading.catch(() => {})
    entries.set(key, entry)
    return entry.loading
  }

  return {
    get(key, from, maxAgeMs = ttlMs) {
      const entry = entries.get(key)
      const age = entry ? performance.now() - entry.askedAt : Number.POSITIVE_INFINITY
      if (entry && age < (entry.hasFailed ? retryMs : maxAgeMs)) return entry.loading
      return load(key, from, entry?.last)
    },
  }
}
