/** Whom the rules bind, with what that means for keys without a user. */
import { type ReactElement, useId } from 'react'
import type { BoundCallers } from './rule.ts'
import classes from './rules.module.css'

export const boundLabels: Readonly<Record<BoundCallers, string>> = {
  users: 'The rules bind users, and keys that stand for a user.',
  all: 'The rules bind all callers, also keys without a user.',
}

const choices: readonly { value: BoundCallers; label: string; meaning: string }[] = [
  {
    value: 'users',
    label: 'Users',
    meaning:
      'Whoever signs in, and keys that stand for a user. Keys without a user, such as a developer key or that of a public map, see and write all that they grant.',
  },
  {
    value: 'all',
    label: 'All callers',
    meaning:
      'Keys without a user too: they see and write what the rules for anyone leave them, and nothing where there is none. This is for data with a public key, and binds the key that you use here as well.',
  },
]

export interface BoundChoiceProps {
  value: BoundCallers
  error: string | undefined
  onChange(value: BoundCallers): void
}

export function BoundChoice({ value, error, onChange }: BoundChoiceProps): ReactElement {
  const id = useId()
  return (
    <fieldset className={classes.group}>
      <legend>Whom the rules bind</legend>
      {choices.map((choice) => (
        <div key={choice.value} className={classes.bound}>
          <input
            type="radio"
            id={`${id}-${choice.value}`}
            name={id}
            checked={choice.value === value}
            aria-describedby={`${id}-${choice.value}-meaning`}
            onChange={() => onChange(choice.value)}
          />
          <label htmlFor={`${id}-${choice.value}`}>{choice.label}</label>
          <p id={`${id}-${choice.value}-meaning`} className={classes.muted}>
            {choice.meaning}
          </p>
        </div>
      ))}
      {error && (
        <p role="alert" className={classes.faults}>
          {error}
        </p>
      )}
    </fieldset>
  )
}
