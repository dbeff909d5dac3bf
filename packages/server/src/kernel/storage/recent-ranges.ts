/**
 * The ranges of a file that were read a moment ago, each with the digest of its bytes. The page cache still has them, so
 * reading one again takes microseconds and may be done synchronously: a thread of libuv costs ten times as much. A read
 * that turns out slow shows that the page cache is short of memory: then all ranges are forgotten.
 */
export type RecentRanges = {
  has(offset: number): boolean
  /** The digest, computed once. */
  digest(offset: number, compute: () => string): string
  note(offset: number): void
  forget(): void
}

/** A range is forgotten after one to two of these. */
const generationMs = 30_000
/** In each of two generations; an entry takes about 100 bytes. */
const maxRanges = 5_000

export function createRecentRanges(now: () => number = () => performance.now()): RecentRanges {
  let current = new Map<number, string>()
  let previous = new Map<number, string>()
  let begunAt = now()

  function turn(): void {
    if (now() - begunAt < generationMs && current.size < maxRanges) return
    previous = now() - begunAt < 2 * generationMs ? current : new Map()
    current = new Map()
    begunAt = now()
  }

  return {
    has(offset) {
      turn()
      return current.has(offset) || previous.has(offset)
    },
    digest(offset, compute) {
      const digest = current.get(offset) || previous.get(offset) || compute()
      current.set(offset, digest)
      return digest
    },
    note(offset) {
      turn()
      current.set(offset, current.get(offset) || previous.get(offset) || '')
    },
    forget() {
      current.clear()
      previous.clear()
    },
  }
}
