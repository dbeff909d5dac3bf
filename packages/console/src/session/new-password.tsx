/** A new password, typed twice. */
import type { ReactElement } from 'react'
import { useFaults } from '../components/faults/use-faults.ts'
import { TextField } from '../components/field.tsx'

export interface NewPasswordValue {
  password: string
  repeated: string
}

export const noPassword: NewPasswordValue = { password: '', repeated: '' }

/** The server's limit; checking it here saves a request. */
const minLength = 8

export const isGoodPassword = ({ password, repeated }: NewPasswordValue): boolean =>
  password === repeated && [...password].length >= minLength

interface NewPasswordProps {
  value: NewPasswordValue
  /** The last error; those about the password are shown at its field. */
  error: unknown
  onChange(value: NewPasswordValue): void
}

export function NewPassword({ value, error, onChange }: NewPasswordProps): ReactElement {
  const fault = useFaults(error).at('password')
  const isOther = value.repeated !== '' && value.repeated !== value.password
  return (
    <>
      <TextField
        label="New password"
        type="password"
        value={value.password}
        hint={`At least ${minLength} characters; not one of the common ones.`}
        error={fault}
        onChange={(password) => onChange({ ...value, password })}
        autoComplete="new-password"
        required
      />
      <TextField
        label="The same again"
        type="password"
        value={value.repeated}
        error={isOther ? 'The two are not the same.' : undefined}
        onChange={(repeated) => onChange({ ...value, repeated })}
        autoComplete="new-password"
        required
      />
    </>
  )
}
