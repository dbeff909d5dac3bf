/** SQL completions: tables of the dataset's database, and columns of those that are datasets. */
import type { Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import type { Word } from '../../../components/code-editor/completion.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay } from '../../../session/session.tsx'

const most = 500

export function useSqlCompletions(
  { databaseId, attributes }: Pick<Dataset, 'databaseId' | 'attributes'>,
  isWanted: boolean,
): Word[] {
  const client = useClient()
  const may = useMay()
  const params = { filter: { databaseId, type: 'table' }, fields: ['source', 'attributes'], limit: most } as const
  const { data: datasets = [] } = useQuery({
    queryKey: queryKeys.datasets.listWith(params),
    queryFn: ({ signal }) => client.datasets.list({ ...params, signal }),
    enabled: isWanted,
  })
  const { data: tables = [] } = useQuery({
    queryKey: queryKeys.databases.one(databaseId, 'tables'),
    queryFn: ({ signal }) => client.databases.tables(databaseId, { limit: most, signal }),
    enabled: isWanted && may('databases', 'execute', databaseId),
  })
  return sqlWords(
    [...tables.map(({ source }) => source), ...datasets.map(({ source }) => source)],
    [...datasets.flatMap((one) => one.attributes), ...attributes],
  )
}

/** Without duplicates. */
function sqlWords(tables: readonly string[], columns: readonly { name: string; dbType: string }[]): Word[] {
  const types = new Map(columns.map(({ name, dbType }) => [name, dbType]))
  return [
    ...[...new Set(tables)].map((label) => ({ label, detail: 'table', type: 'class' })),
    ...[...types].map(([label, detail]) => ({ label, detail, type: 'property' })),
  ]
}
