// biome-ignore-all lint/a11y: a grid of which only a part is there has roles instead of table elements, and its one focus on the grid
/** One row of the grid: the cells of visible columns, or placeholders while they load. */
import { memo, type ReactElement } from 'react'
import { Skeleton } from '../../../../components/note.tsx'
import { alignmentOf, formatCell } from '../../attribute.ts'
import type { CellMark, RowMarks } from '../../edit/cells/cell-marks.ts'
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
  /** What is being saved, or could not be. */
  marks: RowMarks | undefined
  /** The field in place of a cell that is edited. */
  editor: { column: string; field: ReactElement } | undefined
}

export const cellId = (row: number, column: number): string => `cell-${row}-${column}`

export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { index, row, columns, isSelected, isChanged, activeColumn, marks, editor } = props
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
          mark={marks?.get(column.attribute.name)}
          editor={editor?.column === column.attribute.name ? editor.field : undefined}
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
  mark: CellMark | undefined
  editor: ReactElement | undefined
}

function Cell({ id, column, row, isActive, mark, editor }: CellProps): ReactElement {
  const { attribute, place, left, width } = column
  return (
    <div
      role="gridcell"
      id={id}
      aria-colindex={place + 1}
      aria-invalid={mark?.failure !== undefined || undefined}
      data-column={place}
      data-align={alignmentOf(attribute.type)}
      data-mark={mark && (mark.failure === undefined ? 'saving' : 'failed')}
      title={mark?.failure}
      className={`${classes.cell} ${isActive ? classes.active : ''}`}
      style={{ left, width }}
    >
      {row === undefined ? (
        <Skeleton width="60%" height={10} />
      ) : (
        (editor ?? <CellText attribute={attribute} row={row} mark={mark} />)
      )}
    </div>
  )
}

interface CellTextProps {
  attribute: TableColumn['attribute']
  row: Row
  mark: CellMark | undefined
}

function CellText({ attribute, row, mark }: CellTextProps): ReactElement | string {
  const text = formatCell(attribute, mark ? mark.value : row[attribute.name])
  return text ?? <span className={classes.null}>null</span>
}
