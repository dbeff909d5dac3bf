/** Name, description, attribution and owner. */
import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Select, TextArea, TextField } from '../../../components/field.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay } from '../../../session/session.tsx'
import { readMetadata, withKey } from './draft.ts'
import type { FieldsProps } from './fields.ts'
import classes from './settings.module.css'

export function GeneralFields({ draft, change, errorAt }: FieldsProps): ReactElement {
  const metadata = readMetadata(draft.metadata)
  const attribution = typeof metadata?.attribution === 'string' ? metadata.attribution : ''
  return (
    <section className={classes.section} aria-label="General">
      <h2>General</h2>
      <TextField
        label="Name"
        maxLength={255}
        value={draft.name}
        error={errorAt('name')}
        onChange={(name) => change({ name })}
      />
      <TextArea
        label="Description"
        maxLength={10_000}
        value={draft.description}
        error={errorAt('description')}
        onChange={(description) => change({ description })}
      />
      <TextField
        label="Attribution"
        hint="Whose data these are; shown on maps. Kept in the metadata as attribution."
        value={attribution}
        disabled={!metadata}
        error={errorAt('metadata/attribution')}
        onChange={(text) => change({ metadata: withKey(draft.metadata, 'attribution', text || undefined) })}
      />
      <OwnerField owner={draft.owner} error={errorAt('ownerId')} onChange={(owner) => change({ owner })} />
    </section>
  )
}

interface OwnerFieldProps {
  owner: string
  error: string | undefined
  onChange(owner: string): void
}

const mostUsers = 500

/** Shown only if the key may list users; otherwise the owner would be an unknown id. */
function OwnerField({ owner, error, onChange }: OwnerFieldProps): ReactElement | null {
  const client = useClient()
  const isShown = useMay()('users', 'read')
  const params = { fields: ['id', 'email'] as const, sort: ['email'], limit: mostUsers }
  const { data: users } = useQuery({
    queryKey: queryKeys.users.listWith(params),
    queryFn: ({ signal }) => client.auth.users.list({ ...params, signal }),
    enabled: isShown,
  })
  if (!isShown || !users || (users.length === 0 && owner === '')) return null
  const options = users.map(({ id, email }) => ({ value: id, label: email }))
  const unknown =
    owner !== '' && !users.some(({ id }) => id === owner) ? [{ value: owner, label: `User ${owner}` }] : []
  return (
    <Select
      label="Owner"
      hint="A user who may change it, where keys are bound to what their user owns."
      value={owner}
      options={[{ value: '', label: 'Nobody' }, ...options, ...unknown]}
      error={error}
      onChange={onChange}
    />
  )
}
