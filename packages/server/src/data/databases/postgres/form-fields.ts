/** The form of a PostgreSQL server: its parts, or one connection string, and TLS. */
import type { DriverDetails, FormField } from '../driver-details.ts'

const text = { kind: 'text', required: true, secret: false } as const

const tls: FormField = {
  name: 'metadata.ssl',
  label: 'TLS',
  kind: 'choice',
  required: false,
  secret: false,
  default: '',
  choices: [
    { value: '', label: 'By the address: verified for public ones, off for private ones' },
    { value: 'verify-full', label: 'Verified: the certificate must be trusted and for this host' },
    { value: 'require', label: 'Encrypted, whatever the certificate' },
    { value: 'disable', label: 'Off: only for private addresses' },
  ],
}

export const serverForm: Pick<DriverDetails, 'ways' | 'fields'> = {
  ways: {
    label: 'How it is given',
    choices: [
      { name: 'parts', label: 'Host and user' },
      { name: 'string', label: 'Connection string' },
    ],
  },
  fields: [
    { ...text, name: 'host', label: 'Host', placeholder: 'db.example.org', way: 'parts' },
    { ...text, name: 'port', label: 'Port', kind: 'integer', default: 5432, way: 'parts' },
    { ...text, name: 'db', label: 'Database', way: 'parts' },
    { ...text, name: 'user', label: 'User', way: 'parts' },
    {
      name: 'password',
      label: 'Password',
      kind: 'password',
      required: false,
      secret: true,
      way: 'parts',
      help: 'Sealed, and shown to nobody.',
    },
    {
      name: 'connectionString',
      label: 'Connection string',
      kind: 'url',
      required: true,
      secret: true,
      way: 'string',
      placeholder: 'postgres://user:password@host:5432/database?sslmode=require',
      help: 'It is taken apart and not kept; the password is sealed.',
    },
    tls,
    {
      name: 'metadata.sslCa',
      label: 'Certificates to trust',
      kind: 'block',
      required: false,
      secret: false,
      placeholder: '-----BEGIN CERTIFICATE-----',
      help: 'PEM, for a certificate that no well-known authority has signed; without private keys.',
      when: { field: 'metadata.ssl', pattern: '^verify-full$' },
    },
  ],
}
