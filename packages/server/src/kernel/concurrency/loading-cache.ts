import { LRUCache } from 'lru-cache'

/**
 * A loading cache with a short time to live: an LRU cache whose entries are loaded when they are asked for, single-flight,
 * and trusted for less than a second. So a change is seen on every replica within a second, whatever happens to the links
 * between them, and at once where `forget` is called.
 */
export type LoadingCache<V> = {
  /**
   * The value, if it is there and fresh: without a promise, for requests by the thousand. `notBefore`, a time of
   * `performance.now()`: a value that was loaded earlier does not count.
   */
  fresh(key: string, notBefore?: number): V | undefined
  /** The value, loaded unless one that is younger than `maxAgeMs` is there or under way. */
  get(key: string, load: () => Promise<V>, maxAgeMs?: number, notBefore?: number): Promise<V>
  /** The value that is there, however old. */
  last(key: string): V | undefined
  forget(key: string): void
  /** Forgets what is meant, and all that is still being loaded: the answer may be older than the change. */
  forgetWhere(isMeant: (value: V) => boolean): void
}

export type LoadingCacheOptions<V> = {
  readonly ttlMs?: number
  readonly max?: number
  /** Values that are not kept are loaded anew for whoever asks next, as failures are. */
  keeps?(value: V): boolean
  /** An entry loaded under another generation is stale. */
  generation?(): number
}

type Entry<V> = { readonly loading: Promise<V>; readonly askedAt: number; readonly generation: number; value?: V }

/** Less than the second that is promised, by what the question and its answer may take. */
const usualTtlMs = 900
const usualMax = 10_000

export function createLoadingCache<V>(options: LoadingCacheOptions<V> = {}): LoadingCache<V> {
  const { ttlMs = usualTtlMs, max = usualMax, generation = () => 0, keeps = () => true } = options
  const entries = new LRUCache<string, Entry<V>>({ max })

  function load(key: string, from: () => Promise<V>): Promise<V> {
    // The clock starts before the question is asked, or an answer could be trusted for longer than it is true.
    const askedAt = performance.now()
    const entry: Entry<V> = { generation: generation(), askedAt, loading: from() }
    const drop = (): void => void (entries.peek(key) === entry && entries.delete(key))
    entry.loading.then((value) => {
      if (keeps(value)) entry.value = value
      else drop()
    }, drop)
    entries.set(key, entry)
    return entry.loading
  }

  function freshEntry(key: string, maxAgeMs: number, notBefore = 0): Entry<V> | undefined {
    const entry = entries.get(key)
    if (!entry || entry.askedAt < notBefore || performance.now() - entry.askedAt >= maxAgeMs) return undefined
    return entry.generation === generation() ? entry : undefined
  }

  return {
    fresh: (key, notBefore) => freshEntry(key, ttlMs, notBefore)?.value,
    get: (key, from, maxAgeMs = ttlMs, notBefore = 0) =>
      freshEntry(key, maxAgeMs, notBefore)?.loading ?? load(key, from),
    last: (key) => entries.peek(key)?.value,
    forget: (key) => void entries.delete(key),
    forgetWhere(isMeant) {
      for (const [key, { value }] of [...entries.entries()]) {
        if (value === undefined || isMeant(value)) entries.delete(key)
      }
    },
  }
}
