import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Db } from '../../kernel/db/db.ts'
import { createKeyCache } from './key-cache.ts'

// One database is enough: none is asked but a fake, because the time counts to the millisecond.

test('a key that was deleted elsewhere is trusted for half a second, which leaves as much to the promised second', async (t) => {
  let now = 1_000
  t.mock.method(performance, 'now', () => now)
  let rows = [{ type: 'app', expiresAt: null }]
  const db = { query: async () => rows } as unknown as Db
  const keys = createKeyCache(db, () => undefined)
  const id = randomUUID()
  assert.ok(await keys.find(id))
  rows = []
  now += 499
  assert.ok(await keys.find(id))
  now += 1
  assert.equal(await keys.find(id), undefined)
})
