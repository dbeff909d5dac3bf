import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ApiError } from '../../errors.ts'
import { sql } from '../sql.ts'
import { openEmbedded } from './embedded.ts'

// One database is enough: it makes its own.

test('a database that closes takes those beside it along, also one that is just being opened', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'graticule-scratch-'))
  t.after(() => rm(parent, { recursive: true, force: true }))
  const db = await openEmbedded({ directory: join(parent, 'database'), onError: assert.fail })
  const first = await db.openBeside?.()
  assert.deepEqual(await first?.query(sql`SELECT 1 AS one`), [{ one: 1 }])
  assert.equal((await readdir(parent)).length, 2)
  const late = db.openBeside?.()
  await Promise.all([db.close(), late?.catch(() => undefined)])
  assert.deepEqual(await readdir(parent), ['database'])
  await first?.close()
  await assert.rejects(db.openBeside?.() ?? Promise.resolve(), (error) => (error as ApiError).code === 'unavailable')
})
