/** Changes the tags of several datasets. */
import type { Client, Dataset } from '@graticule/client'
import { saveDataset } from '../../dataset/save-dataset.ts'
import { tagsOf } from '../use-datasets.ts'
import { changedTags, type TagChange } from './tag-change.ts'

/** Those that failed, with the reason; the others are saved. */
export interface TaggedDatasets {
  saved: number
  failures: { name: string; error: unknown }[]
}

export async function tagDatasets(
  client: Client,
  datasets: readonly Pick<Dataset, 'id' | 'name'>[],
  change: TagChange,
): Promise<TaggedDatasets> {
  const tagged: TaggedDatasets = { saved: 0, failures: [] }
  for (const { id, name } of datasets) {
    try {
      const dataset = await client.datasets.get(id)
      const tags = changedTags(tagsOf(dataset), change)
      if (tags) await saveDataset(client, dataset, { metadata: { ...dataset.metadata, tags } })
      tagged.saved += 1
    } catch (error) {
      tagged.failures.push({ name, error })
    }
  }
  return tagged
}
