// A cache of datasets with what operations on their rows need.
import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import { createRecordCache, type RecordCache } from '../../api/resource/record-cache.ts'
import type { BaseServices } from '../../api/resource/resource.ts'
import type { Attributes } from '../../query/values/attribute.ts'
import { attributesOf } from './attribute-dto.ts'
import type { CurrentDataset } from './column-refresh.ts'
import { dataset as datasetResource } from './dataset.ts'
import type { Dataset } from './dataset-record.ts'
import { datasetOf, type FindDatabase } from './find-dataset.ts'
import { ownParameters } from './sources.ts'

/** A dataset with everything that operations on its rows need. */
export type CachedDataset = {
  readonly dataset: Dataset
  readonly attributes: Attributes
  /** The names of the dataset's own parameters. */
  readonly parameters: ReadonlySet<string>
}

const maxUnchanged = 10_000

/** A record that is read again and has not changed stays the same object, and what is kept for it (weak maps) stays too. */
export function createDatasetCache(
  services: BaseServices,
  findDatabase: FindDatabase,
  current: CurrentDataset,
): RecordCache<CachedDataset> {
  const last = new LRUCache<string, CachedDataset>({ max: maxUnchanged })
  return createRecordCache({ resource: datasetResource, services }, async (stored): Promise<CachedDataset> => {
    const dataset = await current(await datasetOf(services.db, findDatabase, stored))
    const former = last.get(dataset.id)
    if (former && isDeepStrictEqual(former.dataset, dataset)) return former
    const read = { dataset, attributes: attributesOf(dataset), parameters: ownParameters(dataset) }
    last.set(dataset.id, read)
    return read
  })
}
