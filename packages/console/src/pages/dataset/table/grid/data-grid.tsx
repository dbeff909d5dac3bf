// biome-ignore-all lint/a11y: a grid of which only a part is there has roles instead of table elements, and its one focus on the grid
/**
 * The data grid: virtualized in rows and columns, one tab stop. The grid keeps the focus and names its active cell
 * (aria-activedescendant), because a focused cell that is scrolled away would lose the focus.
 */
import type { Dataset } from '@graticule/client'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type MouseEvent,
  type ReactElement,
  type Ref,
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import { formatNumber } from '../../../../format.ts'
import { keyOf } from '../../dataset.ts'
import { CellEditor } from '../../edit/cells/cell-editor.tsx'
import { marksOf } from '../../edit/cells/cell-marks.ts'
import type { CellEditing } from '../../edit/cells/use-cell-editing.ts'
import type { SortKey } from '../../sort.ts'
import { type ColumnTable, shownColumns, type TableColumn } from '../columns.ts'
import type { Rows } from '../rows/use-rows.ts'
import { type Click, type Row, type RowId, rowId } from '../selection.ts'
import classes from './data-grid.module.css'
import { type GridEditing, useGridEditing } from './grid-editing.ts'
import { GridHead, type HeadActions } from './grid-head.tsx'
import type { GridPosition } from './grid-keyboard.ts'
import { showColumn, useGridKeys } from './grid-keys.ts'
import { cellId, GridRow } from './grid-row.tsx'
import { type GridScroll, rowHeight, useGridScroll } from './grid-scroll.ts'
import { useScrollAnchor } from './scroll-anchor.ts'

const headHeight = rowHeight + 8

export interface GridHandle {
  showRow(row: number): void
}

export interface DataGridProps extends HeadActions {
  dataset: Dataset
  table: ColumnTable
  /** The rows of the current query. */
  rows: Rows
  /** The displayed rows: the previous ones while the new ones load. */
  shown: Rows
  sort: readonly SortKey[]
  /** Null where nothing can be edited. */
  cells: CellEditing | null
  isSelected(row: Row): boolean
  isChanged(row: Row): boolean
  onClick(index: number, click: Click): void
  onOpen(index: number): void
  onFly(index: number): void
  onClear(): void
  onRange(first: number, last: number): void
  ref?: Ref<GridHandle>
}

export function DataGrid(props: DataGridProps): ReactElement {
  const { dataset, table, rows, shown, sort, isSelected, isChanged, onRange } = props
  const total = shown.state.total?.rows ?? 0
  const scroll = useGridScroll(total, headHeight)
  const [menu, setMenu] = useState<string | null>(null)
  const columns = shownColumns(table, dataset)
  const drawnColumns = useDrawnColumns(columns, scroll)
  const { first, last } = scroll
  useEffect(() => {
    rows.pages.want(first, last)
    onRange(first, last)
  }, [rows.pages, first, last, onRange])
  useOtherRows(rows, scroll)
  const key = useMemo(() => keyOf(dataset), [dataset])
  const idOf = (row: Row | undefined) => rowId(row, key)
  const { active, setActive, go } = useActiveCell(props, { scroll, columns, idOf })
  const { element } = scroll
  const editing = useGridEditing({ cells: props.cells, columns, shown, active, total, element, go })
  const onKeyDown = useGridKeys({ ...props, columns, scroll, active, setActive, setMenu, total, editing })
  const width = (columns.at(-1)?.left ?? 0) + (columns.at(-1)?.width ?? 0)
  const canvas = { scroll, width, active, isSelected, isChanged, shown, setActive, editing, idOf }
  return (
    <div className={classes.frame}>
      <div
        ref={scroll.element}
        role="grid"
        tabIndex={0}
        aria-label={`Rows of ${dataset.name}`}
        aria-rowcount={shown.state.total?.isExact ? total + 1 : -1}
        aria-colcount={columns.length}
        aria-multiselectable="true"
        aria-busy={rows.state.isLoading}
        {...activeCell(active, scroll, drawnColumns)}
        className={`${classes.grid} ${shown === rows ? '' : classes.stale}`}
        onScroll={scroll.onScroll}
        onKeyDown={onKeyDown}
      >
        <GridHead
          table={table}
          width={width}
          sort={sort}
          menu={menu}
          columns={drawnColumns}
          activeColumn={active.row === -1 ? active.column : null}
          onMenu={setMenu}
          onSort={props.onSort}
          onSortBy={props.onSortBy}
          onFilter={props.onFilter}
        />
        <Canvas {...canvas} columns={drawnColumns} {...clicks(props)} />
      </div>
      {scroll.isJumping && <div className={classes.jump}>Row {formatNumber(first + 1)}</div>}
      {rows.state.isSlow && !scroll.isJumping && (
        <div role="status" className={classes.slow}>
          Skipping {formatNumber(first)} rows: this takes seconds …
        </div>
      )}
    </div>
  )
}

interface ActiveCellOptions {
  scroll: GridScroll
  columns: readonly TableColumn[]
  idOf(row: Row | undefined): RowId | undefined
}

/** The active cell, which stays on its row when rows before it come or go. */
function useActiveCell({ shown, ref }: DataGridProps, { scroll, columns, idOf }: ActiveCellOptions) {
  const [active, setActive] = useState<GridPosition>({ row: 0, column: 0 })
  const { first } = scroll
  useScrollAnchor({
    pages: shown.pages,
    first,
    idOf,
    shift(by) {
      scroll.shift(by)
      setActive((place) => (place.row >= first ? { ...place, row: place.row + by } : place))
    },
  })
  useImperativeHandle(ref, () => ({
    showRow(row) {
      setActive((place) => ({ ...place, row }))
      scroll.showRow(row, true)
    },
  }))
  const go = (place: GridPosition) => {
    setActive(place)
    scroll.showRow(place.row)
    showColumn(scroll.element.current, columns[place.column])
    scroll.element.current?.focus()
  }
  return { active, setActive, go }
}

/** Scrolls to the top after a change of filter or sort order. */
function useOtherRows({ pages }: Rows, scroll: GridScroll): void {
  const before = useRef(pages)
  const toTop = useEffectEvent(scroll.toTop)
  useEffect(() => {
    if (before.current !== pages) toTop()
    before.current = pages
  }, [pages])
}

const clicks = ({ onClick, onOpen }: DataGridProps) => ({ onClick, onOpen })

type DrawnColumn = TableColumn & { place: number }

/** The visible columns, because a table may have hundreds. */
function useDrawnColumns(columns: readonly TableColumn[], { element }: GridScroll): DrawnColumn[] {
  const virtual = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => element.current,
    estimateSize: (index) => columns[index]?.width ?? 0,
    overscan: 2,
  })
  const sizes = columns.map(({ width }) => width).join()
  // Measured again when a width has changed.
  useEffect(() => virtual.measure(), [sizes, virtual])
  return virtual.getVirtualItems().flatMap(({ index }) => {
    const column = columns[index]
    return column ? [{ ...column, place: index }] : []
  })
}

function activeCell({ row, column }: GridPosition, { drawn }: GridScroll, columns: readonly DrawnColumn[]) {
  const isDrawn = (row === -1 || (row >= drawn[0] && row <= drawn[1])) && columns.some(({ place }) => place === column)
  return isDrawn ? { 'aria-activedescendant': cellId(row, column) } : {}
}

interface CanvasProps extends Pick<DataGridProps, 'shown' | 'isSelected' | 'isChanged' | 'onClick' | 'onOpen'> {
  scroll: GridScroll
  width: number
  columns: readonly DrawnColumn[]
  active: GridPosition
  setActive(place: GridPosition): void
  editing: GridEditing
  idOf(row: Row | undefined): RowId | undefined
}

function Canvas({ scroll, width, columns, active, shown, setActive, editing, idOf, ...on }: CanvasProps): ReactElement {
  const [from, to] = scroll.drawn
  const click = (event: MouseEvent) => {
    const position = positionOf(event)
    if (!position) return
    setActive(position)
    const click = { isAdded: event.ctrlKey || event.metaKey, isExtended: event.shiftKey }
    if (event.detail < 2) on.onClick(position.row, click)
    else if (!editing.edit(position)) on.onOpen(position.row)
  }
  const indices = Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at)
  return (
    <div role="rowgroup" className={classes.canvas} style={{ height: scroll.height, width }} onClick={click}>
      <div role="presentation" className={classes.rows} style={{ transform: `translateY(${scroll.offset}px)` }}>
        {indices.map((index) => {
          const row = shown.pages.row(index)
          return (
            <GridRow
              key={index}
              index={index}
              row={row}
              columns={columns}
              isSelected={row !== undefined && on.isSelected(row)}
              isChanged={row !== undefined && on.isChanged(row)}
              activeColumn={active.row === index ? active.column : null}
              marks={editing.cells ? marksOf(editing.cells.marks, idOf(row)) : undefined}
              editor={editorOf(editing, idOf(row))}
            />
          )
        })}
      </div>
    </div>
  )
}

/** Rows are compared by their key, because they may move while one of them is edited. */
function editorOf({ cells, onLeft }: GridEditing, id: RowId | undefined) {
  const edited = cells?.edited
  if (!edited || String(edited.id) !== String(id)) return undefined
  return { column: edited.attribute.name, field: <CellEditor cells={cells} edited={edited} onLeft={onLeft} /> }
}

function positionOf({ target }: MouseEvent): GridPosition | null {
  if (target instanceof Element && target.closest('input, select')) return null
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null
  const row = cell?.closest<HTMLElement>('[data-index]')
  return cell && row ? { row: Number(row.dataset.index), column: Number(cell.dataset.column) } : null
}
