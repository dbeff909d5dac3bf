/** Reads and writes one row with optimistic concurrency (If-Match): a concurrent change is shown, not overwritten. */
import { ApiError, type Client, type Dataset, type RowKey } from '@graticule/client'
import { keyOf } from '../dataset.ts'
import { fetchAuthorized } from '../fetch-authorized.ts'
import type { RowId } from '../table/selection.ts'
import { parseExact } from './exact-json.ts'
import type { EditedRow } from './row-draft.ts'

/** A row as it is stored, and the tag of that state. */
export interface StoredRow {
  row: EditedRow
  etag: string
}

const rowKey = (dataset: Dataset, id: RowId): RowKey =>
  keyOf(dataset).length === 1 ? id : (JSON.parse(String(id)) as RowKey)

/** Read as text, because the client's parser rounds numbers inside JSON and lists. */
export async function readRow(client: Client, dataset: Dataset, id: RowId, signal?: AbortSignal): Promise<StoredRow> {
  const key = [rowKey(dataset, id)].flat().map(encodeURIComponent).join(',')
  const init = { headers: { accept: 'application/json' }, ...(signal && { signal }) }
  const response = await fetchAuthorized(client, `api/v1/datasets/${dataset.id}/rows/${key}`, init)
  const row = parseExact(await response.text()) as EditedRow
  return { row, etag: response.headers.get('etag') ?? '' }
}

export class RowConflict extends Error {
  /** Null: it was deleted. */
  readonly theirs: StoredRow | null

  constructor(theirs: StoredRow | null) {
    super('Somebody else has changed this row meanwhile. Nothing was saved.')
    this.theirs = theirs
  }
}

const hasStatus = (error: unknown, status: number): boolean => error instanceof ApiError && error.status === status

/** Changes the given columns if the row is as it was read. */
export async function saveRow(
  client: Client,
  dataset: Dataset,
  id: RowId,
  { etag, values }: { etag: string; values: object },
): Promise<void> {
  try {
    await client.datasets.changeRow(dataset.id, rowKey(dataset, id), values, { ifMatch: etag })
  } catch (error) {
    if (!hasStatus(error, 412)) throw error
    throw new RowConflict(await readIfThere(client, dataset, id))
  }
}

async function readIfThere(client: Client, dataset: Dataset, id: RowId): Promise<StoredRow | null> {
  try {
    return await readRow(client, dataset, id)
  } catch (error) {
    if (hasStatus(error, 404)) return null
    throw error
  }
}
