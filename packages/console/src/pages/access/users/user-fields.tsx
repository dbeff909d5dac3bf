/** The form fields of a user. */
import type { ReactElement } from 'react'
import { useFaults } from '../../../components/faults/use-faults.ts'
import { Select, TextField } from '../../../components/field.tsx'
import { layout } from '../../../components/page.tsx'
import classes from '../access.module.css'
import { aclSentence } from '../acl/acl-sentence.ts'
import { useKeys } from '../keys/keys.ts'
import { RolesField } from './roles-field.tsx'

export interface UserDraft {
  email: string
  firstName: string
  lastName: string
  roles: readonly string[]
  /** The id of the user's default key; null means the application's. */
  keyId: string | null
}

export const emptyUser: UserDraft = { email: '', firstName: '', lastName: '', roles: [], keyId: null }

interface UserFieldsProps {
  draft: UserDraft
  error: unknown
  onChange(part: Partial<UserDraft>): void
}

export function UserFields({ draft, error, onChange }: UserFieldsProps): ReactElement {
  const faults = useFaults(error)
  return (
    <div className={layout.section}>
      <TextField
        label="E-mail"
        type="email"
        value={draft.email}
        error={faults.at('email')}
        required
        onChange={(email) => onChange({ email })}
      />
      <div className={classes.pair}>
        <TextField label="First name" value={draft.firstName} onChange={(firstName) => onChange({ firstName })} />
        <TextField label="Last name" value={draft.lastName} onChange={(lastName) => onChange({ lastName })} />
      </div>
      <RolesField roles={draft.roles} error={faults.at('roles')} onChange={(roles) => onChange({ roles })} />
      <KeyChoice
        label="May do what this key may"
        none="As the application says"
        keyId={draft.keyId}
        onChange={(keyId) => onChange({ keyId })}
      />
    </div>
  )
}

interface KeyChoiceProps {
  label: string
  /** The label of the empty option. */
  none: string
  keyId: string | null
  onChange(keyId: string | null): void
}

const noKey = 'none'
const hiddenKey = 'hidden'

/** Selects a key by description. Option values are indexes, because key ids are secrets and must not be in the page. */
export function KeyChoice({ label, none, keyId, onChange }: KeyChoiceProps): ReactElement {
  const { data: keys = [] } = useKeys()
  const index = keys.findIndex(({ id }) => id === keyId)
  const chosen = keys[index]
  const choices = keys.flatMap(({ type, description }, number) =>
    type === 'master' ? [] : [{ value: String(number), label: description || `Key without a name ${number + 1}` }],
  )
  const isHidden = keyId !== null && index < 0
  return (
    <Select
      label={label}
      value={isHidden ? hiddenKey : keyId === null ? noKey : String(index)}
      hint={chosen ? aclSentence(chosen.permissions) : 'The key that the tokens of a signed-in user stand for.'}
      options={[
        { value: noKey, label: none },
        ...(isHidden ? [{ value: hiddenKey, label: 'A key that this one cannot see' }] : []),
        ...choices,
      ]}
      onChange={(value) => value !== hiddenKey && onChange(keys[Number(value)]?.id ?? null)}
    />
  )
}
