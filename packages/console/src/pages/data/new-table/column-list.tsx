/** The columns of a new table. */
import type { ReactElement } from 'react'
import { Button, IconButton } from '../../../components/button.tsx'
import type { Faults } from '../../../components/faults/faults.ts'
import { Checkbox } from '../../../components/field.tsx'
import { type ColumnDraft, kindOf } from '../../dataset/edit/column-draft.ts'
import { ColumnFields } from '../../dataset/edit/column-fields.tsx'
import classes from './new-table.module.css'
import { type PlacedColumn, withColumn } from './table-draft.ts'

export interface ColumnListProps {
  columns: readonly PlacedColumn[]
  faults: Faults
  onChange(columns: readonly PlacedColumn[]): void
}

export function ColumnList({ columns, faults, onChange }: ColumnListProps): ReactElement {
  const change = (index: number, changes: Partial<ColumnDraft>) =>
    onChange(columns.map((one, at) => (at === index ? { ...one, ...changes } : one)))
  // Those of single columns are shown there.
  const error = faults.under('columns').find(({ path }) => path === '')?.message
  return (
    <fieldset className={classes.columns}>
      <legend>Columns</legend>
      <div className={classes.head} aria-hidden="true">
        <span>Name</span>
        <span>Type</span>
        <span>Length, digits, SRID</span>
        <span>Default or geometry</span>
      </div>
      <ol>
        {columns.map((column, index) => (
          <ColumnItem
            key={column.place}
            number={index + 1}
            column={column}
            errorAt={(field) => faults.at(`columns/${index}/${field}`)}
            onChange={(changes) => change(index, changes)}
            onRemove={columns.length > 1 ? () => onChange(columns.toSpliced(index, 1)) : undefined}
          />
        ))}
      </ol>
      {error && (
        <p role="alert" className={classes.error}>
          {error}
        </p>
      )}
      <p className={classes.hint}>
        The key addresses the rows: whole numbers are counted up, UUIDs made. Without a key the table gets a column{' '}
        <code>id</code>.
      </p>
      <div>
        <Button icon="plus" onClick={() => onChange(withColumn(columns))}>
          Add column
        </Button>
      </div>
    </fieldset>
  )
}

interface ColumnItemProps {
  number: number
  column: ColumnDraft
  errorAt(field: string): string | undefined
  onChange(changes: Partial<ColumnDraft>): void
  onRemove: (() => void) | undefined
}

function ColumnItem({ number, column, errorAt, onChange, onRemove }: ColumnItemProps): ReactElement {
  const name = column.name || `column ${number}`
  return (
    <li className={classes.column}>
      <ColumnFields column={column} suffix={` of column ${number}`} errorAt={errorAt} onChange={onChange} />
      <Checkbox
        label="Key"
        aria-label={`Key: column ${number}`}
        isChecked={column.isKey}
        disabled={!kindOf(column.kind).isKeyKind}
        onChange={(isKey) => onChange({ isKey })}
      />
      <IconButton
        icon="close"
        label={`Remove ${name}`}
        disabledReason={onRemove ? undefined : 'A table has at least one column.'}
        onClick={onRemove}
      />
    </li>
  )
}
