/** A map by id that does not retain deleted values. */
export type DetachingMap<T> = {
  readonly size: number
  get(id: string): T | undefined
  set(id: string, value: T): void
  delete(id: string): void
  values(): T[]
}

/**
 * For entries that come and go all the time. V8 replaces the hash table of a Map as it grows and shrinks. Once one of these
 * tables is in the old generation, it keeps all values that it ever held alive until a full garbage collection. So values
 * are wrapped, and the wrapper of a deleted one is emptied.
 */
export function createDetachingMap<T>(): DetachingMap<T> {
  const entries = new Map<string, { value: T | undefined }>()
  return {
    get size() {
      return entries.size
    },
    get: (id) => entries.get(id)?.value,
    set: (id, value) => void entries.set(id, { value }),
    delete(id) {
      const entry = entries.get(id)
      if (!entry) return
      entry.value = undefined
      entries.delete(id)
    },
    values: () => Array.from(entries.values(), ({ value }) => value as T),
  }
}
