/** The bindings of a webhook and the datasets that it can be bound to. */
import type { Client, Dataset } from '@graticule/client'
import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import type { Binding, BindingInput } from './binding-draft.ts'

const refetchMs = 10_000
const mostTables = 1_000

const keyOf = (pointId: string) => ['contactpoints', pointId, 'bindings']

export function useBindings(pointId: string): UseQueryResult<Binding[]> {
  const client = useClient()
  return useQuery({
    queryKey: keyOf(pointId),
    queryFn: async ({ signal }) => (await client.contactPoints.bindings(pointId, { signal })).bindings,
    refetchInterval: refetchMs,
  })
}

export type BoundDataset = Pick<Dataset, 'id' | 'name' | 'applicationId'>

export function useTables(): UseQueryResult<BoundDataset[]> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.datasets.listWith({ for: 'bindings' }),
    queryFn: ({ signal }) => {
      const fields = ['id', 'name', 'applicationId'] as const
      return client.datasets.list({ filter: { type: 'table' }, fields, sort: ['name'], limit: mostTables, signal })
    },
  })
}

/** Changes the binding of one dataset; null removes it. */
export function useBind(
  pointId: string,
): UseMutationResult<Binding[], Error, { datasetId: string; binding: BindingInput | null }> {
  const client = useClient()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ datasetId, binding }) => bind(client, pointId, datasetId, binding),
    onSuccess: (bindings) => queryClient.setQueryData(keyOf(pointId), bindings),
  })
}

/** The API replaces the whole list, so the others are read first; they may have changed since the page was opened. */
async function bind(
  client: Client,
  pointId: string,
  datasetId: string,
  binding: BindingInput | null,
): Promise<Binding[]> {
  const { bindings } = await client.contactPoints.bindings(pointId)
  const others: BindingInput[] = bindings.filter((other) => other.datasetId !== datasetId)
  // Last, where `placeOf` looks for its faults.
  const wanted = binding ? [...others, binding] : others
  return (await client.contactPoints.bind(pointId, { bindings: wanted })).bindings
}

/** Where the binding of a dataset is in the list that was sent. */
export const bindingIndex = (bindings: readonly Binding[], datasetId: string): number =>
  bindings.filter((other) => other.datasetId !== datasetId).length
