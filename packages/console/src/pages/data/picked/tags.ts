/** Changes the tags of several datasets. */
import type { Client, Dataset } from '@graticule/client'
import { saveDataset } from '../../dataset/save-dataset.ts'
import { tagsOf } from '../use-datasets.ts'
import { type EachOutcome, forEachDataset } from './each-dataset.ts'
import { changedTags, type TagChange } from './tag-change.ts'

export const tagDatasets = (
  client: Client,
  datasets: readonly Pick<Dataset, 'id' | 'name'>[],
  change: TagChange,
): Promise<EachOutcome> =>
  forEachDataset(datasets, async ({ id }) => {
    const dataset = await client.datasets.get(id)
    const tags = changedTags(tagsOf(dataset), change)
    if (tags) await saveDataset(client, dataset, { metadata: { ...dataset.metadata, tags } })
  })
