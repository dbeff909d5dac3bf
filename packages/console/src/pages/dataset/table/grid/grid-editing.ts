/** Editing in the grid: which cell a key or a click edits, and where editing goes on. */
import { type RefObject, useEffect, useEffectEvent } from 'react'
import type { NextCell } from '../../edit/cells/cell-editor.tsx'
import type { CellEditing } from '../../edit/cells/use-cell-editing.ts'
import type { TableColumn } from '../columns.ts'
import type { Rows } from '../rows/use-rows.ts'
import type { GridPosition } from './grid-keyboard.ts'

export interface GridEditingOptions {
  /** Null where nothing can be edited. */
  cells: CellEditing | null
  columns: readonly TableColumn[]
  shown: Rows
  active: GridPosition
  total: number
  element: RefObject<HTMLElement | null>
  /** Makes a cell the active one, in view, and gives the grid the focus. */
  go(place: GridPosition): void
}

export interface GridEditing {
  cells: CellEditing | null
  /** False if the cell cannot be edited. */
  edit(place: GridPosition): boolean
  onLeft(next: NextCell): void
}

export function useGridEditing({ cells, columns, shown, active, total, element, go }: GridEditingOptions): GridEditing {
  const edit = ({ row, column }: GridPosition): boolean => {
    const attribute = columns[column]?.attribute
    return attribute !== undefined && cells?.begin(shown.pages.row(row), attribute) === true
  }
  const isInline = ({ row, column }: GridPosition): boolean => {
    const attribute = columns[column]?.attribute
    return attribute !== undefined && cells?.isInline(shown.pages.row(row), attribute) === true
  }
  usePasteOn(element, (text) => {
    if (active.row < 0) return
    cells?.paste(text, {
      rowCount: total - active.row,
      rowAt: (offset) => shown.pages.row(active.row + offset),
      columns: columns.slice(active.column).map(({ attribute }) => attribute),
    })
  })
  return {
    cells,
    edit,
    onLeft(next) {
      const place = nextPosition(next, active, { rows: total, columns: columns.length }, isInline)
      go(place)
      if (isBeside(next) && isInline(place)) edit(place)
    },
  }
}

/** A browser tells of a paste where text is selected, which need not be in the grid that has the focus. */
function usePasteOn(element: RefObject<HTMLElement | null>, onText: (text: string) => void): void {
  const paste = useEffectEvent(onText)
  useEffect(() => {
    const listen = (event: ClipboardEvent) => {
      if (document.activeElement !== element.current) return
      event.preventDefault()
      paste(event.clipboardData?.getData('text/plain') ?? '')
    }
    document.addEventListener('paste', listen)
    return () => document.removeEventListener('paste', listen)
  }, [element])
}

const isBeside = (next: NextCell): boolean => next === 'next' || next === 'previous'

interface GridExtent {
  rows: number
  columns: number
}

/** Beside a cell the next one that is edited in its place, in another row behind the last column. */
export function nextPosition(
  next: NextCell,
  from: GridPosition,
  { rows, columns }: GridExtent,
  isInline: (place: GridPosition) => boolean,
): GridPosition {
  if (next === 'here') return from
  if (next === 'below') return { ...from, row: Math.min(from.row + 1, rows - 1) }
  const step = next === 'next' ? 1 : -1
  const at = from.row * columns + from.column
  // A cell of the row after the next one is no neighbour.
  for (let distance = 1; distance <= 2 * columns; distance++) {
    const place = {
      row: Math.floor((at + step * distance) / columns),
      column: (at + step * distance + columns) % columns,
    }
    if (place.row < 0 || place.row >= rows) break
    if (isInline(place)) return place
  }
  return from
}
