/** The source fields of a dataset, by its type. */
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useId } from 'react'
import { CodeEditor } from '../../components/code-editor/code-editor.tsx'
import { Field, Select, TextArea, TextField } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useMay } from '../../session/session.tsx'
import { sqlDiagnostic } from '../dataset/query/sql-fault.ts'
import classes from './data.module.css'
import type { DraftFieldsProps } from './parameter-fields.tsx'

export function SourceFields(props: DraftFieldsProps): ReactElement {
  switch (props.draft.type) {
    case 'table':
      return <TableFields {...props} />
    case 'sql':
      return <SqlFields {...props} />
    case 'rest':
      return <WebServiceFields {...props} />
    case 'lambda':
      return <FunctionFields {...props} />
  }
}

/** The tables of the selected database, if the key may list them. */
function useTables(databaseId: string) {
  const client = useClient()
  const may = useMay()
  return useQuery({
    queryKey: queryKeys.databases.one(databaseId, 'tables', { limit: 1000 }),
    queryFn: ({ signal }) => client.databases.tables(databaseId, { limit: 1000, signal }),
    enabled: databaseId !== '' && may('databases', 'execute', databaseId),
  })
}

function useDatabases() {
  const client = useClient()
  const mayRead = useMay()('databases', 'read')
  const { data = [] } = useQuery({
    queryKey: queryKeys.databases.listWith({ fields: ['id', 'name', 'default'] }),
    queryFn: ({ signal }) =>
      client.databases.list({ fields: ['id', 'name', 'default'], sort: ['name'], limit: 1000, signal }),
    enabled: mayRead,
  })
  return data
}

function useChosenDatabase(databaseId: string): string {
  const databases = useDatabases()
  return databaseId || (databases.find((one) => one.default)?.id ?? '')
}

function DatabaseField({ draft, faultAt, onChange }: DraftFieldsProps): ReactElement | null {
  const databases = useDatabases()
  const chosen = useChosenDatabase(draft.databaseId)
  if (databases.length === 0) return null
  return (
    <Select
      label="Database"
      value={chosen}
      error={faultAt('databaseId')}
      options={databases.map(({ id, name, default: isDefault }) => ({
        value: id,
        label: isDefault ? `${name} (default)` : name,
      }))}
      onChange={(databaseId) => onChange({ databaseId })}
    />
  )
}

function TableFields(props: DraftFieldsProps): ReactElement {
  const { draft, faultAt, onChange } = props
  const { data: tables = [], error } = useTables(useChosenDatabase(draft.databaseId))
  const list = useId()
  const chosen = tables.find(({ source }) => source === draft.source)
  return (
    <>
      <DatabaseField {...props} />
      <Field
        label="Table"
        hint={
          chosen?.datasetId
            ? 'A dataset of this table exists already; this will be another.'
            : 'A table or view: name or schema.name'
        }
        error={faultAt('source') ?? (error ? error.message : undefined)}
      >
        {(control) => (
          <input
            {...control}
            list={list}
            autoComplete="off"
            value={draft.source}
            onChange={({ target: { value } }) =>
              onChange({ source: value, ...(draft.name === draft.source && { name: value }) })
            }
          />
        )}
      </Field>
      <datalist id={list}>
        {tables.map(({ source, kind, geometryType }) => (
          <option key={source} value={source}>
            {[kind, geometryType].filter(Boolean).join(', ')}
          </option>
        ))}
      </datalist>
    </>
  )
}

function SqlFields(props: DraftFieldsProps): ReactElement {
  const { draft, faultAt, onChange } = props
  const { data: tables = [] } = useTables(useChosenDatabase(draft.databaseId))
  const fault = faultAt('source')
  return (
    <>
      <DatabaseField {...props} />
      <div>
        <p className={classes.label}>SQL</p>
        <CodeEditor
          language="sql"
          label="SQL"
          value={draft.source}
          onChange={(source) => onChange({ source })}
          completions={tables.map(({ source, kind }) => ({ label: source, detail: kind, type: 'class' }))}
          diagnostics={fault ? [sqlDiagnostic(draft.source, fault)] : []}
        />
        <p className={classes.hint}>
          One SELECT. <code>:name</code> is a parameter.
        </p>
        {fault && (
          <p role="alert" className={classes.error}>
            {fault}
          </p>
        )}
      </div>
    </>
  )
}

function WebServiceFields({ draft, faultAt, onChange }: DraftFieldsProps): ReactElement {
  return (
    <>
      <TextField
        label="Address"
        type="url"
        placeholder="https://example.org/stations?since={since}"
        hint="Answers JSON, GeoJSON or CSV. {name} is a parameter."
        value={draft.source}
        error={faultAt('source')}
        onChange={(source) => onChange({ source })}
      />
      <div className={classes.grid}>
        <TextField
          label="Rows"
          placeholder="data.items"
          hint="Where in the JSON; not for GeoJSON or CSV"
          value={draft.rowsPath}
          error={faultAt('metadata/rest/path')}
          onChange={(rowsPath) => onChange({ rowsPath })}
        />
        <TextField
          label="Latitude"
          placeholder="place.lat"
          hint="The field that holds it"
          value={draft.latitude}
          error={faultAt('metadata/rest/point/lat') ?? faultAt('metadata/rest/point')}
          onChange={(latitude) => onChange({ latitude })}
        />
        <TextField
          label="Longitude"
          placeholder="place.lon"
          hint="The field that holds it"
          value={draft.longitude}
          error={faultAt('metadata/rest/point/lon')}
          onChange={(longitude) => onChange({ longitude })}
        />
      </div>
      <TextArea
        label="Secret headers"
        placeholder="Authorization: Bearer …"
        hint="Name: value, one on each line. They are sealed and shown to nobody."
        value={draft.headers}
        error={faultAt('secrets')}
        onChange={(headers) => onChange({ headers })}
      />
    </>
  )
}

function FunctionFields({ draft, faultAt, onChange }: DraftFieldsProps): ReactElement {
  return (
    <>
      <TextField
        label="Function"
        placeholder="find-parcels"
        value={draft.source}
        error={faultAt('source')}
        onChange={(source) => onChange({ source })}
      />
      <Note>
        A function of AWS Lambda that the operator of this server allows in LAMBDA_FUNCTIONS. It gets the parameters and
        answers rows.
      </Note>
    </>
  )
}
