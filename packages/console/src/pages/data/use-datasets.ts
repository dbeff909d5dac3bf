/** Queries of the dataset list: pages, total count, tags and extents. */
import type { Client, Dataset } from '@graticule/client'
import { keepPreviousData, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { type DataSearch, listParams } from './data-search.ts'
import type { ThumbnailExtent } from './extent-thumbnail.tsx'

const fields = [
  'id',
  'name',
  'type',
  'source',
  'createdAt',
  'description',
  'attributes',
  'bytes',
  'rowEstimate',
  'metadata',
  'updatedAt',
] as const

export type ListedDataset = Pick<Dataset, (typeof fields)[number]>

const pageSize = 50

interface ListPage {
  rows: ListedDataset[]
  total: number
}

export function useDatasets(search: DataSearch) {
  const client = useClient()
  const params = listParams(search)
  return useInfiniteQuery({
    queryKey: queryKeys.datasets.listWith(params),
    queryFn: ({ pageParam, signal }) => fetchPage(client, { ...params, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const shown = pages.reduce((sum, { rows }) => sum + rows.length, 0)
      return shown < last.total && last.rows.length > 0 ? shown : undefined
    },
    placeholderData: keepPreviousData,
  })
}

async function fetchPage(
  client: Client,
  params: ReturnType<typeof listParams>,
  signal: AbortSignal,
): Promise<ListPage> {
  let total = 0
  const rows = await client.datasets.list({
    ...params,
    fields: [...fields],
    limit: pageSize,
    signal,
    onResponse: ({ headers }) => {
      total = Number(headers.get('x-total-count'))
    },
  })
  return { rows, total }
}

/** The number of datasets without any filter. */
export function useDatasetCount(): number | undefined {
  const client = useClient()
  const { data } = useQuery({
    queryKey: queryKeys.datasets.part('count'),
    queryFn: async ({ signal }) => {
      let total = 0
      await client.datasets.list({
        fields: ['id'],
        limit: 1,
        signal,
        onResponse: ({ headers }) => {
          total = Number(headers.get('x-total-count'))
        },
      })
      return total
    },
  })
  return data
}

export interface TagCount {
  name: string
  /** How many datasets have it. */
  count: number
}

/** All tags, sorted by name. */
export function useTags(): TagCount[] {
  const client = useClient()
  const { data = [] } = useQuery({
    queryKey: queryKeys.datasets.part('tags'),
    queryFn: async ({ signal }) => {
      const filter = { metadata: { $contains: { tags: [] } } }
      const tagged = await client.datasets.list({ filter, fields: ['metadata'], limit: 1000, signal })
      return countTags(tagged.map(tagsOf))
    },
  })
  return data
}

function countTags(tags: readonly (readonly string[])[]): TagCount[] {
  const byName = Map.groupBy(
    tags.flatMap((some) => [...new Set(some)]),
    (name) => name,
  )
  const counts = [...byName].map(([name, { length: count }]) => ({ name, count }))
  return counts.toSorted((a, b) => a.name.localeCompare(b.name))
}

export function tagsOf({ metadata: { tags } }: Pick<Dataset, 'metadata'>): string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
}

export interface TilesOfDataset {
  id: string
  extent: ThumbnailExtent
}

/** The tile source of each dataset, queried page by page, so that URLs stay short. */
export function useTileSources(pages: readonly ListPage[], isAllowed: boolean): ReadonlyMap<string, TilesOfDataset> {
  const client = useClient()
  const results = useQueries({
    queries: pages.map(({ rows }) => {
      const ids = rows.map(({ id }) => id)
      return {
        queryKey: queryKeys.tilesources.part('of-datasets', ids),
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          client.tileSources.list({
            filter: { type: 'dataset', source: { $in: ids } },
            fields: ['id', 'source', 'extentLngLat'],
            signal,
          }),
        enabled: isAllowed && ids.length > 0,
        placeholderData: keepPreviousData,
      }
    }),
  })
  const sources = results.flatMap(({ data = [] }) => data)
  return new Map(sources.map(({ id, source, extentLngLat }) => [source, { id, extent: extentLngLat }]))
}
