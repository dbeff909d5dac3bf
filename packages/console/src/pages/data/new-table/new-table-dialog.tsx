/** The dialog that makes a table with its columns, and its dataset. Errors are shown at their fields. */
import { ApiError } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import type { Faults } from '../../../components/faults/faults.ts'
import { useFaults } from '../../../components/faults/use-faults.ts'
import { TextField } from '../../../components/field.tsx'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { ColumnList } from './column-list.tsx'
import { emptyTable, missingOf, sourceOf, type TableDraft } from './table-draft.ts'
import { useMakeTable } from './use-make-table.ts'

interface NewTableDialogProps {
  onClose(): void
}

export function NewTableDialog({ onClose }: NewTableDialogProps): ReactElement {
  const [draft, setDraft] = useState(emptyTable)
  const make = useMakeTable(onClose)
  const faults = useFaults(make.error)
  const takenName = conflictOf(make.error, faults)
  const change = (changes: Partial<TableDraft>) => {
    setDraft((before) => ({ ...before, ...changes }))
    make.reset()
  }
  return (
    <FormDialog
      title="New table"
      kind="wide"
      onClose={onClose}
      labels={['Make table', 'Making …']}
      isPending={make.isPending}
      missing={missingOf(draft)}
      error={takenName !== undefined || faults.areOf(shownPaths(draft)) ? null : make.error}
      onSubmit={() => make.mutate(draft)}
    >
      <NameFields draft={draft} faults={faults} takenName={takenName} onChange={change} />
      <ColumnList columns={draft.columns} faults={faults} onChange={(columns) => change({ columns })} />
    </FormDialog>
  )
}

const columnPaths = ['name', 'type', 'dbType', 'primaryKey', 'geometryType', 'srid', 'default']

const shownPaths = ({ columns }: TableDraft): string[] => [
  ...['name', 'source', 'description'],
  ...columns.flatMap((_, index) => columnPaths.map((path) => `columns/${index}/${path}`)),
]

/** Only the name of the table can be in conflict with something. */
const conflictOf = (error: unknown, faults: Faults): string | undefined =>
  error instanceof ApiError && error.code === 'conflict' && faults.isEmpty ? error.message : undefined

interface NameFieldsProps {
  draft: TableDraft
  faults: Faults
  takenName: string | undefined
  onChange(changes: Partial<TableDraft>): void
}

function NameFields({ draft, faults, takenName, onChange }: NameFieldsProps): ReactElement {
  return (
    <>
      <TextField
        label="Name"
        placeholder="Trees"
        value={draft.name}
        maxLength={255}
        error={faults.at('name')}
        onChange={(name) => onChange({ name })}
      />
      <TextField
        label="Table in the database"
        hint="Letters, digits and _"
        placeholder={sourceOf(draft) || 'trees'}
        autoComplete="off"
        spellCheck={false}
        maxLength={50}
        value={draft.source}
        error={faults.at('source') ?? takenName}
        onChange={(source) => onChange({ source })}
      />
      <TextField
        label="Description"
        value={draft.description}
        maxLength={10_000}
        error={faults.at('description')}
        onChange={(description) => onChange({ description })}
      />
    </>
  )
}
