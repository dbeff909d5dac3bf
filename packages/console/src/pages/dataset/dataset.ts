/** The dataset of the page, and its number of rows. */
import type { Client, Dataset, JsonObject } from '@graticule/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'

/** The record of the URL's id. Components inside the loaded page use `useDataset`. */
export function useDatasetRecord(): UseQueryResult<Dataset> {
  const client = useClient()
  const { datasetId } = useParams({ from: '/shell/data/$datasetId' })
  return useQuery({
    queryKey: queryKeys.datasets.one(datasetId),
    queryFn: ({ signal }) => client.datasets.get(datasetId, { signal }),
  })
}

/** The loaded record, for the tabs, which the page renders only after loading. */
export function useDataset(): Dataset {
  const { data } = useDatasetRecord()
  if (!data) throw new Error('useDataset is used outside of DatasetPage.')
  return data
}

/** An estimate of the row count, from the record or the database's planner; null if unknown. */
export function useRowEstimate({ id, rowEstimate }: Dataset, isWanted = true): number | null {
  const client = useClient()
  const { data } = useQuery({
    queryKey: queryKeys.datasets.one(id, 'estimate', undefined),
    queryFn: ({ signal }) => estimateRows(client, id, undefined, signal),
    enabled: isWanted && rowEstimate === null,
    staleTime: 60_000,
  })
  return rowEstimate ?? data ?? null
}

/** The planner's estimate; null if there is none. */
export async function estimateRows(
  client: Client,
  datasetId: string,
  where: JsonObject | undefined,
  signal: AbortSignal,
): Promise<number | null> {
  let total: string | null = null
  const onResponse = ({ headers }: Response) => {
    total = headers.get('x-total-count')
  }
  await client.datasets.query(
    datasetId,
    { limit: 0, ...(where && { where }) },
    { count: 'estimated', signal, onResponse },
  )
  return total === null ? null : Number(total)
}

/** The exact count, and how long it took. */
export async function countRows(
  client: Client,
  datasetId: string,
  where: JsonObject | undefined,
  signal?: AbortSignal,
): Promise<{ rows: number; ms: number }> {
  const begun = performance.now()
  const query = { attributes: ['count(*) as rows'], ...(where && { where }) }
  const [row] = await client.datasets.query<{ rows: number | string }>(datasetId, query, { ...(signal && { signal }) })
  return { rows: Number(row?.rows ?? 0), ms: performance.now() - begun }
}

export type DatasetAttribute = Dataset['attributes'][number]

/** The primary key; empty if there is none. */
export const keyOf = ({ attributes }: Dataset): DatasetAttribute[] => attributes.filter(({ primaryKey }) => primaryKey)

/** The first geometry, which the map displays. */
export const geometryOf = ({ attributes }: Dataset): DatasetAttribute | undefined =>
  attributes.find(({ type }) => type === 'geometry')
