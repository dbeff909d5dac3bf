/** The settings of columns: visibility, order and width, also by keyboard. */
import type { ReactElement } from 'react'
import { IconButton } from '../../../components/button.tsx'
import { Checkbox } from '../../../components/field.tsx'
import { Popover } from '../../../components/popup/popover.tsx'
import { type ColumnTable, moveColumn } from './columns.ts'
import classes from './table.module.css'

interface ColumnListProps {
  table: ColumnTable
}

export function ColumnList({ table }: ColumnListProps): ReactElement {
  const columns = table.getAllLeafColumns()
  const hidden = columns.filter((column) => !column.getIsVisible()).length
  return (
    <Popover
      label="Columns"
      trigger={<IconButton icon="columns" label={hidden > 0 ? `Columns (${hidden} hidden)` : 'Columns'} />}
    >
      <ul className={classes.columnList}>
        {columns.map((column, place) => (
          <li key={column.id}>
            <Checkbox
              label={column.id}
              isChecked={column.getIsVisible()}
              onChange={(isShown) => column.toggleVisibility(isShown)}
            />
            <span>
              <IconButton
                icon="chevronUp"
                label={`Move ${column.id} to the left`}
                disabled={place === 0}
                onClick={() => moveColumn(table, column.id, -1)}
              />
              <IconButton
                icon="chevronDown"
                label={`Move ${column.id} to the right`}
                disabled={place === columns.length - 1}
                onClick={() => moveColumn(table, column.id, 1)}
              />
              <IconButton icon="minus" label={`Narrower: ${column.id}`} onClick={() => widen(table, column.id, -40)} />
              <IconButton icon="plus" label={`Wider: ${column.id}`} onClick={() => widen(table, column.id, 40)} />
            </span>
          </li>
        ))}
      </ul>
    </Popover>
  )
}

function widen(table: ColumnTable, name: string, pixels: number): void {
  const size = table.getColumn(name)?.getSize() ?? 0
  table.setColumnSizing((sizes) => ({ ...sizes, [name]: Math.max(60, size + pixels) }))
}
