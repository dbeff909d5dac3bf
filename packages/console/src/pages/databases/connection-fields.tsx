/** The connection fields of a PostgreSQL server. */
import type { Database } from '@graticule/client'
import type { ReactElement } from 'react'
import { Segmented, Select, TextArea, TextField } from '../../components/field.tsx'
import { layout } from '../../components/page.tsx'
import { type DatabaseDraft, tlsModes } from './database-draft.ts'
import classes from './databases.module.css'
import { tlsNames } from './tls-names.ts'

interface ConnectionFieldsProps {
  draft: DatabaseDraft
  stored: Database | null
  /** The server's error for a field of the request, such as `host`. */
  faultAt(path: string): string | undefined
  onChange(changes: Partial<DatabaseDraft>): void
}

const ways = [
  { value: 'parts', label: 'Host and user' },
  { value: 'string', label: 'Connection string' },
] as const

export function ConnectionFields(props: ConnectionFieldsProps): ReactElement {
  const { draft, faultAt, onChange } = props
  return (
    <>
      <div className={layout.row}>
        <Segmented label="How it is given" value={draft.way} options={ways} onChange={(way) => onChange({ way })} />
      </div>
      {draft.way === 'parts' ? (
        <Parts {...props} />
      ) : (
        <TextField
          label="Connection string"
          placeholder="postgres://user:password@host:5432/database?sslmode=require"
          hint="It is taken apart and not kept; the password is sealed."
          type="password"
          autoComplete="off"
          value={draft.connectionString}
          error={faultAt('connectionString') ?? faultAt('host') ?? faultAt('user') ?? faultAt('db')}
          onChange={(connectionString) => onChange({ connectionString })}
        />
      )}
      <Select
        label="TLS"
        value={draft.tls}
        error={faultAt('metadata/ssl')}
        options={tlsModes.map((value) => ({ value, label: tlsNames[value] ?? value }))}
        onChange={(tls) => onChange({ tls, ...(tls !== 'verify-full' && { authorities: '' }) })}
      />
      {draft.tls === 'verify-full' && (
        <TextArea
          label="Certificates to trust"
          placeholder="-----BEGIN CERTIFICATE-----"
          hint="PEM, for a certificate that no well-known authority has signed; without private keys"
          value={draft.authorities}
          error={faultAt('metadata/sslCa')}
          onChange={(authorities) => onChange({ authorities })}
        />
      )}
    </>
  )
}

function Parts({ draft, stored, faultAt, onChange }: ConnectionFieldsProps): ReactElement {
  const text = (name: 'host' | 'user' | 'db' | 'port' | 'password') => ({
    ...{ value: draft[name], error: faultAt(name), autoComplete: 'off', spellCheck: false },
    onChange: (value: string) => onChange({ [name]: value }),
  })
  return (
    <div className={classes.grid}>
      <TextField label="Host" placeholder="db.example.org" {...text('host')} />
      <TextField label="Port" inputMode="numeric" {...text('port')} />
      <TextField label="Database" {...text('db')} />
      <TextField label="User" {...text('user')} />
      <TextField
        label="Password"
        hint={stored?.passwordSet ? 'Leave empty to keep the one that is stored.' : 'Sealed, and shown to nobody.'}
        {...text('password')}
        type="password"
        autoComplete="new-password"
      />
    </div>
  )
}
