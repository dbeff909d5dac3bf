import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVersionRefresh } from './version-refresh.ts'

// One database is enough: it needs none.

test('a source is read at once for a new version, and ten times a second at most however many are made up', () => {
  let time = 1_000
  let versions = 0
  const firstNamed = createVersionRefresh(() => time)
  const turnOf = (id = 'a') => firstNamed(id, `${versions++}`).readAt
  assert.equal(turnOf(), 1_000)
  time = 1_030
  assert.deepEqual([turnOf(), turnOf(), turnOf('b')], [1_100, 1_100, 1_030])
  time = 1_099
  assert.equal(turnOf(), 1_100)
  time = 1_101
  assert.equal(turnOf(), 1_200)
  time = 5_000
  assert.equal(turnOf(), 5_000)
})

test('those who name the same version share its turn, so the tiles of a map wait for nothing but the first', () => {
  let time = 1_000
  const firstNamed = createVersionRefresh(() => time)
  const first = firstNamed('a', 'heard')
  time = 1_001
  assert.deepEqual([first, firstNamed('a', 'heard')], Array(2).fill({ at: 1_000, readAt: 1_000 }))
})
