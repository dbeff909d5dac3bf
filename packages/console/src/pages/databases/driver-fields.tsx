/** The fields that a driver's form declares. */
import type { Database } from '@graticule/client'
import type { ReactElement } from 'react'
import { Segmented, Select, TextArea, TextField } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import { type ConnectionDraft, inWay } from './database-draft.ts'
import classes from './databases.module.css'
import { type DriverForm, type FormField, fieldsOfWay, isShown, isWayFixed } from './driver-form.ts'

interface DriverFieldsProps {
  form: DriverForm
  draft: ConnectionDraft
  stored: Database | null
  /** The server's error for a field of the form, such as `host`. */
  faultAt(name: string): string | undefined
  onChange(draft: ConnectionDraft): void
}

export function DriverFields({ form, draft, stored, faultAt, onChange }: DriverFieldsProps): ReactElement {
  const { ways } = form
  const { way, values } = draft
  return (
    <>
      {ways && !(stored && isWayFixed(form)) && (
        <div className={layout.row}>
          <Segmented
            label={ways.label}
            value={way}
            options={ways.choices.map(({ name, label }) => ({ value: name, label }))}
            onChange={(next) => onChange(inWay(form, draft, next))}
          />
        </div>
      )}
      <div className={classes.pairs}>
        {fieldsOfWay(form, way)
          .filter((field) => isShown(field, values))
          .map((field) => (
            <DriverField
              key={`${way} ${field.name}`}
              field={field}
              value={values[field.name] ?? ''}
              error={faultAt(field.name)}
              isStored={field.name === 'password' && stored?.passwordSet === true}
              onChange={(value) => onChange({ ...draft, values: { ...values, [field.name]: value } })}
            />
          ))}
      </div>
    </>
  )
}

interface DriverFieldProps {
  field: FormField
  value: string
  error: string | undefined
  /** There is a secret already. */
  isStored: boolean
  onChange(value: string): void
}

/** Kinds that are as wide as the form. */
const wideKinds: readonly FormField['kind'][] = ['url', 'choice', 'lines', 'block']

function DriverField({ field, isStored, ...control }: DriverFieldProps): ReactElement {
  const { label, kind, secret, help, placeholder, choices = [] } = field
  const hint = isStored ? 'Leave empty to keep the one that is stored.' : help
  const className = wideKinds.includes(kind) ? (classes.whole ?? '') : ''
  const shared = { ...control, label, hint, className }
  if (kind === 'choice') return <Select {...shared} options={choices} />
  const typed = { ...shared, placeholder, autoComplete: secret ? 'new-password' : 'off', spellCheck: false }
  if (kind === 'lines' || kind === 'block') return <TextArea {...typed} rows={kind === 'lines' ? 3 : 5} />
  return (
    <TextField
      {...typed}
      type={secret ? 'password' : 'text'}
      inputMode={kind === 'integer' ? 'numeric' : kind === 'url' ? 'url' : 'text'}
    />
  )
}
