import type { Scope } from '../access/acl.ts'
import { createLoadingCache } from '../concurrency/loading-cache.ts'
import { ApiError } from '../errors.ts'
import type { Resource, Store } from './resource.ts'
import type { Stored } from './rows.ts'
import { getEntity } from './store.ts'

/**
 * Cache of records, and of values derived from them, for requests that need one on the way. A change is seen by every
 * replica within a second, and at once by the one that made it.
 */
export type RecordCache<T> = { get(scope: Scope, id: string): Promise<T> }

/** `others`: the derived value depends on records of these resources too. */
export function createRecordCache<T>(
  store: Store,
  derive: (stored: Stored) => T | Promise<T>,
  others: readonly Resource[] = [],
): RecordCache<T> {
  const { generations } = store.services
  const kinds = [store.resource, ...others]
  const generationNow = (): number => {
    let sum = 0
    for (const kind of kinds) sum += generations.of(kind)
    return sum
  }

  // Absence is cached as long as presence.
  const cache = createLoadingCache<T>({ generation: generationNow, keepsFailure: isAbsent })
  return {
    get: (scope, id) => cache.get(keyOf(scope, id), async () => derive(await getEntity(store, scope, id))),
  }
}

const isAbsent = (error: unknown): boolean => error instanceof ApiError && error.code === 'not_found'

/** Two callers share an entry only when they reach the same rows; a list of ids is identified by its key. */
function keyOf({ applicationId, ids, ownerId, caller }: Scope, id: string): string {
  return `${applicationId} ${ownerId ?? ''} ${ids === 'any' ? '' : caller.keyHash} ${id}`
}
