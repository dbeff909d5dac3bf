/** The rows of the table: pages near the viewport first, then the count; previous rows stay until new ones load. */
import type { JsonObject } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { queryKeys } from '../../../../query-keys.ts'
import { useClient } from '../../../../session/session.tsx'
import { countRows, estimateRows, keyOf } from '../../dataset.ts'
import { type Row, rowId } from '../selection.ts'
import { movesOf, pageFetcher, type TableQuery } from './page-query.ts'
import { createRowPages, type RowPages, type RowPagesState } from './row-pages.ts'

export const pageRows = 200

export interface Rows {
  pages: RowPages<Row>
  state: RowPagesState
  /** The duration of the exact count. */
  countMs: number | null
  recount(): Promise<unknown>
}

export function useRows({ dataset, where, sort }: TableQuery): Rows {
  const client = useClient()
  const whereText = JSON.stringify(where)
  // The estimate of rows and other facts of a record may change while the table stays the same.
  const columns = JSON.stringify([dataset.id, dataset.attributes])
  const pages = useMemo(() => {
    const tableQuery = {
      dataset,
      where: whereText === undefined ? undefined : (JSON.parse(whereText) as JsonObject),
      sort,
    }
    const key = keyOf(dataset)
    const idOf = (row: Row | undefined) => rowId(row, key)
    return createRowPages<Row>({ ...movesOf(tableQuery), idOf, pageRows, fetch: pageFetcher(client, tableQuery) })
  }, [client, columns, whereText, sort])
  useEffect(() => () => pages.dispose(), [pages])
  const state = useSyncExternalStore(pages.subscribe, pages.getState)
  return { pages, state, ...useTotal(pages, state, { dataset, where, sort }) }
}

/** The previous rows, until the first new ones are loaded. */
export function useShownRows(rows: Rows): Rows {
  const isSettled = rows.state.isBegun || rows.state.error !== null
  const before = useRef<Rows | null>(null)
  useEffect(() => {
    if (isSettled) before.current = rows
  })
  return isSettled ? rows : (before.current ?? rows)
}

/** An estimate first, the exact count after the first rows; neither if all rows are loaded. */
function useTotal(
  pages: RowPages<Row>,
  { total, isBegun }: RowPagesState,
  { dataset, where }: TableQuery,
): Pick<Rows, 'countMs' | 'recount'> {
  const client = useClient()
  const storedEstimate = where ? null : dataset.rowEstimate
  const estimate = useQuery({
    queryKey: queryKeys.datasets.one(dataset.id, 'estimate', where),
    queryFn: ({ signal }) => estimateRows(client, dataset.id, where, signal),
    enabled: storedEstimate === null,
  })
  const exact = useQuery({
    queryKey: queryKeys.datasets.one(dataset.id, 'count', where),
    queryFn: ({ signal }) => countRows(client, dataset.id, where, signal),
    enabled: isBegun && !total?.isExact,
  })
  useEffect(() => {
    const expected = storedEstimate ?? estimate.data
    if (typeof expected === 'number') pages.setTotal(expected, false)
  }, [pages, storedEstimate, estimate.data])
  useEffect(() => {
    if (exact.data) pages.setTotal(exact.data.rows, true)
  }, [pages, exact.data])
  return { countMs: total?.isExact ? (exact.data?.ms ?? null) : null, recount: exact.refetch }
}
