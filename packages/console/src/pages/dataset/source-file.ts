/** The file that a dataset was uploaded in, perhaps as one layer of several. */
import type { Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useMay } from '../../session/session.tsx'

/** Its name; undefined if the dataset is no upload, or the key may not list uploads. */
export function useSourceFile({ id, type }: Dataset): string | undefined {
  const client = useClient()
  const mayRead = useMay()('uploads', 'read')
  const params = {
    filter: { results: { $contains: [{ datasetId: id }] } },
    fields: ['fileName'] as const,
    sort: ['-createdAt'],
    limit: 1,
  }
  const { data } = useQuery({
    queryKey: queryKeys.uploads.listWith(params),
    queryFn: ({ signal }) => client.uploads.list({ ...params, signal }),
    enabled: mayRead && type === 'table',
    staleTime: 60_000,
  })
  return data?.[0]?.fileName
}
