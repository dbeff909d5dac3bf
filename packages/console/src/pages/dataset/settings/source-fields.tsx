/** The source fields of a dataset, by its type. */
import type { Dataset } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Button, IconButton } from '../../../components/button.tsx'
import { Select, TextField } from '../../../components/field.tsx'
import { layout } from '../../../components/page.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay } from '../../../session/session.tsx'
import type { Header } from './draft.ts'
import type { FieldsProps } from './fields.ts'
import classes from './settings.module.css'

const sourceLabels: Record<Exclude<Dataset['type'], 'sql'>, { label: string; hint: string }> = {
  table: { label: 'Table or view', hint: 'name or schema.name in the database' },
  rest: { label: 'Address', hint: 'http or https; {name} is a parameter, anywhere after the host' },
  lambda: { label: 'Function', hint: 'Its name or ARN' },
}

export function SourceFields(props: FieldsProps): ReactElement {
  const { dataset, draft, change, errorAt } = props
  const { type } = dataset
  return (
    <section className={classes.section} aria-label="Source">
      <h2>Source</h2>
      {type === 'sql' ? (
        <p>
          The rows are those of an SQL statement.{' '}
          <Link to="/data/$datasetId/query" params={{ datasetId: dataset.id }}>
            Edit the SQL beside its result
          </Link>
        </p>
      ) : (
        <TextField
          {...sourceLabels[type]}
          value={draft.source}
          error={errorAt('source')}
          onChange={(source) => change({ source })}
        />
      )}
      {(type === 'sql' || type === 'table') && <DatabaseField {...props} />}
      {type === 'rest' && <HeaderFields {...props} />}
    </section>
  )
}

function DatabaseField({ draft, change, errorAt }: FieldsProps): ReactElement | null {
  const client = useClient()
  const isShown = useMay()('databases', 'read')
  const params = { fields: ['id', 'name', 'default'], limit: 500 } as const
  const { data: databases } = useQuery({
    queryKey: queryKeys.databases.listWith(params),
    queryFn: ({ signal }) => client.databases.list({ ...params, signal }),
    enabled: isShown,
  })
  if (!databases) return null
  const options = databases.map((one) => ({ value: one.id, label: one.default ? `${one.name} (default)` : one.name }))
  const isKnown = databases.some(({ id }) => id === draft.databaseId)
  return (
    <Select
      label="Database"
      value={draft.databaseId}
      options={isKnown ? options : [{ value: draft.databaseId, label: draft.databaseId }, ...options]}
      error={errorAt('databaseId')}
      onChange={(databaseId) => change({ databaseId })}
    />
  )
}

const noHeader: Header = { name: '', value: '' }

/** Secret headers are write-only: the server sends them only to the service. */
function HeaderFields({ draft, change, errorAt }: FieldsProps): ReactElement {
  const { headers } = draft
  const set = (rows: readonly Header[]) => change({ headers: rows })
  return (
    <fieldset className={classes.section}>
      <legend className="visually-hidden">Secret headers</legend>
      <p className={classes.muted}>
        {headers === 'keep' &&
          'Secret headers, such as a key of the service, are sent with each request and never shown.'}
        {headers === 'remove' && 'All secret headers will be removed when you save.'}
        {typeof headers === 'object' && 'These take the place of all secret headers when you save.'}
      </p>
      {typeof headers === 'object' &&
        headers.map((header, index) => (
          <div key={index} className={classes.header}>
            <TextField
              label="Header"
              placeholder="Authorization"
              value={header.name}
              onChange={(name) => set(headers.with(index, { ...header, name }))}
            />
            <TextField
              label="Value"
              type="password"
              autoComplete="off"
              value={header.value}
              onChange={(value) => set(headers.with(index, { ...header, value }))}
            />
            <IconButton
              icon="trash"
              label={`Remove header ${header.name || index + 1}`}
              onClick={() => set(headers.toSpliced(index, 1))}
            />
          </div>
        ))}
      {errorAt('secrets') && <p role="alert">{errorAt('secrets')}</p>}
      <div className={layout.row}>
        <Button icon="plus" onClick={() => set([...(typeof headers === 'object' ? headers : []), noHeader])}>
          {typeof headers === 'object' ? 'Add header' : 'Replace headers'}
        </Button>
        {headers !== 'remove' && <Button onClick={() => change({ headers: 'remove' })}>Remove all</Button>}
        {headers !== 'keep' && <Button onClick={() => change({ headers: 'keep' })}>Keep what is stored</Button>}
      </div>
    </fieldset>
  )
}
