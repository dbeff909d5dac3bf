import { createLoadingCache } from '../../kernel/concurrency/loading-cache.ts'
import { ApiError, isNotFound } from '../../kernel/errors.ts'
import type { Scope } from '../access/acl.ts'
import type { Resource, Store } from './resource.ts'
import type { StoredEntity } from './rows.ts'
import { getWhole } from './store.ts'

/**
 * Cache of records, and of values derived from them, for requests that need one on the way. A change is seen by every
 * replica within a second, and at once by the one that made it.
 */
export type RecordCache<T> = {
  /** `notBefore`, a time of `performance.now()`: a value that was read earlier does not count. */
  get(scope: Scope, id: string, notBefore?: number): Promise<T>
  /** The value if it is cached; the error if it is known that there is none. */
  fresh(scope: Scope, id: string, notBefore?: number): T | ApiError | undefined
}

/** `others`: the derived value depends on records of these resources too. */
export function createRecordCache<T>(
  store: Store,
  derive: (stored: StoredEntity) => T | Promise<T>,
  others: readonly Resource[] = [],
): RecordCache<T> {
  const { generations } = store.services
  const kinds = [store.resource, ...others]
  const generationNow = (): number => {
    let sum = 0
    for (const kind of kinds) sum += generations.of(kind)
    return sum
  }

  const cache = createLoadingCache<T | ApiError>({ generation: generationNow })
  /** Absence is a value, because it is cached as long as presence. */
  async function load(scope: Scope, id: string): Promise<T | ApiError> {
    try {
      return await derive(await getWhole(store, scope, id))
    } catch (error) {
      if (isNotFound(error)) return error
      throw error
    }
  }
  return {
    fresh: (scope, id, notBefore) => cache.fresh(keyOf(scope, id), notBefore),
    async get(scope, id, notBefore) {
      const record = await cache.get(keyOf(scope, id), () => load(scope, id), undefined, notBefore)
      if (record instanceof ApiError) throw record
      return record
    },
  }
}

/** Two callers share an entry only when they reach the same rows; a list of ids is identified by its key. */
function keyOf({ applicationId, ids, ownerId, caller }: Scope, id: string): string {
  return `${applicationId} ${ownerId ?? ''} ${ids === 'any' ? '' : caller.keyHash} ${id}`
}
