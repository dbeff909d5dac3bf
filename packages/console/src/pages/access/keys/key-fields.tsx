/** The fields of a key besides its ACL: name, type, expiry, origins. */
import type { ReactElement } from 'react'
import { useFaults } from '../../../components/faults/use-faults.ts'
import { Select, TextField } from '../../../components/field.tsx'
import { useSession } from '../../../session/session.tsx'
import type { Resource } from '../acl/resources.ts'
import { EntryList } from '../entry-list.tsx'
import { type Expiry, type KeyDraft, readOrigin } from './key-draft.ts'
import classes from './key-editor.module.css'

interface KeyFieldsProps {
  draft: KeyDraft
  users: readonly Resource[]
  error: unknown
  onChange(part: Partial<KeyDraft>): void
}

const types = [
  { value: 'app' as const, label: 'app: this application' },
  { value: 'user' as const, label: 'user: what one user owns' },
]
const masterType = { value: 'master' as const, label: 'master: every application' }

const expiries: { value: Expiry; label: string }[] = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'date', label: 'On a date …' },
]

export function KeyFields({ draft, users, error, onChange }: KeyFieldsProps): ReactElement {
  const { access } = useSession()
  const faults = useFaults(error)
  return (
    <div className={classes.fields}>
      <TextField
        label="Name"
        value={draft.description}
        placeholder="Web page of the harbour"
        error={faults.at('description')}
        required
        onChange={(description) => onChange({ description })}
      />
      <Select
        label="Type"
        value={draft.type}
        options={access.type === 'master' ? [...types, masterType] : types}
        onChange={(type) => onChange({ type })}
      />
      {draft.type === 'user' && (
        <Select
          label="User"
          value={draft.userId}
          error={faults.at('userId')}
          required
          options={[
            { value: '', label: 'Choose a user' },
            ...users.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(userId) => onChange({ userId })}
        />
      )}
      <Select
        label="Expires"
        value={draft.expiry}
        options={expiries}
        error={faults.at('expiresAt')}
        onChange={(expiry) => onChange({ expiry })}
      />
      {draft.expiry === 'date' && (
        <TextField
          label="On"
          type="datetime-local"
          value={draft.expiresOn}
          required
          onChange={(expiresOn) => onChange({ expiresOn })}
        />
      )}
      <EntryList
        label="Allowed origins"
        hint="The web pages that may use it. None: everywhere, also without a browser."
        placeholder="https://maps.example.org"
        entries={draft.origins}
        read={readOrigin}
        onChange={(origins) => onChange({ origins })}
      />
    </div>
  )
}
