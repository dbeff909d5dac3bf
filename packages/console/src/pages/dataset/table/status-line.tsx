/** The status line of the table: visible rows, total, selection, duration of the last page. */
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { formatMs, formatNumber } from '../../../format.ts'
import type { CellEditing } from '../edit/cells/use-cell-editing.ts'
import { SelectedRowActions } from '../edit/row-editing.tsx'
import type { Rows } from './rows/use-rows.ts'
import classes from './table.module.css'
import type { SelectionAccess } from './use-selection.ts'

export interface TableStatusLineProps {
  rows: Rows
  range: readonly [number, number]
  selection: SelectionAccess
  onDetails(): void
  /** Null where nothing can be edited. */
  cells: CellEditing | null
  onChangeAll(): void
}

export function StatusLine({
  rows: { state, countMs },
  range,
  selection,
  onDetails,
  cells,
  onChangeAll,
}: TableStatusLineProps): ReactElement {
  const { total, ms, isLoading } = state
  const count = selection.ids.length
  return (
    <div className={classes.status} role="status">
      <span>{total ? shownRows(range, total, countMs) : 'counting …'}</span>
      {count > 0 && (
        <span className={classes.selected}>
          {formatNumber(count)} selected
          <Button variant="ghost" onClick={onDetails}>
            details
          </Button>
          <Button variant="ghost" onClick={selection.clear}>
            clear
          </Button>
          {cells && count > 1 && (
            <Button variant="ghost" onClick={onChangeAll}>
              change
            </Button>
          )}
          <SelectedRowActions />
        </span>
      )}
      {cells?.canUndo && (
        <span className={classes.undo}>
          <Button variant="ghost" icon="undo" onClick={cells.undo}>
            Undo the last change
          </Button>
        </span>
      )}
      <span className={classes.ms}>{isLoading ? 'loading …' : ms === null ? '' : formatMs(ms)}</span>
    </div>
  )
}

/** rows 1–28 of 1 000 000 (exact, 0.3 s) */
function shownRows(
  [first, last]: readonly [number, number],
  total: { rows: number; isExact: boolean },
  countMs: number | null,
) {
  if (total.rows === 0) return total.isExact ? '0 rows' : 'about 0 rows'
  const took = countMs === null ? '' : `, ${formatMs(countMs)}`
  const number = total.isExact ? `${formatNumber(total.rows)} (exact${took})` : `about ${formatNumber(total.rows)}`
  return `rows ${formatNumber(first + 1)}–${formatNumber(Math.min(last + 1, total.rows))} of ${number}`
}
