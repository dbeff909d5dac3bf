// A cache of datasets with what operations on their rows need.
import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { Scope } from '../../api/access/acl.ts'
import { createRecordCache, type RecordCache } from '../../api/resource/record-cache.ts'
import type { BaseServices } from '../../api/resource/resource.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Attributes } from '../../query/values/attribute.ts'
import { attributesOf } from './attribute-dto.ts'
import type { CurrentDataset } from './column-refresh.ts'
import { dataset as datasetResource } from './dataset.ts'
import type { Dataset } from './dataset-record.ts'
import { datasetOf, type FindDatabase } from './find-dataset.ts'
import { narrow } from './rules/narrowing.ts'
import { ownParameters } from './sources.ts'

/** A dataset with everything that operations on its rows need. */
export type CachedDataset = {
  readonly dataset: Dataset
  readonly attributes: Attributes
  /** The names of the dataset's own parameters. */
  readonly parameters: ReadonlySet<string>
}

const maxUnchanged = 10_000

/**
 * A record that is read again and has not changed stays the same object, and what is kept for it (weak maps) stays too. Whoever asks gets what
 * the rules of the dataset leave for the caller: this is where all operations on rows have it from.
 */
export function createDatasetCache(
  services: BaseServices,
  findDatabase: FindDatabase,
  current: CurrentDataset,
): RecordCache<CachedDataset> {
  const last = new LRUCache<string, CachedDataset>({ max: maxUnchanged })
  const whole = createRecordCache({ resource: datasetResource, services }, async (stored): Promise<CachedDataset> => {
    const dataset = await current(await datasetOf(services.db, findDatabase, stored))
    const former = last.get(dataset.id)
    if (former && isDeepStrictEqual(former.dataset, dataset)) return former
    const read = { dataset, attributes: attributesOf(dataset), parameters: ownParameters(dataset) }
    last.set(dataset.id, read)
    return read
  })
  const forCaller = <T extends CachedDataset>(cached: T, { caller }: Scope): T => narrow(cached, caller)
  return {
    get: async (scope, id, notBefore) => forCaller(await whole.get(scope, id, notBefore), scope),
    fresh(scope, id, notBefore) {
      const cached = whole.fresh(scope, id, notBefore)
      return cached && !(cached instanceof ApiError) ? forCaller(cached, scope) : cached
    },
  }
}
