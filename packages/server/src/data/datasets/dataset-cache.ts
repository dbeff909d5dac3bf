// A cache of datasets with what operations on their rows need.

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

export function createDatasetCache(
  services: BaseServices,
  findDatabase: FindDatabase,
  current: CurrentDataset,
): RecordCache<CachedDataset> {
  return createRecordCache({ resource: datasetResource, services }, async (stored): Promise<CachedDataset> => {
    const dataset = await current(await datasetOf(services.db, findDatabase, stored))
    return { dataset, attributes: attributesOf(dataset), parameters: ownParameters(dataset) }
  })
}
