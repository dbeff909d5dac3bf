/** The queries of the home page. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useMay } from '../../session/session.tsx'
import { type DatasetExtent, maxOnMap, unionOf } from './map-dataset.ts'

/** The datasets changed last, and the total count. */
export function useRecentDatasets() {
  const client = useClient()
  const params = { sort: ['-updatedAt', 'id'], limit: maxOnMap }
  return useQuery({
    queryKey: queryKeys.datasets.listWith(params),
    queryFn: ({ signal }) => counted((onResponse) => client.datasets.list({ ...params, signal, onResponse })),
  })
}

async function counted<Row>(list: (onResponse: (response: Response) => void) => Promise<Row[]>) {
  let total = 0
  const rows = await list(({ headers }) => {
    total = Number(headers.get('x-total-count') ?? 0)
  })
  return { rows, total: Math.max(total, rows.length) }
}

const quietMs = 10_000

export function useAgents() {
  const client = useClient()
  const may = useMay()
  return useQuery({
    queryKey: queryKeys.agents.listWith({}),
    queryFn: ({ signal }) => client.agents.list({ signal }),
    enabled: may('agents', 'read'),
    refetchInterval: quietMs,
  })
}

export function useTileSourceCount() {
  const client = useClient()
  const may = useMay()
  return useQuery({
    queryKey: queryKeys.tilesources.part('count'),
    queryFn: async ({ signal }) =>
      (await counted((onResponse) => client.tileSources.list({ fields: ['id'], limit: 1, signal, onResponse }))).total,
    enabled: may('tiles', 'read'),
  })
}

export function useHealth() {
  const client = useClient()
  return useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => client.server.health({ signal }),
    refetchInterval: 30_000,
  })
}

export interface Extents {
  /** The bounding box of some of the datasets. */
  extentOf(ids: readonly string[]): DatasetExtent | undefined
  /** All requests have finished. */
  isKnown: boolean
  /** The datasets that have tiles. */
  drawable: ReadonlySet<string>
  /** The errors of the others. */
  failures: ReadonlyMap<string, Error>
}

/** Reads the TileJSON of each dataset for its extent, and whether it can be drawn at all. */
export function useExtents(ids: readonly string[]): Extents {
  const client = useClient()
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: queryKeys.tilesources.one(id, 'tilejson'),
      queryFn: ({ signal }: { signal: AbortSignal }) => client.tiles.describe<{ bounds?: number[] }>(id, { signal }),
      staleTime: 60_000,
    })),
    combine: (answers) => ({
      extentOf: (some) => unionOf(some.map((id) => answers[ids.indexOf(id)]?.data?.bounds)),
      isKnown: answers.every(({ isPending }) => !isPending),
      drawable: new Set(ids.filter((_, index) => answers[index]?.data)),
      failures: new Map(
        ids.flatMap((id, index) => {
          const error = answers[index]?.error
          return error ? [[id, error] as const] : []
        }),
      ),
    }),
  })
}
