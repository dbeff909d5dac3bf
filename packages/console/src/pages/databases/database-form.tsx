/** The form that connects a database or edits a connection. Errors are shown at their fields. */
import type { Database } from '@graticule/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { ErrorNote, faultOf } from '../../components/error-note.tsx'
import { Checkbox, Select, TextField } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { useToast } from '../../components/toast.tsx'
import { useClient } from '../../session/session.tsx'
import { ConnectionFields } from './connection-fields.tsx'
import { createOf, type DatabaseDraft, draftOf, missingOf, newDraft, patchOf } from './database-draft.ts'
import { FileFields } from './file-fields.tsx'

export interface DatabaseFormProps {
  /** Null: a new one. */
  stored: Database | null
  onClose(): void
  onSaved(database: Database): void
}

const driverNames: Readonly<Record<string, string>> = {
  postgres: 'PostgreSQL, PostGIS',
  duckdb: 'Files: GeoParquet, Parquet, CSV, JSON, DuckDB',
  internal: 'Internal: a place in the platform’s own database',
}

export function DatabaseForm({ stored, onClose, onSaved }: DatabaseFormProps): ReactElement {
  const [draft, setDraft] = useState<DatabaseDraft>(() => (stored ? draftOf(stored) : newDraft))
  const change = (changes: Partial<DatabaseDraft>) => setDraft((old) => ({ ...old, ...changes }))
  const { mutate, isPending, error } = useSave(stored, onSaved)
  const faults = faultOf(error).fields
  const faultAt = (path: string) => faults.find((fault) => fault.path.startsWith(`body/${path}`))?.message
  return (
    <FormDialog
      title={stored ? `Edit “${stored.name}”` : 'Connect a database'}
      kind="wide"
      onClose={onClose}
      labels={[stored ? 'Save' : 'Connect', 'Saving …']}
      isPending={isPending}
      missing={missingOf(draft)}
      onSubmit={() => mutate(draft)}
    >
      <TextField
        label="Name"
        value={draft.name}
        maxLength={255}
        error={faultAt('name')}
        onChange={(name) => change({ name })}
      />
      {!stored && <Driver type={draft.type} onChange={(type) => change({ type })} />}
      {draft.type === 'postgres' && (
        <ConnectionFields draft={draft} stored={stored} faultAt={faultAt} onChange={change} />
      )}
      {draft.type === 'duckdb' && <FileFields draft={draft} stored={stored} faultAt={faultAt} onChange={change} />}
      <TextField
        label="Description"
        value={draft.description}
        maxLength={10_000}
        error={faultAt('description')}
        onChange={(description) => change({ description })}
      />
      <Checkbox
        label={
          draft.type === 'duckdb'
            ? 'Default: used where no database is named. Uploads that name none then fail, because files are only read'
            : 'Default: used where no database is named, and for uploads'
        }
        isChecked={draft.isDefault}
        disabled={stored?.default ?? false}
        onChange={(isDefault) => change({ isDefault })}
      />
      {error && faults.length === 0 && <ErrorNote error={error} />}
    </FormDialog>
  )
}

function Driver({ type, onChange }: { type: Database['type']; onChange(type: Database['type']): void }): ReactElement {
  const client = useClient()
  const { data: drivers = [type] } = useQuery({
    queryKey: ['databases', 'drivers'],
    queryFn: ({ signal }) => client.databases.drivers({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Select
      label="Kind"
      value={type}
      options={drivers
        .map((value) => ({ value: value as Database['type'], label: driverNames[value] ?? value }))
        .toReversed()}
      onChange={onChange}
    />
  )
}

function useSave(stored: Database | null, onSaved: (database: Database) => void) {
  const client = useClient()
  const cache = useQueryClient()
  const { say } = useToast()
  return useMutation({
    mutationFn: (draft: DatabaseDraft) =>
      stored ? client.databases.patch(stored.id, patchOf(draft, stored)) : client.databases.create(createOf(draft)),
    async onSuccess(database) {
      await cache.invalidateQueries({ queryKey: ['databases'] })
      say({ title: `“${database.name}” is saved` })
      onSaved(database)
    },
  })
}
