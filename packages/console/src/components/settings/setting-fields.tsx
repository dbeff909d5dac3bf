/** Form controls for declared settings. A stored secret is shown as "set"; it can be replaced or removed, not read. */
import { type ReactElement, useState } from 'react'
import { Button } from '../button.tsx'
import { CodeBlock } from '../copyable.tsx'
import { Checkbox, Select, TextArea, TextField } from '../field.tsx'
import { layout } from '../page.tsx'
import type { SettingDraft, SettingField } from './setting-values.ts'

export interface SettingFieldsProps {
  fields: readonly SettingField[]
  draft: SettingDraft
  /** Which secrets are stored. */
  stored?: Readonly<Record<string, boolean>> | undefined
  faults: Readonly<Record<string, string>>
  onChange(draft: SettingDraft): void
}

export function SettingFields({ fields, draft, stored = {}, faults, onChange }: SettingFieldsProps): ReactElement[] {
  return fields.map((field) => (
    <SettingControl
      key={field.name}
      field={field}
      value={draft[field.name] ?? null}
      isStored={stored[field.name] === true}
      isRemoved={draft[field.name] === null && field.isSecret === true}
      error={faults[field.name]}
      onChange={(value) => onChange({ ...draft, [field.name]: value })}
    />
  ))
}

interface SettingControlProps {
  field: SettingField
  value: string | boolean | null
  isStored: boolean
  isRemoved: boolean
  error: string | undefined
  onChange(value: string | boolean | null): void
}

function SettingControl(props: SettingControlProps): ReactElement {
  const { field, value, error, onChange } = props
  const { name, label, kind, hint, options = [] } = field
  if (field.isSecret) return <SecretControl {...props} />
  const shared = { label, hint, name, error, placeholder: field.placeholder, required: field.isRequired, onChange }
  const text = typeof value === 'string' ? value : ''
  if (kind === 'switch') {
    return <Checkbox label={<Described label={label} hint={hint} />} isChecked={value === true} onChange={onChange} />
  }
  if (kind === 'choice')
    return <Select label={label} hint={hint} error={error} options={options} onChange={onChange} value={text} />
  if (kind === 'area' || kind === 'lines' || kind === 'pairs') return <TextArea {...shared} value={text} rows={4} />
  return (
    <TextField
      {...shared}
      value={text}
      autoComplete="off"
      spellCheck={false}
      {...(kind === 'number' ? { inputMode: 'numeric' as const } : {})}
    />
  )
}

interface DescribedProps {
  label: string
  hint: string | undefined
}

function Described({ label, hint }: DescribedProps): ReactElement {
  return <span>{hint ? `${label}: ${hint}` : label}</span>
}

function SecretControl({ field, value, isStored, isRemoved, error, onChange }: SettingControlProps): ReactElement {
  const { label, hint, placeholder, kind, isRequired } = field
  if (isRemoved) {
    return (
      <p className={layout.row}>
        {label} will be removed when you save. <Button onClick={() => onChange('')}>Keep it</Button>
      </p>
    )
  }
  const shared = {
    label,
    error,
    hint: isStored ? 'It is set. Leave empty to keep it.' : hint,
    placeholder: isStored ? '••••••••' : placeholder,
    required: isRequired === true && !isStored,
    value: typeof value === 'string' ? value : '',
    autoComplete: 'off',
    onChange,
  }
  return (
    <>
      {kind === 'pairs' ? <TextArea {...shared} rows={3} /> : <TextField {...shared} type="password" />}
      {field.make && <MadeSecret label={label} make={field.make} value={shared.value} onChange={onChange} />}
      {isStored && !isRequired && (
        <div>
          <Button variant="ghost" icon="trash" onClick={() => onChange(null)}>
            Remove {label.toLowerCase()}
          </Button>
        </div>
      )}
    </>
  )
}

interface MadeSecretProps {
  label: string
  make(): string
  value: string
  onChange(value: string): void
}

/** A secret made here is shown until the form is sent: the receiver needs it, and nobody can read it afterwards. */
function MadeSecret({ label, make, value, onChange }: MadeSecretProps): ReactElement {
  const [made, setMade] = useState<string | null>(null)
  const use = () => {
    const secret = make()
    setMade(secret)
    onChange(secret)
  }
  return (
    <div className={layout.section}>
      <div>
        <Button icon="access" onClick={use}>
          Make a {label.toLowerCase()}
        </Button>
      </div>
      {made !== null && made === value && (
        <>
          <CodeBlock text={made} label={`the new ${label.toLowerCase()}`} />
          <p>Give it to the receiver now. It is not shown again.</p>
        </>
      )}
    </div>
  )
}
