import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { uploadApp } from '../../../../testing/uploads.ts'

// One database is enough: an upload to a read-only database is refused before a row is read.

test('an upload where the default database is a folder of files fails in words', async (t) => {
  const uploads = await uploadApp()
  t.after(uploads.close)
  await mkdir(join(uploads.directory, 'files', uploads.tenant.id, 'data'), { recursive: true })
  const made = await uploads.call('POST', '/api/v1/databases', {
    body: JSON.stringify({ type: 'duckdb', name: 'Files', db: 'data', default: true }),
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const done = await uploads.upload({ name: 'a.csv', bytes: 'a,lon,lat\n1,2,3\n' })
  assert.equal(done.status, 'failed')
  assert.match(done.error.message, /A database of type duckdb is only read. Upload into another database/)
})
