import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHeldBack } from './held-back.ts'

// One database is enough: it needs none.

test('the time that a transaction holds the feed back is that of the oldest, and none when all have ended', () => {
  let time = 0
  const held = createHeldBack(() => time)
  const after = (ms: number, horizon: bigint, isHeld: boolean) => {
    time += ms
    held.note(horizon, isHeld)
    return held.seconds
  }
  assert.equal(held.seconds, 0)
  assert.equal(after(1_000, 5n, true), 0)
  assert.equal(after(2_000, 5n, true), 2)
  assert.equal(after(500, 7n, true), 0, 'the next one has just been seen')
  assert.equal(after(500, 7n, true), 0.5)
  assert.equal(after(1, 9n, false), 0)
  assert.equal(after(60_000, 9n, false), 0, 'a database in which nobody writes holds nothing back')
})
