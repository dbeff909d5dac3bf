/** The fields of a database of files: a folder, a web address or a bucket. */
import type { Database } from '@graticule/client'
import type { ReactElement } from 'react'
import { Segmented, TextArea, TextField } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import type { DatabaseDraft } from './database-draft.ts'
import classes from './databases.module.css'
import { type FileField, type FilePlace, filePlaces } from './file-places.ts'

interface FileFieldsProps {
  draft: DatabaseDraft
  stored: Database | null
  /** The server's error for a field of the request, such as `db`. */
  faultAt(path: string): string | undefined
  onChange(changes: Partial<DatabaseDraft>): void
}

const places = Object.entries(filePlaces).map(([value, { label }]) => ({ value: value as FilePlace, label }))

/** The place of a stored one is fixed: a secret belongs to its bucket, and the server does not let it be dropped in a move. */
export function FileFields({ draft, stored, faultAt, onChange }: FileFieldsProps): ReactElement {
  return (
    <>
      {!stored && (
        <div className={layout.row}>
          <Segmented
            label="Where the files are"
            value={draft.place}
            options={places}
            onChange={(place) => onChange({ place, db: '' })}
          />
        </div>
      )}
      <div className={classes.pairs}>
        {filePlaces[draft.place].fields.map((field) => (
          <FileControl
            key={`${draft.place} ${field.name}`}
            field={field}
            value={draft[field.name]}
            error={faultAt(field.name) ?? faultAt(`metadata/${field.name}`)}
            isStored={stored?.passwordSet ?? false}
            onChange={(value) => onChange({ [field.name]: value })}
          />
        ))}
      </div>
    </>
  )
}

interface FileControlProps {
  field: FileField
  value: string
  error: string | undefined
  /** Whether there is a secret already. */
  isStored: boolean
  onChange(value: string): void
}

function FileControl({ field: { name, ...texts }, isStored, ...rest }: FileControlProps): ReactElement {
  const shared = { ...texts, ...rest, autoComplete: 'off', spellCheck: false }
  const whole = classes.whole ?? ''
  if (name === 'files') return <TextArea {...shared} className={whole} rows={3} />
  if (name !== 'password') return <TextField {...shared} {...(name === 'db' && { className: whole })} />
  const hint = isStored ? 'Leave empty to keep the one that is stored.' : 'Sealed, and shown to nobody.'
  return <TextField {...shared} hint={hint} type="password" autoComplete="new-password" />
}
