/** Shows what was written: the table loads its rows again, also where changes cannot be followed, and the map its tiles. */
import { useQueryClient } from '@tanstack/react-query'
import { queryKeys } from '../../../query-keys.ts'
import type { TableState } from '../table/use-table.ts'

/** Resolves when the rows on the screen are loaded again. */
export function useRenewTable({ dataset, rows }: Pick<TableState, 'dataset' | 'rows'>): () => Promise<void> {
  const cache = useQueryClient()
  return async () => {
    void cache.invalidateQueries({ queryKey: queryKeys.datasets.one(dataset.id) })
    void cache.invalidateQueries({ queryKey: queryKeys.tiles.one(dataset.id) })
    if (await rows.pages.renew(() => all)) void rows.recount()
  }
}

const all = { isStale: () => true, movedFrom: 0, mayChangeTotal: true }
