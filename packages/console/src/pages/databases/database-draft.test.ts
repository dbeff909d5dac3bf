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

test('a database of files is a folder and nothing else', () => {
  const draft = { ...newDraft, type: 'duckdb' as const, name: 'Files', host: 'left over' }
  assert.equal(missingOf(draft), 'Name the folder.')
  assert.deepEqual(createOf({ ...draft, db: ' data ' }), { type: 'duckdb', name: 'Files', db: 'data' })
  const files = { ...stored, type: 'duckdb', db: 'data' } as Database
  assert.deepEqual(patchOf({ ...draftOf(files), db: 'more' }, files), { db: 'more' })
})
