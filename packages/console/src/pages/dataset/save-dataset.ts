/** Saves a dataset with optimistic concurrency (If-Match): a concurrent change is shown, not overwritten. */
import { ApiError, type Client, type Dataset, type DatasetPatch } from '@graticule/client'

export class ConflictError extends Error {
  readonly theirs: Dataset

  constructor(theirs: Dataset) {
    super('Somebody else has changed this dataset meanwhile. Nothing was saved.')
    this.theirs = theirs
  }
}

const preconditionFailed = 412

export async function saveDataset(client: Client, read: Dataset, patch: DatasetPatch): Promise<Dataset> {
  let etag = ''
  const current = await client.datasets.get(read.id, {
    onResponse: ({ headers }) => {
      etag = headers.get('etag') ?? ''
    },
  })
  if (current.updatedAt !== read.updatedAt) throw new ConflictError(current)
  try {
    return await client.datasets.patch(read.id, patch, { ifMatch: etag })
  } catch (error) {
    if (error instanceof ApiError && error.status === preconditionFailed) {
      throw new ConflictError(await client.datasets.get(read.id))
    }
    throw error
  }
}
