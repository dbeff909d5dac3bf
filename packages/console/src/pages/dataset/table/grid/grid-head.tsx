// biome-ignore-all lint/a11y: a grid of which only a part is there has roles instead of table elements, and its one focus on the grid
/** The header of the grid: type, name and sort order of each column, its menu, statistics and resize handle. */
import type { PointerEvent, ReactElement } from 'react'
import { IconButton } from '../../../../components/button.tsx'
import { Icon } from '../../../../components/icon.tsx'
import { Menu, type MenuItem } from '../../../../components/popup/menu.tsx'
import { alignmentOf, isSortable, typeLabel } from '../../attribute.ts'
import type { DatasetAttribute } from '../../dataset.ts'
import type { SortKey } from '../../sort.ts'
import { ColumnGlyph } from '../column-statistics.tsx'
import { type ColumnTable, moveColumn, type TableColumn } from '../columns.ts'
import classes from './data-grid.module.css'
import { cellId } from './grid-row.tsx'

export interface HeadActions {
  /** `isAdded` keeps the existing sort keys. */
  onSort(attribute: string, isAdded: boolean): void
  onSortBy(keys: SortKey[]): void
  onFilter(attribute: string): void
}

export interface GridHeadProps extends HeadActions {
  table: ColumnTable
  columns: readonly (TableColumn & { place: number })[]
  width: number
  sort: readonly SortKey[]
  activeColumn: number | null
  /** The column whose menu is open. */
  menu: string | null
  onMenu(attribute: string | null): void
}

export function GridHead({ columns, width, activeColumn, ...props }: GridHeadProps): ReactElement {
  return (
    <div role="rowgroup" className={classes.head} style={{ width }}>
      <div role="row" aria-rowindex={1} className={classes.headRow}>
        {columns.map((column) => (
          <HeadCell key={column.attribute.name} {...props} column={column} isActive={activeColumn === column.place} />
        ))}
      </div>
    </div>
  )
}

type HeadCellProps = Omit<GridHeadProps, 'columns' | 'width' | 'activeColumn'> & {
  column: TableColumn & { place: number }
  isActive: boolean
}

function HeadCell(props: HeadCellProps): ReactElement {
  const { table, column, sort, isActive, menu, onSort, onMenu } = props
  const { attribute, left, width, place } = column
  const order = sort.findIndex((key) => key.attribute === attribute.name)
  const key = sort[order]
  return (
    <div
      role="columnheader"
      id={cellId(-1, place)}
      aria-colindex={place + 1}
      aria-sort={key ? (key.isDescending ? 'descending' : 'ascending') : 'none'}
      data-align={alignmentOf(attribute.type)}
      className={`${classes.headCell} ${isActive ? classes.active : ''}`}
      style={{ left, width }}
    >
      <ColumnGlyph attribute={attribute} />
      <button
        type="button"
        tabIndex={-1}
        className={classes.name}
        title={attribute.description || `${attribute.name}: ${typeLabel(attribute)}`}
        disabled={!isSortable(attribute.type)}
        onClick={(event) => onSort(attribute.name, event.shiftKey)}
      >
        <span>{attribute.name}</span>
        {key && <Icon name={key.isDescending ? 'sortDown' : 'sortUp'} size={14} />}
        {key && sort.length > 1 && <small>{order + 1}</small>}
      </button>
      <Menu
        isOpen={menu === attribute.name}
        onOpenChange={(isOpen) => onMenu(isOpen ? attribute.name : null)}
        trigger={
          <IconButton
            icon="chevronDown"
            label={`Column ${attribute.name}`}
            tabIndex={-1}
            className={classes.menuButton ?? ''}
          />
        }
        items={menuItems(attribute, props)}
      />
      <ResizeEdge table={table} name={attribute.name} />
    </div>
  )
}

function menuItems(attribute: DatasetAttribute, { table, onSortBy, onFilter }: HeadCellProps): (MenuItem | '-')[] {
  const { name, type } = attribute
  const sortBy = (isDescending: boolean) => onSortBy([{ attribute: name, isDescending }])
  const disabledReason = isSortable(type) ? undefined : `Attributes of type ${type} cannot be sorted.`
  return [
    { label: 'Sort upwards', icon: 'sortUp', disabledReason, onSelect: () => sortBy(false) },
    { label: 'Sort downwards', icon: 'sortDown', disabledReason, onSelect: () => sortBy(true) },
    { label: 'Filter …', icon: 'filter', onSelect: () => onFilter(name) },
    '-',
    { label: 'Move left', icon: 'chevronLeft', onSelect: () => moveColumn(table, name, -1) },
    { label: 'Move right', icon: 'chevronRight', onSelect: () => moveColumn(table, name, 1) },
    { label: 'Hide', icon: 'eyeOff', onSelect: () => table.getColumn(name)?.toggleVisibility(false) },
  ]
}

interface ResizeEdgeProps {
  table: ColumnTable
  name: string
}

/** For the pointer; keyboard users resize in the list of columns. */
function ResizeEdge({ table, name }: ResizeEdgeProps): ReactElement {
  const begin = (event: PointerEvent<HTMLDivElement>) => {
    const edge = event.currentTarget
    const from = event.clientX
    const size = table.getColumn(name)?.getSize() ?? 0
    edge.setPointerCapture(event.pointerId)
    const move = ({ clientX }: globalThis.PointerEvent) =>
      table.setColumnSizing((sizes) => ({ ...sizes, [name]: Math.max(60, size + clientX - from) }))
    edge.addEventListener('pointermove', move)
    edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), { once: true })
  }
  return (
    <div
      aria-hidden="true"
      className={classes.edge}
      onPointerDown={begin}
      onDoubleClick={() => table.getColumn(name)?.resetSize()}
    />
  )
}
