/** The state of the table's columns: width, order, visibility. It survives navigation. */
import type { Dataset } from '@graticule/client'
import {
  type ColumnDef,
  columnOrderingFeature,
  columnResizingFeature,
  columnSizingFeature,
  columnVisibilityFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useEffect, useMemo } from 'react'
import type { ColumnType } from '../attribute.ts'
import type { DatasetAttribute } from '../dataset.ts'
import { tableAttributes } from './rows/page-query.ts'
import type { Row } from './selection.ts'

const features = tableFeatures({
  columnSizingFeature,
  columnResizingFeature,
  columnVisibilityFeature,
  columnOrderingFeature,
})

/** TanStack Table gets no rows, because row-pages.ts manages them. */
const noRows: Row[] = []

const widths: Partial<Record<ColumnType, number>> = {
  integer: 120,
  number: 120,
  boolean: 90,
  date: 110,
  datetime: 190,
  time: 100,
  uuid: 290,
}
const plainWidth = 180
const letterWidth = 8
/** The width of icon, arrow, menu and margins. */
const headRoom = 88

interface Layout {
  columnSizing: Record<string, number>
  columnVisibility: Record<string, boolean>
  columnOrder: string[]
}
const layouts = new Map<string, Layout>()

export function useColumns(dataset: Dataset) {
  const columns = useMemo(() => tableAttributes(dataset).map(columnOf), [dataset])
  const table = useTable({
    features,
    columns,
    data: noRows,
    columnResizeMode: 'onChange',
    defaultColumn: { minSize: 60, maxSize: 1000 },
    initialState: layouts.get(dataset.id) ?? {},
  })
  const { columnSizing, columnVisibility, columnOrder } = table.state
  useEffect(() => {
    layouts.set(dataset.id, { columnSizing, columnVisibility, columnOrder })
  }, [dataset.id, columnSizing, columnVisibility, columnOrder])
  return table
}

export type ColumnTable = ReturnType<typeof useColumns>

export interface TableColumn {
  attribute: DatasetAttribute
  width: number
  /** From the left edge of the table. */
  left: number
}

/** The visible columns, from left to right. */
export function shownColumns(table: ColumnTable, dataset: Dataset): TableColumn[] {
  const byName = new Map(dataset.attributes.map((attribute) => [attribute.name, attribute]))
  let left = 0
  return table.getVisibleLeafColumns().flatMap((column) => {
    const attribute = byName.get(column.id)
    if (!attribute) return []
    const width = column.getSize()
    left += width
    return [{ attribute, width, left: left - width }]
  })
}

/** Moves a column one step to the left (-1) or right (1). */
export function moveColumn(table: ColumnTable, name: string, step: -1 | 1): void {
  const names = table.getAllLeafColumns().map(({ id }) => id)
  const from = names.indexOf(name)
  const to = from + step
  if (from < 0 || to < 0 || to >= names.length) return
  table.setColumnOrder(names.toSpliced(from, 1).toSpliced(to, 0, name))
}

function columnOf(attribute: DatasetAttribute): ColumnDef<typeof features, Row> {
  const size = Math.max(widths[attribute.type] ?? plainWidth, attribute.name.length * letterWidth + headRoom)
  return { id: attribute.name, accessorFn: (row) => row[attribute.name], size: Math.min(size, 360) }
}
