import type { Scope } from '../access/acl.ts'
import { ApiError } from '../errors.ts'
import type { Resource } from './resource.ts'
import type { Stored } from './rows.ts'
import { generationOf, getEntity, type Store } from './store.ts'

/** Records as they were within the last second, with what was worked out of them: for requests that need one on the way. */
export type Recent<T> = { get(scope: Scope, id: string): Promise<T> }

type Entry<T> = { value: Promise<T>; askedAt: number; generation: number }

/** A change is seen by every replica within a second, and at once by the one that made it. */
const trustMs = 900
const capacity = 10_000

/** `others`: what is worked out depends on records of these kinds too. */
export function createRecent<T>(
  store: Store,
  derive: (stored: Stored) => T | Promise<T>,
  others: readonly Resource[] = [],
): Recent<T> {
  const entries = new Map<string, Entry<T>>()
  const kinds = [store.resource, ...others]
  const generationNow = (): number => {
    let sum = 0
    for (const kind of kinds) sum += generationOf(kind)
    return sum
  }

  function ask(key: string, scope: Scope, id: string): Promise<T> {
    const generation = generationNow()
    const askedAt = performance.now()
    const value = getEntity(store, scope, id).then(derive)
    const entry = { value, askedAt, generation }
    // That there is none is believed as long as what there is; a failure is not.
    value.catch((error) => isAbsent(error) || (entries.get(key) === entry && entries.delete(key)))
    if (entries.size >= capacity) entries.delete(entries.keys().next().value ?? '')
    entries.delete(key)
    entries.set(key, entry)
    return value
  }

  return {
    get(scope, id) {
      const key = keyOf(scope, id)
      const entry = entries.get(key)
      const isFresh = entry && performance.now() - entry.askedAt < trustMs && entry.generation === generationNow()
      return isFresh ? entry.value : ask(key, scope, id)
    },
  }
}

const isAbsent = (error: unknown): boolean => error instanceof ApiError && error.code === 'not_found'

/** Two callers share an entry only when they reach the same rows; a list of ids is as good as the key that has it. */
function keyOf({ applicationId, ids, ownerId, caller }: Scope, id: string): string {
  return `${applicationId} ${ownerId ?? ''} ${ids === 'any' ? '' : caller.keyHash} ${id}`
}
