/**
 * An LRU cache bounded in bytes and shared by owners. When it is full, the owner that holds most loses what it used longest
 * ago, so that no tenant can evict the entries of the others.
 */
export type FairLruCache<T> = {
  get(owner: string, key: string): T | undefined
  /** An entry larger than the whole cache is not stored and evicts nothing. */
  put(owner: string, key: string, value: T, bytes: number): void
  drop(owner: string, key: string): void
  readonly bytes: number
}

type Entry<T> = { readonly value: T; readonly bytes: number }
type Partition<T> = { readonly entries: Map<string, Entry<T>>; bytes: number }

export function createFairLruCache<T>(maxBytes: number): FairLruCache<T> {
  const partitions = new Map<string, Partition<T>>()
  let total = 0

  function drop(owner: string, key: string): void {
    const partition = partitions.get(owner)
    const entry = partition?.entries.get(key)
    if (!partition || !entry) return
    partition.entries.delete(key)
    partition.bytes -= entry.bytes
    total -= entry.bytes
    if (partition.entries.size === 0) partitions.delete(owner)
  }

  function makeRoom(): void {
    while (total > maxBytes) {
      const [owner, partition] = [...partitions].reduce((most, other) =>
        other[1].bytes > most[1].bytes ? other : most,
      )
      drop(owner, partition.entries.keys().next().value ?? '')
    }
  }

  return {
    get(owner, key) {
      const entries = partitions.get(owner)?.entries
      const entry = entries?.get(key)
      if (!entries || !entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    put(owner, key, value, bytes) {
      drop(owner, key)
      if (bytes > maxBytes) return
      const partition = partitions.get(owner) ?? { entries: new Map(), bytes: 0 }
      partitions.set(owner, partition)
      partition.entries.set(key, { value, bytes })
      partition.bytes += bytes
      total += bytes
      makeRoom()
    },
    drop,
    get bytes() {
      return total
    },
  }
}
