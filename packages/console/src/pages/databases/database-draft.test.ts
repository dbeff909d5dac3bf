import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '@graticule/client'
import { drivers } from '../../../../server/src/data/databases/drivers.ts'
import { type ConnectionDraft, createOf, draftOf, inWay, missingOf, newDraft, patchOf } from './database-draft.ts'
import { type DriverForm, type FormValues, factsOf, summaryOf } from './driver-form.ts'

const forms: Readonly<Record<'postgres' | 'internal' | 'duckdb', DriverForm>> = drivers
const server = forms.postgres
const files = forms.duckdb

const stored = {
  id: 'd',
  type: 'postgres',
  name: 'Land',
  description: '',
  host: 'db.example.org',
  port: 5432,
  user: 'reader',
  db: 'land',
  passwordSet: true,
  default: false,
  metadata: { ssl: 'require' },
} as unknown as Database
const storedFiles = (rest: object) => ({ ...stored, type: 'duckdb', host: '', user: '', ...rest }) as Database

const filled = (draft: ConnectionDraft, values: FormValues, rest: Partial<ConnectionDraft> = {}): ConnectionDraft => ({
  ...draft,
  name: 'Land',
  values: { ...draft.values, ...values },
  ...rest,
})

test('a new connection is given by its parts or by one text, never by both', () => {
  const values = { host: 'h', user: 'u ', db: 'd', password: ' p ', 'metadata.ssl': 'require' }
  const parts = filled(newDraft(server), values, { name: ' Land ' })
  assert.deepEqual(createOf('postgres', server, parts), {
    type: 'postgres',
    name: 'Land',
    host: 'h',
    port: 5432,
    user: 'u',
    db: 'd',
    password: ' p ',
    metadata: { ssl: 'require' },
  })
  const text = filled(inWay(server, parts, 'string'), { connectionString: ' postgres://u@h/d ', 'metadata.ssl': '' })
  assert.deepEqual(createOf('postgres', server, text), {
    type: 'postgres',
    name: 'Land',
    connectionString: 'postgres://u@h/d',
  })
  assert.equal(inWay(server, text, 'parts').values.host, 'h', 'what was typed is kept')
  const internal = filled(newDraft(forms.internal), {})
  assert.deepEqual(createOf('internal', forms.internal, internal), { type: 'internal', name: 'Land' })
})

test('a change sends only what differs, and an empty password keeps the stored one', () => {
  const draft = draftOf(server, stored)
  assert.deepEqual(patchOf(server, draft, stored), {})
  const changed = filled(draft, { port: '5433', password: 'x' }, { name: 'Country' })
  assert.deepEqual(patchOf(server, changed, stored), { name: 'Country', port: 5433, password: 'x' })
  assert.deepEqual(patchOf(server, filled(draft, { 'metadata.ssl': '' }), stored), { metadata: { ssl: null } })
})

test('a field that another one hides is emptied with it', () => {
  const verified = { ...stored, metadata: { ssl: 'verify-full', sslCa: 'PEM' } } as Database
  const draft = draftOf(server, verified)
  assert.deepEqual(patchOf(server, draft, verified), {})
  assert.deepEqual(patchOf(server, filled(draft, { 'metadata.ssl': 'require' }), verified), {
    metadata: { ssl: 'require', sslCa: null },
  })
})

test('what is missing is said before anything is sent', () => {
  const draft = newDraft(server)
  assert.equal(missingOf(server, draft, null), 'Give it a name.')
  assert.equal(missingOf(server, { ...draft, name: 'a' }, null), 'Host, Database and User are required.')
  assert.equal(missingOf(server, { ...draft, name: 'a', way: 'string' }, null), 'Connection string is required.')
  const known = draftOf(server, stored)
  assert.equal(missingOf(server, filled(known, { port: 'x' }), stored), 'Port must be a whole number.')
  assert.equal(missingOf(server, known, stored), undefined)
})

test('a required secret that is stored need not be typed again', () => {
  const form = {
    fields: [{ name: 'password', label: 'Token', kind: 'password', required: true, secret: true } as const],
  }
  assert.equal(missingOf(form, draftOf(form, stored), stored), undefined)
  assert.equal(missingOf(form, draftOf(form, stored), { ...stored, passwordSet: false }), 'Token is required.')
})

test('a folder of files is sent as a folder and nothing else, whatever was typed for another way', () => {
  const typed = { host: 'left over', 'metadata.files': 'left.over', 'metadata.region': 'left-over', db: 's3://left/' }
  const draft = inWay(files, filled(newDraft(files), typed, { way: 's3' }), 'folder')
  assert.equal(missingOf(files, draft, null), 'Folder is required.')
  assert.deepEqual(createOf('duckdb', files, filled(draft, { db: ' data ' })), {
    type: 'duckdb',
    name: 'Land',
    db: 'data',
  })
  const folder = storedFiles({ db: 'data' })
  assert.deepEqual(patchOf(files, filled(draftOf(files, folder), { db: 'more' }), folder), { db: 'more' })
})

test('files behind a web address are named one per line', () => {
  const draft = filled(newDraft(files), { db: 'https://data.example.org/' }, { way: 'web' })
  assert.equal(missingOf(files, filled(draft, { db: '' }), null), 'Address and Files are required.')
  assert.equal(missingOf(files, draft, null), 'Files is required.')
  assert.deepEqual(createOf('duckdb', files, filled(draft, { 'metadata.files': 'a.parquet\n\n b c.csv ' })), {
    type: 'duckdb',
    name: 'Land',
    db: 'https://data.example.org/',
    metadata: { files: ['a.parquet', 'b c.csv'] },
  })
  const web = storedFiles({ db: draft.values.db, metadata: { files: ['a.parquet', 'b.csv'] } })
  const known = draftOf(files, web)
  assert.deepEqual([known.way, known.values['metadata.files']], ['web', 'a.parquet\nb.csv'])
  assert.deepEqual(patchOf(files, known, web), {})
  assert.deepEqual(patchOf(files, filled(known, { 'metadata.files': 'b.csv' }), web), {
    metadata: { files: ['b.csv'] },
  })
})

test('a bucket has a server, a region and a key, and its secret is sent only when it is typed', () => {
  const draft = filled(newDraft(files), { db: 's3://maps/' }, { way: 's3' })
  assert.equal(missingOf(files, filled(draft, { db: ' ' }), null), 'Bucket and prefix is required.')
  assert.deepEqual(createOf('duckdb', files, draft), { type: 'duckdb', name: 'Land', db: 's3://maps/' })
  const key = { host: 'https://minio.example.org', user: 'AKIA', password: 'secret' }
  const whole = filled(draft, { ...key, password: ' secret ', 'metadata.region': 'eu-central-1' })
  assert.deepEqual(createOf('duckdb', files, whole), {
    type: 'duckdb',
    name: 'Land',
    db: 's3://maps/',
    ...key,
    metadata: { region: 'eu-central-1' },
  })
  const bucket = storedFiles({ db: 's3://maps/', user: 'AKIA', metadata: { region: 'eu-central-1', pathStyle: true } })
  const known = draftOf(files, bucket)
  assert.equal(known.way, 's3')
  assert.deepEqual(patchOf(files, filled(known, { password: 'other', 'metadata.region': '' }), bucket), {
    password: 'other',
    metadata: { region: null },
  })
})

test('a record is told in the words of its form, and its secret never', () => {
  assert.equal(summaryOf(stored, { ...drivers.postgres, name: 'postgres' }), 'reader@db.example.org:5432/land')
  assert.deepEqual(factsOf(stored, server), [
    ['Host', 'db.example.org'],
    ['Port', '5432'],
    ['Database', 'land'],
    ['User', 'reader'],
    ['Password', 'Stored, not shown'],
    ['TLS', 'Encrypted, whatever the certificate'],
  ])
  assert.equal(summaryOf(storedFiles({ type: 'unknown', db: 'data' }), undefined), 'data')
})
