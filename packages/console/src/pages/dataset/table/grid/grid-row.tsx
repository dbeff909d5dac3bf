// biome-ignore-all lint/a11y: a grid of which only a part is there has roles instead of table elements, and its one focus on the grid
/** One row of the grid: the cells of visible columns, or placeholders while they load. */
import { memo, type ReactElement } from 'react'
import { Skeleton } from '../../../../components/note.tsx'
import { alignmentOf, formatCell } from '../../attribute.ts'
import type { TableColumn } from '../columns.ts'
import type { Row } from '../selection.ts'
import classes from './data-grid.module.css'
import { rowHeight } from './grid-scroll.ts'

export interface GridRowProps {
  index: number
  row: Row | undefined
  columns: readonly (TableColumn & { place: number })[]
  isSelected: boolean
  /** Written just now. */
  isChanged: boolean
  /** The column of the active cell, if it is in this row. */
  activeColumn: number | null
}

export const cellId = (row: number, column: number): string => `cell-${row}-${column}`

export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { index, row, columns, isSelected, isChanged, activeColumn } = props
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-index={index}
      data-changed={isChanged || undefined}
      className={classes.row}
      style={{ height: rowHeight }}
    >
      {columns.map((column) => (
        <Cell
          key={column.attribute.name}
          id={cellId(index, column.place)}
          column={column}
          row={row}
          isActive={activeColumn === column.place}
        />
      ))}
    </div>
  )
})

interface CellProps {
  id: string
  column: TableColumn & { place: number }
  row: Row | undefined
  isActive: boolean
}

function Cell({ id, column: { attribute, place, left, width }, row, isActive }: CellProps): ReactElement {
  const text = row && formatCell(attribute, row[attribute.name])
  return (
    <div
      role="gridcell"
      id={id}
      aria-colindex={place + 1}
      data-column={place}
      data-align={alignmentOf(attribute.type)}
      className={`${classes.cell} ${isActive ? classes.active : ''}`}
      style={{ left, width }}
    >
      {row === undefined ? <Skeleton width="60%" height={10} /> : (text ?? <span className={classes.null}>null</span>)}
    </div>
  )
}
