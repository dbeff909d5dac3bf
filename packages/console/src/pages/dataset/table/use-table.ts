/** The state of the table tab: rows, columns, selection, open panels, and whether the map is shown. */
import type { Dataset } from '@graticule/client'
import { useSearch } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import type { LngLatBox } from '../../../map/fit/fit-control.ts'
import { useIsPhone } from '../../../media.ts'
import { geometryOf } from '../dataset.ts'
import { useView } from '../view.ts'
import { useColumns } from './columns.ts'
import type { OpenRow } from './details.tsx'
import type { GridHandle } from './grid/data-grid.tsx'
import { useSelectedFeatures } from './map/selected-features.ts'
import { useRows, useShownRows } from './rows/use-rows.ts'
import { useLiveTable } from './use-live-table.ts'
import { useSelection } from './use-selection.ts'

export function useTable(dataset: Dataset) {
  const { where, sort } = useView()
  const { show } = useSearch({ strict: false }) as { show?: unknown }
  const isPhone = useIsPhone()
  const hasMap = geometryOf(dataset) !== undefined
  const [isMapWanted, setMapWanted] = useState(!isPhone || show === 'map')
  const [open, setOpen] = useState<OpenRow | null>(null)
  const view = useRef<LngLatBox | null>(null)
  const grid = useRef<GridHandle>(null)
  const tableQuery = useMemo(() => ({ dataset, where, sort }), [dataset, where, sort])
  const rows = useRows(tableQuery)
  const shown = useShownRows(rows)
  const live = useLiveTable(tableQuery, rows)
  const columns = useColumns(dataset)
  const selection = useSelection({
    tableQuery,
    rowAt: (index) => shown.pages.row(index),
    showRow: (index) => grid.current?.showRow(index),
  })
  const selected = useSelectedFeatures(dataset, selection.ids)
  useShownAtFirst(rows.state.isBegun && rows.state.total !== null, selection.show)
  return {
    dataset,
    where,
    sort,
    isPhone,
    hasMap,
    view,
    grid,
    rows,
    shown,
    live,
    columns,
    selection,
    selected,
    open,
    isMapShown: hasMap && isMapWanted,
    showMap: (isShown: boolean) => hasMap && setMapWanted(isShown),
    openRow: (index: number) => setOpen({ index, row: shown.pages.row(index) }),
    openSelected: () => setOpen({ index: null, row: undefined }),
    close: () => setOpen(null),
    /** On phones the map replaces the table. */
    flyTo(index: number | null) {
      selection.onFly(index, index === open?.index ? open.row : undefined)
      if (!isPhone) return
      setOpen(null)
      setMapWanted(true)
    },
  }
}

export type TableState = ReturnType<typeof useTable>

/** Scrolls to the selected row when a link with a selection is opened. */
function useShownAtFirst(isReady: boolean, show: () => void): void {
  const showOnce = useEffectEvent(show)
  useEffect(() => {
    if (isReady) showOnce()
  }, [isReady])
}
