import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '@graticule/client'
import { createOf, draftOf, missingOf, newDraft, patchOf } from './database-draft.ts'

const stored = {
  ...{ id: 'd', type: 'postgres', name: 'Land', description: '', host: 'db.example.org', port: 5432, user: 'reader' },
  ...{ db: 'land', passwordSet: true, default: false, metadata: { ssl: 'require' } },
} as unknown as Database

test('a new connection is given by its parts or by one text, never by both', () => {
  const parts = { ...newDraft, name: ' Land ', host: 'h', user: 'u', db: 'd', password: 'p', tls: 'require' as const }
  assert.deepEqual(createOf(parts), {
    ...{ type: 'postgres', name: 'Land', host: 'h', port: 5432, user: 'u', db: 'd', password: 'p' },
    metadata: { ssl: 'require' },
  })
  const text = { ...parts, way: 'string' as const, connectionString: ' postgres://u@h/d ', tls: '' as const }
  assert.deepEqual(createOf(text), { type: 'postgres', name: 'Land', connectionString: 'postgres://u@h/d' })
  assert.deepEqual(createOf({ ...parts, type: 'internal' }), { type: 'internal', name: 'Land' })
})

test('a change sends only what differs, and an empty password keeps the stored one', () => {
  const draft = draftOf(stored)
  assert.deepEqual(patchOf(draft, stored), {})
  assert.deepEqual(patchOf({ ...draft, name: 'Country', port: '5433', password: 'x' }, stored), {
    ...{ name: 'Country', port: 5433, password: 'x' },
  })
  assert.deepEqual(patchOf({ ...draft, tls: '' }, stored), { metadata: { ssl: null, sslCa: null } })
})

test('what is missing is said before anything is sent', () => {
  assert.equal(missingOf(newDraft), 'Give it a name.')
  assert.equal(missingOf({ ...newDraft, name: 'a' }), 'Host, user and database are required.')
  assert.equal(missingOf({ ...newDraft, name: 'a', way: 'string' }), 'Paste a connection string.')
  assert.equal(missingOf({ ...draftOf(stored), port: 'x' }), 'The port must be a number.')
  assert.equal(missingOf(draftOf(stored)), undefined)
})

const files = { ...newDraft, type: 'duckdb' as const, name: 'Files' }
const storedFiles = (rest: object) => ({ ...stored, type: 'duckdb', host: '', user: '', ...rest }) as Database

test('a folder of files is sent as a folder and nothing else, whatever was typed for another place', () => {
  const draft = { ...files, host: 'left over', files: 'left.over', region: 'left-over' }
  assert.equal(missingOf(draft), 'Name the folder.')
  assert.deepEqual(createOf({ ...draft, db: ' data ' }), { type: 'duckdb', name: 'Files', db: 'data' })
  const folder = storedFiles({ db: 'data' })
  assert.deepEqual(patchOf({ ...draftOf(folder), db: 'more' }, folder), { db: 'more' })
})

test('files behind a web address are named one per line', () => {
  const draft = { ...files, place: 'web' as const, db: 'https://data.example.org/' }
  assert.equal(missingOf({ ...draft, db: '' }), 'Give the address of the files.')
  assert.equal(missingOf(draft), 'Name the files.')
  assert.deepEqual(createOf({ ...draft, files: 'a.parquet\n\n b c.csv ' }), {
    ...{ type: 'duckdb', name: 'Files', db: 'https://data.example.org/' },
    metadata: { files: ['a.parquet', 'b c.csv'] },
  })
  const web = storedFiles({ db: draft.db, metadata: { files: ['a.parquet', 'b.csv'] } })
  assert.deepEqual([draftOf(web).place, draftOf(web).files], ['web', 'a.parquet\nb.csv'])
  assert.deepEqual(patchOf(draftOf(web), web), {})
  assert.deepEqual(patchOf({ ...draftOf(web), files: 'b.csv' }, web), { metadata: { files: ['b.csv'] } })
})

test('a bucket has a server, a region and a key, and its secret is sent only when it is typed', () => {
  const draft = { ...files, place: 's3' as const, db: 's3://maps/' }
  assert.equal(missingOf({ ...draft, db: ' ' }), 'Name the bucket.')
  assert.deepEqual(createOf(draft), { type: 'duckdb', name: 'Files', db: 's3://maps/' })
  const key = { host: 'https://minio.example.org', user: 'AKIA', password: 'secret', region: 'eu-central-1' }
  assert.deepEqual(createOf({ ...draft, ...key, files: 'a.csv' }), {
    ...{ type: 'duckdb', name: 'Files', db: 's3://maps/', host: key.host, user: key.user, password: key.password },
    metadata: { region: 'eu-central-1', files: ['a.csv'] },
  })
  const bucket = storedFiles({ db: draft.db, user: 'AKIA', metadata: { region: 'eu-central-1', pathStyle: true } })
  assert.equal(draftOf(bucket).place, 's3')
  assert.deepEqual(patchOf({ ...draftOf(bucket), password: 'other', region: '' }, bucket), {
    ...{ password: 'other', metadata: { region: null } },
  })
})
