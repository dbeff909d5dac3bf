/** Keyboard navigation in the grid. Row -1 is the header. */

export interface GridPosition {
  row: number
  column: number
}

export interface GridSize {
  rows: number
  columns: number
  /** Rows that fit into the viewport. */
  pageRows: number
}

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>

const moves: Record<string, (place: GridPosition, size: GridSize, isFar: boolean) => GridPosition> = {
  ArrowUp: ({ row, column }, _, isFar) => ({ row: isFar ? 0 : row - 1, column }),
  ArrowDown: ({ row, column }, { rows }, isFar) => ({ row: isFar ? rows - 1 : row + 1, column }),
  ArrowLeft: ({ row, column }, _, isFar) => ({ row, column: isFar ? 0 : column - 1 }),
  ArrowRight: ({ row, column }, { columns }, isFar) => ({ row, column: isFar ? columns - 1 : column + 1 }),
  Home: ({ row, column }, _, isFar) => ({ row: isFar ? 0 : row, column: isFar ? column : 0 }),
  End: ({ row, column }, { rows, columns }, isFar) =>
    isFar ? { row: rows - 1, column } : { row, column: columns - 1 },
  PageUp: ({ row, column }, { pageRows }) => ({ row: Math.max(0, row - pageRows), column }),
  PageDown: ({ row, column }, { pageRows }) => ({ row: row + pageRows, column }),
}

/** The next active cell; null for other keys. With Ctrl: the first or last row. */
export function moveFocus(
  place: GridPosition,
  { key, ctrlKey, metaKey }: Pressed,
  size: GridSize,
): GridPosition | null {
  const moved = moves[key]?.(place, size, ctrlKey || metaKey)
  if (!moved) return null
  return {
    row: Math.min(Math.max(moved.row, -1), size.rows - 1),
    column: Math.min(Math.max(moved.column, 0), Math.max(0, size.columns - 1)),
  }
}
