// A size-bounded HTTP cache for answers of web services.

/** A raw answer. It is parsed again for every use, so that its size is known and no caller can modify it. */
export type CachedAnswer = { readonly body: Buffer; readonly contentType: string }

export type RestCache = {
  get(key: string): CachedAnswer | undefined
  set(key: string, answer: CachedAnswer, seconds: number): void
}

const defaultMaxBytes = 64 * 1024 * 1024
const longestSeconds = 300

/** The oldest entries are evicted first. */
export function createRestCache({ maxBytes = defaultMaxBytes, now = () => performance.now() } = {}): RestCache {
  const entries = new Map<string, CachedAnswer & { readonly size: number; readonly until: number }>()
  let bytes = 0
  const remove = (key: string) => {
    bytes -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry && entry.until > now()) return entry
      remove(key)
      return undefined
    },
    set(key, answer, seconds) {
      remove(key)
      // The key and the entry count too, so that a million empty answers are not free.
      const size = answer.body.length + key.length + 500
      if (seconds <= 0 || size > maxBytes) return
      entries.set(key, { ...answer, size, until: now() + seconds * 1_000 })
      bytes += size
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break
        remove(oldest)
      }
    },
  }
}

/** How long an answer may be cached, by its headers. Without Cache-Control: not at all. */
export function cacheSeconds(headers: Readonly<Record<string, string>>): number {
  const control = headers['cache-control'] ?? ''
  if (/(?:^|[\s,])no-(?:store|cache)\b/i.test(control) || headers.vary?.includes('*')) return 0
  const [, digits = '0'] = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(control) ?? []
  const age = Number(/^\d{1,9}$/.exec(headers.age ?? '')?.[0] ?? 0)
  return Math.max(0, Math.min(longestSeconds, Number(digits) - age))
}
