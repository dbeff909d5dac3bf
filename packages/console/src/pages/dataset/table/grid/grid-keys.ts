/** The keys of the grid: on the header, on rows, and those that move the active cell. */
import type { KeyboardEvent } from 'react'
import { isSortable } from '../../attribute.ts'
import type { DatasetAttribute } from '../../dataset.ts'
import { writeClipboardCell } from '../../edit/cells/clipboard-table.ts'
import type { TableColumn } from '../columns.ts'
import type { Row } from '../selection.ts'
import type { DataGridProps } from './data-grid.tsx'
import type { GridEditing } from './grid-editing.ts'
import { type GridPosition, moveFocus } from './grid-keyboard.ts'
import type { GridScroll } from './grid-scroll.ts'

interface Keys extends DataGridProps {
  columns: readonly TableColumn[]
  scroll: GridScroll
  active: GridPosition
  setActive(place: GridPosition): void
  setMenu(attribute: string): void
  total: number
  editing: GridEditing
}

export function useGridKeys(keys: Keys): (event: KeyboardEvent) => void {
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
  const { active, columns, shown, onClick, onOpen, onFly, onClear, editing } = keys
  const open = () => onOpen(active.row)
  const edit = () => editing.edit(active) || open()
  const acts: Record<string, () => unknown> = {
    ' ': () => onClick(active.row, { isAdded: true, isExtended: event.shiftKey }),
    Enter: edit,
    F2: edit,
    f: () => onFly(active.row),
    Escape: onClear,
    'Alt+Enter': open,
    'Ctrl+z': () => editing.cells?.undo(),
    'Ctrl+c': () => copyCell(columns[active.column]?.attribute, shown.pages.row(active.row)),
  }
  const act = Object.hasOwn(acts, pressed(event)) ? acts[pressed(event)] : undefined
  act?.()
  return act !== undefined
}

function pressed({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  return `${altKey ? 'Alt+' : ''}${ctrlKey || metaKey ? 'Ctrl+' : ''}${key}`
}

/** As it is stored: digits that are grouped would not be a number where they are pasted. */
function copyCell(attribute: DatasetAttribute | undefined, row: Row | undefined): void {
  if (!attribute || !row || getSelection()?.isCollapsed === false) return
  const value = row[attribute.name] ?? ''
  void navigator.clipboard.writeText(
    writeClipboardCell(typeof value === 'object' ? JSON.stringify(value) : String(value)),
  )
}

export function showColumn(element: HTMLElement | null, column: TableColumn | undefined): void {
  if (!element || !column) return
  const { scrollLeft, clientWidth } = element
  if (column.left < scrollLeft) element.scrollLeft = column.left
  else if (column.left + column.width > scrollLeft + clientWidth)
    element.scrollLeft = column.left + column.width - clientWidth
}
