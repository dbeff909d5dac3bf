/** The dialog that makes a table with its columns, and its dataset. Errors are shown at their fields. */
import { ApiError } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { faultOf } from '../../../components/error-note.tsx'
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
  const errorAt = errorsOf(make.error)
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
      error={errorAt.isComplete ? null : make.error}
      onSubmit={() => make.mutate(draft)}
    >
      <NameFields draft={draft} errorAt={errorAt} onChange={change} />
      <ColumnList columns={draft.columns} errorAt={errorAt} onChange={(columns) => change({ columns })} />
    </FormDialog>
  )
}

export interface ErrorAt {
  (path: string): string | undefined
  /** Whether all that is wrong is shown at fields. */
  readonly isComplete: boolean
}

const shownPath =
  /^body\/(name|source|description|columns(\/\d+\/(name|type|dbType|primaryKey|geometryType|default))?)$/

function errorsOf(error: unknown): ErrorAt {
  const { fields, message } = faultOf(error)
  // Only the name of the table can be in conflict with something.
  const isTaken = error instanceof ApiError && error.code === 'conflict' && fields.length === 0
  const found = isTaken ? [{ path: 'body/source', message }] : fields
  const at = (path: string) => found.find((one) => one.path === `body/${path}`)?.message
  const isComplete = found.length > 0 && found.every(({ path }) => shownPath.test(path))
  return Object.assign(at, { isComplete })
}

interface NameFieldsProps {
  draft: TableDraft
  errorAt: ErrorAt
  onChange(changes: Partial<TableDraft>): void
}

function NameFields({ draft, errorAt, onChange }: NameFieldsProps): ReactElement {
  return (
    <>
      <TextField
        label="Name"
        placeholder="Trees"
        value={draft.name}
        maxLength={255}
        error={errorAt('name')}
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
        error={errorAt('source')}
        onChange={(source) => onChange({ source })}
      />
      <TextField
        label="Description"
        value={draft.description}
        maxLength={10_000}
        error={errorAt('description')}
        onChange={(description) => onChange({ description })}
      />
    </>
  )
}
