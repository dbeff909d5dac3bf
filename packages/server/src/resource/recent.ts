import type { Scope } from '../access/acl.ts'
import { generationOf, getEntity, type Store, type Stored } from './store.ts'

/** Records as they were within the last second, with what was worked out of them: for requests that need one on the way. */
export type Recent<T> = { get(scope: Scope, id: string): Promise<T> }

type Entry<T> = { value: Promise<T>; askedAt: number; generation: number }

/** A change is seen by every replica within a second, and at once by the one that made it. */
const trustMs = 900
const capacity = 10_000

export function createRecent<T>(store: Store, derive: (stored: Stored) => T | Promise<T>): Recent<T> {
  const entries = new Map<string, Entry<T>>()

  function ask(key: string, scope: Scope, id: string): Promise<T> {
    const generation = generationOf(store.resource)
    const askedAt = performance.now()
    const value = getEntity(store, scope, id).then(derive)
    const entry = { value, askedAt, generation }
    // What is absent now may be there in a moment.
    value.catch(() => entries.get(key) === entry && entries.delete(key))
    if (entries.size >= capacity) entries.delete(entries.keys().next().value ?? '')
    entries.delete(key)
    entries.set(key, entry)
    return value
  }

  return {
    get(scope, id) {
      const key = keyOf(scope, id)
      const entry = entries.get(key)
      const isFresh =
        entry && performance.now() - entry.askedAt < trustMs && entry.generation === generationOf(store.resource)
      return isFresh ? entry.value : ask(key, scope, id)
    },
  }
}

/** Two callers share an entry only when they reach the same rows; a list of ids is as good as the key that has it. */
function keyOf({ applicationId, ids, ownerId, caller }: Scope, id: string): string {
  return `${applicationId} ${ownerId ?? ''} ${ids === 'any' ? '' : caller.keyId} ${id}`
}
