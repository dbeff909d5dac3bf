// biome-ignore-all lint/a11y: a grid of which only a part is there has roles instead of table elements, and its one focus on the grid
/**
 * The data grid: virtualized in rows and columns, one tab stop. The grid keeps the focus and names its active cell
 * (aria-activedescendant), because a focused cell that is scrolled away would lose the focus.
 */
import type { Dataset } from '@graticule/client'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
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
import { formatCell, isSortable } from '../../attribute.ts'
import { keyOf } from '../../dataset.ts'
import type { SortKey } from '../../sort.ts'
import { type ColumnTable, shownColumns, type TableColumn } from '../columns.ts'
import type { Rows } from '../rows/use-rows.ts'
import { type Click, type Row, rowId } from '../selection.ts'
import classes from './data-grid.module.css'
import { GridHead, type HeadActions } from './grid-head.tsx'
import { type GridPosition, moveFocus } from './grid-keyboard.ts'
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
  const [active, setActive] = useState<GridPosition>({ row: 0, column: 0 })
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
  useScrollAnchor({
    pages: shown.pages,
    first,
    idOf: (row) => rowId(row, key),
    shift(by) {
      scroll.shift(by)
      setActive((place) => (place.row >= first ? { ...place, row: place.row + by } : place))
    },
  })
  useImperativeHandle(props.ref, () => ({
    showRow(row) {
      setActive((place) => ({ ...place, row }))
      scroll.showRow(row, true)
    },
  }))
  const onKeyDown = useGridKeys({ ...props, columns, scroll, active, setActive, setMenu, total })
  const width = (columns.at(-1)?.left ?? 0) + (columns.at(-1)?.width ?? 0)
  const canvas = { scroll, width, active, isSelected, isChanged, shown, columns: drawnColumns, setActive }
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
        <Canvas {...canvas} {...clicks(props)} />
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
}

function Canvas({ scroll, width, columns, active, shown, setActive, ...on }: CanvasProps): ReactElement {
  const [from, to] = scroll.drawn
  const click = (event: MouseEvent) => {
    const position = positionOf(event)
    if (!position) return
    setActive(position)
    const click = { isAdded: event.ctrlKey || event.metaKey, isExtended: event.shiftKey }
    if (event.detail > 1) on.onOpen(position.row)
    else on.onClick(position.row, click)
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
            />
          )
        })}
      </div>
    </div>
  )
}

function positionOf({ target }: MouseEvent): GridPosition | null {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null
  const row = cell?.closest<HTMLElement>('[data-index]')
  return cell && row ? { row: Number(row.dataset.index), column: Number(cell.dataset.column) } : null
}

interface Keys extends DataGridProps {
  columns: readonly TableColumn[]
  scroll: GridScroll
  active: GridPosition
  setActive(place: GridPosition): void
  setMenu(attribute: string): void
  total: number
}

function useGridKeys(keys: Keys): (event: KeyboardEvent) => void {
  const { columns, scroll, active, setActive, total } = keys
  return (event) => {
    // React also bubbles events of the header's menus and popovers to the grid.
    if (event.target !== event.currentTarget) return
    if (active.row === -1 ? actOnHead(event, keys) : actOnRow(event, keys)) {
      event.preventDefault()
      return
    }
    const moved = moveFocus(active, event, { rows: total, columns: columns.length, pageRows: scroll.pageRows })
    if (!moved || event.altKey) return
    event.preventDefault()
    setActive(moved)
    if (moved.row >= 0) scroll.showRow(moved.row)
    showColumn(scroll.element.current, columns[moved.column])
    if (event.shiftKey && moved.row >= 0) keys.onClick(moved.row, { isAdded: false, isExtended: true })
  }
}

/** Handles keys on the header; returns whether it did. */
function actOnHead(event: KeyboardEvent, { columns, active, setMenu, onSort }: Keys): boolean {
  const attribute = columns[active.column]?.attribute
  if (!attribute) return false
  if (event.key === 'ContextMenu' || (event.altKey && event.key === 'ArrowDown')) {
    setMenu(attribute.name)
    return true
  }
  if (event.key !== 'Enter' && event.key !== ' ') return false
  if (isSortable(attribute.type)) onSort(attribute.name, event.shiftKey)
  return true
}

/** Handles keys on a row; returns whether it did. */
function actOnRow(event: KeyboardEvent, keys: Keys): boolean {
  const { active, columns, shown, onClick, onOpen, onFly, onClear } = keys
  const attribute = columns[active.column]?.attribute
  const isBare = !event.ctrlKey && !event.metaKey && !event.altKey
  const acts: Record<string, () => void> = {
    ' ': () => onClick(active.row, { isAdded: true, isExtended: event.shiftKey }),
    Enter: () => onOpen(active.row),
    f: () => onFly(active.row),
    Escape: onClear,
  }
  const act = isBare ? acts[event.key] : undefined
  act?.()
  if (attribute && (event.ctrlKey || event.metaKey) && event.key === 'c' && getSelection()?.isCollapsed !== false) {
    const text = formatCell(attribute, shown.pages.row(active.row)?.[attribute.name])
    void navigator.clipboard.writeText(text ?? '')
    return true
  }
  return act !== undefined
}

function showColumn(element: HTMLElement | null, column: TableColumn | undefined): void {
  if (!element || !column) return
  const { scrollLeft, clientWidth } = element
  if (column.left < scrollLeft) element.scrollLeft = column.left
  else if (column.left + column.width > scrollLeft + clientWidth)
    element.scrollLeft = column.left + column.width - clientWidth
}
