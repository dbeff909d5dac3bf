/** Lets the table follow the changes of its dataset: pages, count, selected features and open rows are read again as needed. */
import type { ChangeStreamState } from '@graticule/client'
import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { createRenewals, type Renewals } from '../../../live/renewals.ts'
import { useChanges } from '../../../live/use-changes.ts'
import { queryKeys } from '../../../query-keys.ts'
import { keyOf } from '../dataset.ts'
import { affectedPages, changeOf, mergeChanges, type TableChange } from './rows/affected-pages.ts'
import { movesOf, type TableQuery } from './rows/page-query.ts'
import { pageRows, type Rows } from './rows/use-rows.ts'
import { type Row, rowId } from './selection.ts'

export interface LiveTable {
  state: ChangeStreamState
  /** Whether the row was written just now. */
  isChanged(row: Row): boolean
}

/** Pages cost at most a fifth of the server's time for this table, and the count, which reads all rows, a twentieth. */
const pauseFactors = { pages: 4, count: 19 }
const highlightMs = 2_500
const none: ReadonlySet<string> = new Set()

export function useLiveTable(tableQuery: TableQuery, { pages, recount }: Rows): LiveTable {
  const { dataset } = tableQuery
  const queryClient = useQueryClient()
  const renewals = useRef<Renewals<TableChange>>(null)
  const [changed, highlight] = useHighlight()
  const key = useMemo(() => keyOf(dataset), [dataset])
  const state = useChanges(dataset, (event) => {
    // The table may have been replaced by one with other columns.
    if (event.type === 'reset')
      void queryClient.invalidateQueries({ queryKey: queryKeys.datasets.one(dataset.id), exact: true })
    const change = changeOf(event)
    if (change) renewals.current?.add(change)
  })
  const renew = useEffectEvent(async (change: TableChange, count: () => void) => {
    const order = orderOf(tableQuery)
    const isCountNeeded = await pages.renew((loaded) => affectedPages(change, loaded, order))
    highlight(change.keys ?? [])
    renewQueries(queryClient, dataset.id, change)
    if (isCountNeeded) count()
  })
  const countAgain = useEffectEvent(async () => void (await recount()))
  useEffect(() => {
    const counts = createRenewals<true>({
      merge: () => true,
      renew: () => countAgain(),
      pauseFactor: pauseFactors.count,
    })
    const count = () => counts.add(true)
    const made = createRenewals<TableChange>({
      merge: mergeChanges,
      renew: (change) => renew(change, count),
      pauseFactor: pauseFactors.pages,
    })
    renewals.current = made
    return () => {
      made.end()
      counts.end()
    }
  }, [pages])
  return { state, isChanged: (row) => changed.size > 0 && changed.has(String(rowId(row, key))) }
}

function orderOf(tableQuery: TableQuery) {
  const key = keyOf(tableQuery.dataset)
  const isFiltered = tableQuery.where !== undefined
  const isByKey = movesOf(tableQuery).hasSingleKey && !isFiltered
  return { isByKey, isFiltered, pageRows, idOf: (row: Row | undefined) => rowId(row, key) }
}

/** The ids of rows that are highlighted for a moment. */
function useHighlight(): [ReadonlySet<string>, (ids: readonly unknown[]) => void] {
  const [changed, setChanged] = useState(none)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const highlight = (ids: readonly unknown[]) => {
    if (ids.length === 0) return
    setChanged(new Set(ids.map(String)))
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setChanged(none), highlightMs)
  }
  return [changed, highlight]
}

/** Reads again what is shown of the changed rows; what is not shown now is read when it is. */
function renewQueries(queryClient: QueryClient, datasetId: string, { keys }: TableChange): void {
  const changed = keys && new Set(keys.map(String))
  const isShown = ([, , kind, ids]: QueryKey) =>
    kind === 'row' ? isAmong(changed, [ids]) : kind === 'features' && isAmong(changed, ids as unknown[])
  const queryKey = ['datasets', datasetId]
  void queryClient.invalidateQueries({ queryKey, predicate: (query) => isShown(query.queryKey) })
  const isTotal = ({ queryKey: [, , kind] }: { queryKey: QueryKey }) => kind === 'count' || kind === 'estimate'
  void queryClient.invalidateQueries({ queryKey, predicate: isTotal, refetchType: 'none' })
}

const isAmong = (changed: ReadonlySet<string> | null, ids: readonly unknown[]): boolean =>
  changed === null || ids.some((id) => changed.has(String(id)))
